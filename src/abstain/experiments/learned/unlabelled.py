"""What unlabelled rows of deployment add to labelled in-distribution ones: a density ratio, by a domain classifier.

If every row that deployment adds is wrong, the chance that a row of deployment is right is π(1 − r(x))/w(x): r the risk
among in-distribution rows, w the density of deployment over that of calibration, π a constant. So the best confidence
is log(1 − r) − log w. Where added rows are right as often as others, the ratio only takes away rows that were fine.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from abstain.draws import generator
from abstain.evaluation.mixes import MIXES, mixes_of
from abstain.experiments.learned.cells import TEN, Cell, fitted_on, judged
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.held_out import fit_all, folds, held_out
from abstain.scores.logistic import fit_logistic
from abstain.scores.operations import softplus
from abstain.scores.quantile_map import QuantileMap
from abstain.scores.registry import LEARNED

Floats = NDArray[np.float64]
NAME = "learned, ratio"
RIDGE = 10.0
ROWS = 1000  # labelled in-distribution ones, and as many unlabelled ones


def log_ratio(inside: Outputs, unlabelled: Outputs, rows: Outputs, /) -> Floats:
    """Log of the density (n,) of unlabelled over in-distribution rows, by logistic regression on places of scores.

    The in-distribution rows are scored by fits without them, as the others are by nature.
    """
    scores = {score.name: score for score in (*LEARNED.base, *LEARNED.candidates) if score.objection(inside) is None}
    known = held_out(scores, {}, inside, folds(inside))
    fitted = {name: one for name, one in fit_all(scores, {}, inside).items() if name in known}
    there, new = confidences(unlabelled, fitted), confidences(rows, fitted)
    maps = {name: QuantileMap.of(np.concatenate([known[name], there[name]])) for name in fitted}
    first, second, third = (
        np.column_stack([maps[name](found[name]) for name in fitted]) for found in (known, there, new)
    )
    is_new = np.concatenate([np.zeros(len(first)), np.ones(len(second))])
    weights = fit_logistic(np.vstack([first, second]), is_new, ridge=RIDGE)
    found: Floats = weights[0] + third @ weights[1:] - np.log(len(second) / len(first))
    return found


def with_ratio(log_odds: Floats, ratio: Floats, /) -> Floats:
    """log(1 − r) − log w, rows that deployment has fewer of counted as familiar."""
    return np.asarray(-softplus(-log_odds) - np.maximum(ratio, 0.0))


def unlabelled_cells(model: str, outputs: Outputs, /, *, seed: int, rows: int = ROWS) -> Iterator[Cell]:
    """The ratio beside what the same labelled rows teach without it, and the paper's ten, in every mix with a shift."""
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
        found = confidences(rest, {name: one for name, one in fitted_on(labelled).items() if name in (*TEN, "learned")})
        found[NAME] = with_ratio(found["learned"], log_ratio(labelled, chosen.select(others), rest))
        yield from judged(model, rows, found, rest, MIXES["in"], mix)
