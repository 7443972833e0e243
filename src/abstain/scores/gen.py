"""GEN: a generalized entropy of the largest probabilities."""

import numpy as np
from array_api_compat import array_namespace

from abstain.kernels.blocks import row_blocks
from abstain.scores.rows import Array, as_logits, logit_rows


def gen(logits: Array, /, *, gamma: float = 0.1, top: int = 100) -> Array:
    r"""Generalized entropy, :math:`-\sum_{j \le M} p_{(j)}^\gamma (1 - p_{(j)})^\gamma` over the M largest.

    A small γ makes it sensitive to the small probabilities, which helps against mistakes and unknown classes alike.
    (Liu et al., 2023)

    >>> gen(np.array([[2.0, 1.0, 0.1, -1.0]]), top=3).round(6)
    array([-2.488653])
    """
    if not gamma > 0 or top < 1:
        raise ValueError(f"`gamma` must be above 0 and `top` at least 1, got {gamma} and {top}.")
    logits = as_logits(logits)
    if isinstance(logits, np.ndarray):
        blocks = row_blocks(*logits.shape)
        return np.concatenate([_gen(logits[block], gamma, top) for block in blocks])
    return _gen(logits, gamma, top)


def _gen(logits: Array, gamma: float, top: int) -> Array:
    rows = logit_rows(logits)
    xp = array_namespace(rows.top)
    z = xp.astype(logits, rows.top.dtype)
    others = xp.sort(z, axis=1, descending=True)[:, 1 : min(top, z.shape[1])]
    log_total = xp.log1p(xp.exp(rows.tail))  # of the probability of the top class, with the sign changed
    log_p = others - rows.top[:, None] - log_total[:, None]
    rest = xp.sum(xp.exp(gamma * (log_p + xp.log1p(-xp.exp(log_p)))), axis=1)
    return -(xp.exp(gamma * (rows.tail - 2 * log_total)) + rest)
