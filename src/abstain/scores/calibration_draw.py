"""The draw of rows to fit scores on."""

import numpy as np

from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows


def draw_calibration(outputs: Outputs, /, *, seed: int, share: float = 0.0) -> tuple[Outputs, Outputs]:
    """Five in-distribution rows a class, or a ``share`` of them if more, at most half, and the outputs without these.

    Copies of a drawn sample, such as corrupted ones, leave with it.
    """
    inside = np.flatnonzero((outputs.shift == "none") & outputs.usable)
    if len(inside) < 2:
        raise ValueError(f"`outputs` must have at least 2 in-distribution rows to fit a score on, got {len(inside)}.")
    size = min(max(5 * outputs.n_classes, int(share * len(inside))), len(inside) // 2)
    ids = np.arange(len(outputs)) if outputs.ids is None else outputs.ids
    drawn = inside[draw_rows(len(inside), ids[inside], size=size, seed=seed)]
    return outputs.select(drawn), outputs.select(~np.isin(ids, ids[drawn]))
