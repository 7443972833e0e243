"""Choose among scores on rows that the threshold does not see, so that the choice costs the promise nothing."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import check_list
from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows
from abstain.scores.calibration_draw import split_to_fit
from abstain.scores.fitting import CannotFitError
from abstain.scores.given import given_score
from abstain.scores.registry import SCORES, check_score
from abstain.thresholds.sample import Sample

Objective = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]
CHOOSING = 0.2  # of the rows
FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)  # of the target risk
FIT_SHARE = 0.4  # of the rows to choose on, for scores that need fitting


def candidates(score: str | tuple[str, ...] | list[str] | None, outputs: Outputs, /) -> tuple[str, ...] | None:
    """The names to choose among, or None where there is nothing to choose."""
    if score == "best":
        found = tuple(name for name, entry in SCORES.items() if entry.objection(outputs) is None)
        return (*outputs.given_names, *found)
    if score is None or isinstance(score, str):
        return None
    check_list("score", score, "names")
    for name in score:
        check_score("score", name, rule="hold known scores", given=outputs.given_names)
        entry = given_score(name) if name in outputs.given_names else SCORES[name]
        if objection := entry.objection(outputs):
            raise ValueError(f"`outputs` must have what {name} needs, got {objection}.")
    if not score:
        raise ValueError("`score` must hold at least one name, got none.")
    return tuple(score)


def best_score(
    names: tuple[str, ...], outputs: Outputs, objective: Objective, /, *, seed: int
) -> tuple[str, Outputs, tuple[str, ...]]:
    """The best of the scores on a random fifth of the rows, the other rows, and all that were tried.

    Scores that need fitting are fitted on a part of that fifth; one that cannot be is left out.
    """
    if len(names) == 1:
        return names[0], outputs, ()
    rng = outputs.generator("rows to choose a score on", seed)
    here = draw_rows(len(outputs), outputs.ids, size=CHOOSING * len(outputs), rng=rng)
    choosing, rest = outputs.select(here), outputs.select(~here)
    fitting, judging = choosing, choosing
    if any(name in SCORES and SCORES[name].is_fitted for name in names):
        fitting, judging = split_to_fit(choosing, seed=seed, share=FIT_SHARE)
    found: dict[str, float] = {}
    for name in names:
        entry = given_score(name) if name in outputs.given_names else SCORES[name]
        try:
            confidence = entry.fit(fitting)(judging)
        except CannotFitError:
            continue
        found[name] = objective(np.nan_to_num(confidence, nan=-np.inf, posinf=np.inf, neginf=-np.inf), judging.errors)
    if not found:
        raise ValueError("`score` must name a score that can be fitted on these rows, got none. Give more rows.")
    return max(found, key=lambda name: found[name]), rest, tuple(found)


def wide_at(risk: float, /) -> Objective:
    """The share of rows with a risk up to the target, and up to some lower and higher, which is less left to chance."""

    def objective(confidence: NDArray[np.float64], errors: NDArray[np.bool_]) -> float:
        sample = Sample.of(confidence, errors.astype(np.float64))
        ends = sample.ends
        risks = sample.totals[ends - 1] / ends
        return float(np.mean([np.max(ends[risks <= factor * risk], initial=0) for factor in FACTORS]))

    return objective


def low_risk_at(coverage: float, /) -> Objective:
    """Minus the errors among the most trusted share."""

    def objective(confidence: NDArray[np.float64], errors: NDArray[np.bool_]) -> float:
        sample = Sample.of(confidence, errors.astype(np.float64))
        return -float(sample.totals[max(0, round(coverage * len(sample)) - 1)])

    return objective
