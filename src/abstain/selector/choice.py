"""Choose among scores on rows that the threshold does not see, so that the choice costs the promise nothing."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from abstain.metrics import aurc
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import SHARE, FittingRows, split_to_fit
from abstain.scores.score import CannotFitError, FittedScore, Score
from abstain.thresholds.sample import Sample

Objective = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]


def best_score(
    candidates: list[Score], outputs: Outputs, objective: Objective, /, *, seed: int
) -> tuple[Score, FittingRows, Outputs, list[str]]:
    """The best of the scores on a random fifth of the rows, these, the other rows, and the names of all tried.

    Each half of that fifth judges the scores fitted on the other half; one that cannot be fitted is left out. The
    chosen one can then be fitted on the whole fifth.
    """
    drawn, rest = _drawn(candidates, outputs, seed)
    half = _half(drawn.drawn, seed)
    found = [_judged(candidates, _part(drawn, half), drawn.drawn.select(~half), objective)]
    found.append(_judged(candidates, _part(drawn, ~half), drawn.drawn.select(half), objective))
    both = {name: found[0][name] + found[1][name] for name in found[0] if name in found[1]}
    if not both:
        raise ValueError("`score` must name a score that can be fitted on these rows, got none. Give more rows.")
    best = max(both, key=lambda name: both[name])
    return next(score for score in candidates if score.name == best), drawn, rest, list(both)


def _drawn(candidates: list[Score], outputs: Outputs, seed: int) -> tuple[FittingRows, Outputs]:
    if any(score.needs_fitting for score in candidates):
        return split_to_fit(outputs, seed=seed)
    rng = outputs.generator("rows to choose a score on", seed)
    here = draw_rows(len(outputs), outputs.ids, size=SHARE * len(outputs), rng=rng)
    return FittingRows.all_alike(outputs.select(here)), outputs.select(~here)


def _half(rows: Outputs, seed: int) -> NDArray[np.bool_]:
    rng = rows.generator("halves to judge scores on", seed)
    return draw_rows(len(rows), rows.ids, size=len(rows) / 2, rng=rng)


def _part(rows: FittingRows, mask: NDArray[np.bool_]) -> FittingRows:
    part = rows.drawn.select(mask)
    return FittingRows(part.select((part.shift == "none") & part.usable), part)


def _judged(candidates: list[Score], fitting: FittingRows, rows: Outputs, objective: Objective) -> dict[str, float]:
    fitted: dict[str, FittedScore] = {}
    for score in candidates:
        with suppress(CannotFitError):
            fitted[score.name] = score.fit(fitting.of(score))
    found = confidences(rows, fitted) if fitted else {}
    return {name: objective(rejected_last(confidence), rows.errors) for name, confidence in found.items()}


def low_area(confidence: NDArray[np.float64], errors: NDArray[np.bool_], /) -> float:
    """Minus the AURC: of what was tried the least left to chance, whatever risk is asked for."""
    return -aurc(confidence, errors)


def low_risk_at(coverage: float, /) -> Objective:
    """Minus the errors among the most trusted share."""

    def objective(confidence: NDArray[np.float64], errors: NDArray[np.bool_]) -> float:
        sample = Sample.of(confidence, errors.astype(np.float64))
        return -float(sample.totals[max(0, round(coverage * len(sample)) - 1)])

    return objective
