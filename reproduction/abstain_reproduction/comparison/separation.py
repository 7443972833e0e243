"""How well two scores separate right from wrong answers on samples without shift: App. C on real models."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import rankdata

from abstain.evaluation import Evaluation
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.mean import Mean

Floats = NDArray[np.float64]
SELECTION, DETECTOR = "confidence_margin", "vim"


def separates_less(evaluations: Sequence[Evaluation], /, *, data: str) -> ClaimVerdict | None:
    """Whether ViM has a lower AUROC of right against wrong than the confidence margin, over several fitting draws.

    None where ViM could not be fitted or no unshifted answer is wrong.
    """
    comparisons = [comparison for comparison in map(_auroc_difference, evaluations) if comparison is not None]
    if len(comparisons) < len(evaluations):
        return None
    areas, differences, errors, wrong = (np.array(comparison) for comparison in zip(*comparisons, strict=True))
    between = differences.var(ddof=1) / len(comparisons) if len(comparisons) > 1 else 0.0
    gap = Mean(float(differences.mean()), float(np.sqrt(np.square(errors).mean() + between)))
    half = float(stdtrit(max(wrong.min() - 1, 1), 0.975)) * gap.se  # few wrong answers are few samples
    held = True if gap.mean + half < 0 else False if gap.mean - half > 0 else None
    evidence = (
        f"AUROC of right against wrong: RL_conf-M {areas.mean(axis=0)[0]:.3f}, ViM {areas.mean(axis=0)[1]:.3f}, "
        f"difference {gap:+.3f} (paired, {len(comparisons)} fitting draws, {wrong.min():,} wrong answers)"
    )
    return ClaimVerdict.of("detector-separates-less", held, evidence, data)


def _auroc_difference(evaluation: Evaluation) -> tuple[tuple[float, float], float, float, int] | None:
    """The two AUROCs, the second less the first, its standard error, and how many answers were wrong."""
    plain = evaluation.outputs.shift == "none"
    wrong = evaluation.outputs.errors[plain] > 0
    if DETECTOR not in evaluation.confidence or wrong.sum() < 2 or (~wrong).sum() < 2:
        return None
    margin, detector = (_placements(evaluation.confidence[name][plain], wrong) for name in (SELECTION, DETECTOR))
    variance = sum(np.var(b - a, ddof=1) / len(a) for a, b in zip(margin, detector, strict=True))
    areas = float(margin[0].mean()), float(detector[0].mean())
    return areas, areas[1] - areas[0], float(np.sqrt(variance)), int(wrong.sum())


def _placements(confidence: Floats, wrong: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """For each right answer the share of wrong ones below it, and the other way round (DeLong et al., 1988)."""
    ranks = rankdata(confidence)
    right = ~wrong
    below = (ranks[right] - rankdata(confidence[right])) / wrong.sum()
    above = 1 - (ranks[wrong] - rankdata(confidence[wrong])) / right.sum()
    return below, above
