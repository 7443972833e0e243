"""Where errors under shift and samples of unknown classes lie among the logits: two claims of §3.3 on real models."""

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores import confidence_margin, max_softmax, pairwise_margin
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.share_interval import ShareInterval

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]
COVERAGE = 0.8  # of Fig. 3
SMALL = 0.1
"""By how much the error rate may rise under a shift that is small."""


def shift_claims(outputs: Outputs, /, *, data: str) -> tuple[ClaimVerdict, ...]:
    """The verdicts that the rows allow."""
    verdicts = (errors_near_boundary(outputs, data=data), no_clear_winner(outputs, data=data))
    return tuple(verdict for verdict in verdicts if verdict is not None)


def errors_near_boundary(outputs: Outputs, /, *, data: str) -> ClaimVerdict | None:
    """Whether most errors of small shifts are nearer to a boundary than the nearest fifth of unshifted samples.

    The distance is that of the features to the closest boundary of the last layer, min_j (z_ŷ − z_j)/‖w_ŷ − w_j‖.
    None without a last layer, or where no small shift is seen to make an error, as without unshifted copies.
    """
    if outputs.weight is None:
        return None
    near = _below_fifth(pairwise_margin(outputs.logits, outputs.weight), outputs)
    made, domains = made_by_shift(outputs), _domains(outputs)
    is_small = np.isin(domains, small_shifts(outputs))
    small, large = made & is_small, made & ~is_small
    if not small.any():
        return None
    share, names = _share(near, small, outputs), ", ".join(np.unique(domains[small]))
    beside = f"; of {large.sum():,} that larger shifts made, {_share(near, large, outputs):.1%}" if large.any() else ""
    evidence = (
        f"of {small.sum():,} errors that small shifts made ({names}), {share:.1%} are nearer to a boundary "
        f"than the nearest fifth of unshifted samples{beside}"
    )
    return ClaimVerdict.of("errors-near-boundary", share.is_most, evidence, data)


def no_clear_winner(outputs: Outputs, /, *, data: str) -> ClaimVerdict | None:
    """Whether most samples of unknown classes have a smaller margin than four fifths of unshifted ones."""
    unknown = outputs.shift == "label"
    if not unknown.any():
        return None
    share = _share(_below_fifth(confidence_margin(outputs.logits), outputs), unknown, outputs)
    odds = np.asarray(max_softmax(outputs.logits))  # of the largest probability, as a logarithm
    evidence = (
        f"of {unknown.sum():,} samples of unknown classes {share:.1%} have a smaller margin than four fifths of "
        f"unshifted samples; in {_share(odds < 0, unknown, outputs):.1%} the first class has less than half of the "
        "probability"
    )
    return ClaimVerdict.of("unknown-no-winner", share.is_most, evidence, data)


def small_shifts(outputs: Outputs, /) -> list[str]:
    """The covariate shifts that add at most 10 points to the error rate."""
    before = outputs.errors[outputs.shift == "none"].mean()
    shifted = outputs.shift == "covariate"
    domains = _domains(outputs)
    names = np.unique(domains[shifted])
    return [str(name) for name in names if outputs.errors[shifted & (domains == name)].mean() <= before + SMALL]


def made_by_shift(outputs: Outputs, /) -> Rows:
    """Errors on shifted samples whose unshifted copy is right: those that the shift made, and nothing else."""
    if outputs.ids is None:
        return np.zeros(len(outputs), dtype=bool)
    right = outputs.ids[(outputs.shift == "none") & (outputs.errors == 0)]
    return (outputs.shift == "covariate") & (outputs.errors > 0) & np.isin(outputs.ids, right)


def _domains(outputs: Outputs) -> NDArray[np.str_]:
    """The name of each row's shift; where rows have none, its kind."""
    return outputs.shift if outputs.domain is None else outputs.domain


def _below_fifth(confidence: Floats, outputs: Outputs) -> Rows:
    """Rows that a threshold of coverage 0.8 on unshifted samples rejects."""
    values = np.asarray(confidence)
    return values <= np.quantile(values[outputs.shift == "none"], 1 - COVERAGE)


def _share(inside: Rows, among: Rows, outputs: Outputs) -> ShareInterval:
    return ShareInterval.of(inside[among], None if outputs.ids is None else outputs.ids[among])
