"""Coverage of a score at a certified risk, where fitting rows are taken from the rows that certify."""

from dataclasses import dataclass

import numpy as np

from abstain.evaluation.mixes import Mix
from abstain.evaluation.verdict import BASELINE
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.scores.fitting_draw import FittingRows, split_to_fit
from abstain.scores.registry import SCORES
from abstain.scores.score import CannotFitError, Score
from abstain.thresholds.sample import Sample
from abstain.thresholds.step_down import SafeRanks
from abstain.thresholds.target_risk import target_risk
from abstain_reproduction.learned.cells import labelled_and_fresh

RISK, DELTA, ROWS = 0.05, 0.1, 2000


@dataclass(frozen=True)
class CertifiedCoverage:
    """Shares of fresh rows that are accepted at the same certified risk."""

    model: str
    mix: str
    learned: float
    risk: float
    """Of the learned score, of the fresh rows that it accepts."""
    best: str
    """The single score that accepts most of the fresh rows."""
    alone: float
    share: float
    """Of `max_softmax`."""


def certified_coverage(
    model: str, outputs: Outputs, mix: Mix, /, *, seed: int, rows: int = ROWS
) -> CertifiedCoverage | None:
    """The learned score and every other, certified on the same rows in all; None where there are too few."""
    if (parts := labelled_and_fresh(outputs, mix, rows, seed=seed)) is None:
        return None
    labelled, fresh = parts
    shares = {name: _accepted(score, labelled, fresh, seed) for name, score in SCORES.items()}
    wide = {name: float(accepted.mean()) for name, accepted in shares.items() if accepted is not None}
    learned = shares["learned"]
    if learned is None:
        return None
    alone = {name: share for name, share in wide.items() if name != "learned"}
    best = max(alone, key=lambda name: alone[name])
    risk = float(fresh.errors[learned].mean()) if learned.any() else 0.0
    return CertifiedCoverage(model, mix.name, wide["learned"], risk, best, alone[best], wide[BASELINE])


def _accepted(
    score: Score, labelled: Outputs, fresh: Outputs, seed: int
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]] | None":
    """Which of the fresh rows a score accepts, fitted as `calibrate` does; None where it cannot be."""
    if score.objection(labelled) is not None:
        return None
    fitting, rest = FittingRows.all_alike(labelled), labelled
    if score.needs_fitting:
        fitting, rest = split_to_fit(labelled, seed=seed, share=score.fitting_share)
    try:
        fitted = score.fit(fitting.of(score))
    except CannotFitError:
        return None
    confidence, errors = rejected_last(fitted(rest)), rest.errors
    if not SafeRanks.of(Sample.of(confidence, errors.astype(np.float64)), RISK, DELTA).largest:
        return np.zeros(len(fresh), dtype=bool)
    return (
        rejected_last(fitted(fresh))
        > target_risk(confidence, errors, risk=RISK, delta=DELTA, ids=None, seed=seed).value
    )
