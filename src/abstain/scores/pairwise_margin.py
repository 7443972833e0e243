"""Pairwise margin: the distance in feature space to the nearest decision boundary."""

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from abstain.kernels.pairwise import boundary_distances
from abstain.outputs import Outputs
from abstain.scores.norms import as_numpy, checked_weight
from abstain.scores.rows import Array, as_logits, logit_rows


def pairwise_margin(logits: Array, weight: Array, /) -> Array:
    r"""Distance to the nearest decision boundary, :math:`\min_{j\ne\hat y} (z_{\hat y} - z_j)/\|w_{\hat y} - w_j\|`.

    It is what the robustness radius of a linear head means, and does not depend on the scale of the head. Classes with
    the same weight as the prediction have no boundary with it and are passed over. (Crammer & Singer, 2001)

    >>> W, z = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]]), np.array([[4.5, 4.0, 2.25]])
    >>> pairwise_margin(z, W).round(6)
    array([0.204124])
    """
    logits = as_logits(logits)
    inverse = inverse_distances(weight)
    if isinstance(logits, np.ndarray):
        return boundary_distances(logits, logit_rows(logits).prediction, inverse)[0]
    return nearest_boundary(logits, inverse)


def nearest_boundary(logits: Array, inverse: NDArray[np.float64], /) -> Array:
    """The pairwise margin on arrays of any library, from the inverse distances of the weights."""
    rows = logit_rows(logits)
    xp = array_namespace(logits)
    own = xp.take(xp.asarray(inverse, dtype=rows.top.dtype, device=device(logits)), rows.prediction, axis=0)
    distance = xp.where(own > 0, (rows.top[:, None] - logits) * own, xp.inf)
    return xp.where(xp.isnan(rows.top), xp.nan, xp.min(distance, axis=1))


def flaw(outputs: Outputs, /) -> str | None:
    """Classes that all have the same weight have no boundary."""
    return "the same weight for every class" if _is_constant(as_numpy(outputs.weight)) else None


def _is_constant(weight: NDArray[np.float64]) -> bool:
    return bool((weight == weight[0]).all())


def inverse_distances(weight: Array, /) -> NDArray[np.float64]:
    """1/‖w_i − w_j‖ (K, K), 0 where the rows are the same."""
    from scipy.spatial.distance import cdist

    w = checked_weight(weight)
    if _is_constant(w):
        raise ValueError("`weight` must have rows that differ, got the same weight for every class.")
    distances = cdist(w, w)
    return np.divide(1.0, distances, out=np.zeros_like(distances), where=distances > 0)
