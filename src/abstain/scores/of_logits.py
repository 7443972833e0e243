"""Formulas of the logits alone, block by block."""

from collections.abc import Callable, Mapping

import numpy as np

from abstain.kernels.blocks import for_each_block
from abstain.scores.host import host_view
from abstain.scores.inputs import Head, Inputs
from abstain.scores.rows import Array, as_logits, refuse


def of_logits(
    formulas: Mapping[str, Callable[[Inputs], Array]], logits: Array, head: Head | None = None, /
) -> dict[str, Array]:
    """Confidence (n,) by the name of the formula.

    NumPy arrays, and those of other libraries on the CPU of which no gradient is asked, are worked in float64, in
    threads and in blocks that stay in cache while all formulas look at them; others by their own operations. What comes
    out is float64 for NumPy and of the logits' own type, at least float32, for other libraries. An unusable row, with
    NaN, +inf or nothing above −inf, is refused in a NumPy array and NaN in others, which are not inspected, since that
    would wait for their device.
    """
    logits = as_logits(logits)
    if (host := host_view(logits)) is None:
        inputs = Inputs(logits, head=head)
        return {name: formula(inputs) for name, formula in formulas.items()}
    view, give = host
    found = {name: np.empty(len(view)) for name in formulas}
    bad = np.empty(len(view), dtype=bool)

    def work(block: slice) -> None:
        inputs = Inputs(view[block], head=head)
        with np.errstate(invalid="ignore"):  # in rows that are not usable
            for name, formula in formulas.items():
                found[name][block] = formula(inputs)
        bad[block] = inputs.predictions < 0
        if bad[block].any():
            for confidence in found.values():
                confidence[block][bad[block]] = np.nan

    for_each_block(work, *view.shape)
    if view is logits:
        refuse(bad)
    return {name: give(confidence) for name, confidence in found.items()}
