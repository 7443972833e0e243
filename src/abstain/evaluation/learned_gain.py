"""Whether a learned score would pay: all scores weighed on half of the rows, and judged on the other half."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.evaluation.mixes import Mix
from abstain.metrics import aurc, compare
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.rows import draw_rows
from abstain.scores.logistic import fit_logistic
from abstain.scores.quantile_map import QuantileMap

LARGEST, LEARNING = 6000, 1000  # rows, and those of them to learn on: more make it slow
FEWEST = 20  # right and wrong rows to learn from
RIDGE = 100.0  # towards the recommended score, whose own weight is hardly penalized
FREE = 0.3
LEAST_GAIN = 1e-4  # of AURC, which is printed × 100 with two digits


@dataclass(frozen=True, kw_only=True)
class Learning:
    """AURC-α of a combination of all scores, and of the score it is compared with, on rows it was not learned from."""

    learned: float
    alone: float
    learned_from: int
    n: int


def learning(
    confidence: Mapping[str, Floats], outputs: Outputs, /, *, score: str, mix: Mix, alpha: float, level: float
) -> Learning | None:
    """The combination, if it is better than the score alone, significantly and as printed; None with too few rows."""
    rows = _rows(outputs, mix)
    if not outputs.n_classes:
        confidence = {name: outputs.confidence(name) for name in outputs.confidence_names}
    if len(confidence) < 2 or score not in confidence or len(rows) < 2 * FEWEST:
        return None
    each = {name: values[rows] for name, values in confidence.items()}
    alone, ids, losses = each.pop(score), outputs.samples[0][rows], outputs.outcomes[rows]
    rng = outputs.generator("halves to learn and judge on", 0)  # not by confidences, whose last bits are the machine's
    here = draw_rows(len(rows), ids, size=min(len(rows) / 2, LEARNING), rng=rng)
    if min(losses[here].sum(), (1.0 - losses[here]).sum()) < FEWEST:
        return None
    combined, judged = _combined([alone, *each.values()], losses, here), losses[~here]
    comparison = compare(combined, rejected_last(alone[~here]), judged, alpha=alpha, ids=ids[~here], level=level)
    if comparison.high >= 0 or comparison.difference > -LEAST_GAIN:
        return None
    area = aurc(combined, judged, alpha=alpha)
    return Learning(learned=area, alone=area - comparison.difference, learned_from=int(here.sum()), n=len(judged))


def _rows(outputs: Outputs, mix: Mix) -> NDArray[np.int64]:
    """The usable rows of a mix, some drawn of many: of evenly spaced ones, all might be of one kind."""
    rows = np.flatnonzero(mix.rows(outputs.shift) & outputs.usable)
    if len(rows) <= LARGEST:
        return rows
    return np.sort(outputs.generator("rows to learn and judge on", 0).choice(rows, LARGEST, replace=False))


def _combined(confidence: list[Floats], losses: NDArray[Any], here: NDArray[np.bool_]) -> Floats:
    """Log-odds of being right on the other rows, the first score free and the others held back."""
    some = [values for values in confidence if np.isfinite(values[here]).any()]
    columns = np.column_stack([np.nan_to_num(QuantileMap.of(values[here])(values)) for values in some])
    ridge = np.where(np.arange(len(some)) == 0, FREE, RIDGE)
    weights = fit_logistic(columns[here], 1.0 - losses[here], ridge=ridge)
    combined: Floats = weights[0] + columns[~here] @ weights[1:]
    return combined
