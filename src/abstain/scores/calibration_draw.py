"""The draw of rows to fit scores on."""

import numpy as np

from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows


def draw_calibration(outputs: Outputs, /, *, seed: int) -> tuple[Outputs, Outputs]:
    """Five in-distribution rows a class, at most half, and the outputs without these samples.

    Copies of a drawn sample, such as corrupted ones, leave with it.
    """
    inside = np.flatnonzero((outputs.shift == "none") & outputs.usable)
    if len(inside) < 2:
        raise ValueError(f"`outputs` must have at least 2 in-distribution rows to fit a score on, got {len(inside)}.")
    size = min(5 * outputs.n_classes, len(inside) // 2)
    ids = np.arange(len(outputs)) if outputs.ids is None else outputs.ids
    rng = outputs.generator("rows to fit scores on", seed)
    drawn = inside[draw_rows(len(inside), ids[inside], size=size, rng=rng)]
    return outputs.select(drawn), outputs.select(~np.isin(ids, ids[drawn]))


def split_to_fit(outputs: Outputs, /, *, seed: int, share: float, shifted_too: bool = False) -> tuple[Outputs, Outputs]:
    """In-distribution rows to fit a score on, or ``shifted_too``, and rows that are still a sample of the law of all.

    Samples are drawn one by one, whatever they are, until there are five in-distribution rows a class, or a ``share``
    of all if more, or half of the samples are drawn. As when to stop depends on those drawn alone, what is left is as
    it was; taking in-distribution rows only would leave more of the others.
    """
    _, cluster = np.unique(np.arange(len(outputs)) if outputs.ids is None else outputs.ids, return_inverse=True)
    n = int(cluster.max()) + 1
    place = outputs.generator("rows to fit a score on", seed).permutation(n)[cluster]
    inside = (outputs.shift == "none") & outputs.usable
    found = np.cumsum(np.bincount(place, weights=inside, minlength=n))
    wanted = max(5 * outputs.n_classes, share * len(outputs))
    drawn = place <= min(int(np.searchsorted(found, wanted)), n // 2 - 1)
    if np.count_nonzero(drawn & inside) < 2:
        raise ValueError(
            f"`outputs` must have at least 2 in-distribution rows among those drawn to fit a score on, got "
            f"{np.count_nonzero(drawn & inside)}. Calibrate on more samples."
        )
    return outputs.select(drawn & (outputs.usable if shifted_too else inside)), outputs.select(~drawn)
