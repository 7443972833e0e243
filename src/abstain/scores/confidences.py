"""Many scores of the same outputs, with one pass over the logits for all that are formulas in them."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.score import Confidence, LogitScore, output_rows


def confidences(outputs: Outputs, fitted: Mapping[str, Confidence], /) -> dict[str, NDArray[np.float64]]:
    """Confidence (n,) by the name of the fitted score.

    Rows that are not usable get NaN, which is never accepted.
    """
    usable = outputs if outputs.usable.all() else outputs.select(outputs.usable)
    formulas = {name: score for name, score in fitted.items() if isinstance(score, LogitScore)}
    values: dict[str, NDArray[np.float64]] = {}
    if formulas:
        rows = output_rows(usable, with_head=any("head" in score.needs for score in formulas.values()))
        values = {name: score.formula(rows) for name, score in formulas.items()}
    found = {}
    for name, score in fitted.items():
        found[name] = np.full(len(outputs), np.nan)
        found[name][outputs.usable] = values[name] if name in values else score(usable)
    return found
