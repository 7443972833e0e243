"""Many scores of the same outputs, with one pass over the logits for all that are formulas in them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.score import LogitScore, Score, output_rows


def confidences(
    outputs: Outputs, scores: Iterable[Score], /, *, calibration: Outputs | None = None
) -> dict[str, NDArray[np.float64]]:
    """Confidence (n,) by the name of the score; fitted scores are fitted on ``calibration``.

    Rows that are not usable get NaN, which is never accepted.
    """
    scores = list(scores)
    usable = outputs if outputs.usable.all() else outputs.select(outputs.usable)
    rows = None
    found = {}
    for score in scores:
        if isinstance(score, LogitScore):
            if rows is None:
                rows = output_rows(
                    usable, with_head=any("head" in s.needs for s in scores if isinstance(s, LogitScore))
                )
            confidence = score.formula(rows)
        else:
            if calibration is None:
                raise ValueError(f"`calibration` must be given to fit {score.name}, got none.")
            confidence = score.fit(calibration)(usable)
        found[score.name] = np.full(len(outputs), np.nan)
        found[score.name][outputs.usable] = confidence
    return found
