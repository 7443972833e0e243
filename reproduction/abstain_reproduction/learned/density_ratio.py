"""What unlabelled rows of deployment add to labelled in-distribution ones: a density ratio, by a domain classifier.

If every row that deployment adds is wrong, the chance that a row of deployment is right is π(1 − r(x))/w(x): r the risk
among in-distribution rows, w the density of deployment over that of calibration, π a constant. So the best confidence
is log(1 − r) − log w. Where added rows are right as often as others, the ratio only takes away rows that were fine.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.mixes import MIXES, mixes_of
from abstain.outputs import Outputs
from abstain.scores import LEARNED
from abstain.scores.confidences import confidences
from abstain.scores.held_out import fit_all, folds, held_out
from abstain.scores.logistic import fit_logistic
from abstain.scores.operations import softplus
from abstain.scores.quantile_map import QuantileMap
from abstain_reproduction.draws import generator
from abstain_reproduction.learned.cells import TEN, ScoreCell, fitted_scores, judged_cells

Floats = NDArray[np.float64]
NAME = "learned, ratio"
RIDGE = 10.0
ROWS = 1000  # labelled in-distribution ones, and as many unlabelled ones


def log_ratio(inside: Outputs, unlabelled: Outputs, rows: Outputs, /) -> Floats:
    """Log of the density (n,) of unlabelled over in-distribution rows, by logistic regression on quantiles of scores.

    In-distribution rows are scored by cross-fitting, since the other rows are not fitted on either.
    """
    scores = [score for score in (*LEARNED.base, *LEARNED.candidates) if score.objection(inside) is None]
    known = held_out(scores, (), inside, folds(inside))
    fitted = {name: score for name, score in fit_all(scores, (), inside).items() if name in known}
    there, new = confidences(unlabelled, fitted), confidences(rows, fitted)
    maps = {name: QuantileMap.of(np.concatenate([known[name], there[name]])) for name in fitted}
    first, second, third = (
        np.column_stack([maps[name](confidence[name]) for name in fitted]) for confidence in (known, there, new)
    )
    is_new = np.concatenate([np.zeros(len(first)), np.ones(len(second))])
    weights = fit_logistic(np.vstack([first, second]), is_new, ridge=RIDGE)
    log_density: Floats = weights[0] + third @ weights[1:] - np.log(len(second) / len(first))
    return log_density


def with_ratio(log_odds: Floats, ratio: Floats, /) -> Floats:
    """log(1 − r) − log w, where rows that are rarer in deployment count as familiar."""
    return np.asarray(-softplus(-log_odds) - np.maximum(ratio, 0.0))


def unlabelled_cells(model: str, outputs: Outputs, /, *, seed: int, rows: int = ROWS) -> Iterator[ScoreCell]:
    """The learned score with and without the ratio, and the paper's ten, in every mix with a shift."""
    for mix in mixes_of(outputs)[0][1:]:
        rng = generator("rows with and without labels", seed, [len(outputs)])
        chosen = outputs.select(mix.rows(outputs.shift) & outputs.usable)
        sample, count = chosen.samples
        part = rng.permutation(count)[sample]
        inside = np.flatnonzero((part < count / 3) & (chosen.shift == "none"))[:rows]
        others = rng.permutation(np.flatnonzero((part >= count / 3) & (part < 2 * count / 3)))[:rows]
        rest = chosen.select(part >= 2 * count / 3)
        labelled = chosen.select(inside)
        if min(len(inside), len(others)) < rows // 4 or not labelled.errors.any():
            continue
        confidence = confidences(
            rest, {name: score for name, score in fitted_scores(labelled).items() if name in (*TEN, "learned")}
        )
        confidence[NAME] = with_ratio(confidence["learned"], log_ratio(labelled, chosen.select(others), rest))
        yield from judged_cells(model, rows, confidence, rest, MIXES["in"], mix)
