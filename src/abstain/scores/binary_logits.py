"""Two-class logits from a single sigmoid output."""

import numpy as np
from array_api_compat import is_array_api_obj

from abstain.scores.namespace import array_namespace
from abstain.scores.rows import Array


def binary_logits(logit: Array, /) -> Array:
    """The logits [0, z] whose softmax is the sigmoid of z: shape (n,) or (n, 1) in, (n, 2) out.

    >>> binary_logits(np.array([1.5, -0.5]))
    array([[ 0. ,  1.5],
           [ 0. , -0.5]])
    """
    if not is_array_api_obj(logit):
        logit = np.asarray(logit)
    if logit.ndim not in (1, 2) or (logit.ndim == 2 and logit.shape[1] != 1):
        raise ValueError(f"`logit` must have shape (n,) or (n, 1), got {tuple(logit.shape)}.")
    xp = array_namespace(logit)
    logit = xp.reshape(logit, (-1,))
    return xp.stack([xp.zeros_like(logit), logit], axis=1)
