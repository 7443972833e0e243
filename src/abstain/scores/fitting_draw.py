"""The draw of rows to fit scores on, one rule for `evaluate` and `calibrate`."""

import numpy as np

from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows

SHARE, PER_CLASS = 0.2, 5


def draw_per_class(outputs: Outputs, /, *, seed: int) -> tuple[Outputs, Outputs]:
    """Five in-distribution rows per class, as in the paper, at most half, and the outputs without these samples.

    Copies of a drawn sample, such as corrupted ones, leave with it.
    """
    inside = np.flatnonzero((outputs.shift == "none") & outputs.usable)
    if len(inside) < 2:
        raise ValueError(f"`outputs` must have at least 2 in-distribution rows to fit a score on, got {len(inside)}.")
    size = min(PER_CLASS * outputs.n_classes, len(inside) // 2)
    ids = np.arange(len(outputs)) if outputs.ids is None else outputs.ids
    rng = outputs.generator("rows to fit scores on", seed)
    drawn = inside[draw_rows(len(inside), ids[inside], size=size, rng=rng)]
    return outputs.select(drawn), outputs.select(~np.isin(ids, ids[drawn]))


def split_to_fit(
    outputs: Outputs, /, *, seed: int, share: float = SHARE, shifted_too: bool = False
) -> tuple[Outputs, Outputs]:
    """In-distribution rows to fit scores on, or ``shifted_too``, and rows that are still a sample of what all were.

    Samples are drawn one by one, whatever they are, until they are a ``share`` of all and five rows per class of them
    are in-distribution, or half of the samples are drawn. As when to stop depends on those drawn alone, what is left
    is as it was; taking in-distribution rows only would leave more of the others.
    """
    _, cluster = np.unique(np.arange(len(outputs)) if outputs.ids is None else outputs.ids, return_inverse=True)
    n = int(cluster.max()) + 1
    place = outputs.generator("rows to fit a score on", seed).permutation(n)[cluster]
    inside = (outputs.shift == "none") & outputs.usable
    found = np.cumsum(np.bincount(place, weights=inside, minlength=n))
    enough = max(int(np.searchsorted(found, PER_CLASS * outputs.n_classes)), round(share * n) - 1)
    drawn = place <= min(enough, n // 2 - 1)
    if np.count_nonzero(drawn & inside) < 2:
        raise ValueError(
            f"`outputs` must have at least 2 in-distribution rows among those drawn to fit a score on, got "
            f"{np.count_nonzero(drawn & inside)}. Calibrate on more samples."
        )
    return outputs.select(drawn & (outputs.usable if shifted_too else inside)), outputs.select(~drawn)
