"""Scores by distance to the boundaries between the predicted class and all others: the pairwise margin and fDBD."""

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from array_api_compat import device

from abstain._arrays import Floats
from abstain._kernels.logit_geometry import boundary_distances as exact_distances
from abstain.outputs import Outputs
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.logit_formulas import of_logits
from abstain.scores.operations import Array, array_namespace, at_least, constant, is_constant, norms
from abstain.scores.samples import mean_feature
from abstain.scores.score import About, CannotFitError, FittedScore, PlainScore, Score


def boundary_distances(inputs: Inputs, inverse: Floats, /) -> tuple[Array, Array]:
    """Smallest and mean (n,) of (z_ŷ − z_j) · inverse[ŷ, j] over j with inverse above 0, masked classes apart."""
    rows, logits = inputs.sums(), inputs.logits
    if isinstance(logits, np.ndarray):
        return exact_distances(logits, rows.prediction, inverse)
    xp = array_namespace(logits)
    own = xp.take(xp.asarray(inverse, dtype=rows.top.dtype, device=device(logits)), rows.prediction, axis=0)
    counts = (own > 0) & (logits > -xp.inf)
    distances = xp.where(counts, (rows.top[:, None] - xp.where(counts, logits, 0.0)) * own, 0.0)
    number = xp.sum(xp.astype(counts, rows.top.dtype), axis=1)
    known = ~xp.isnan(rows.top)
    smallest = xp.min(xp.where(counts, distances, xp.inf), axis=1)
    mean = xp.where(number > 0, xp.sum(distances, axis=1) / xp.where(number > 0, number, 1.0), xp.inf)
    return xp.where(known, smallest, xp.nan), xp.where(known, mean, xp.nan)


def pairwise_margin(logits: Array, weight: Array, /) -> Array:
    r"""Distance to the nearest decision boundary, :math:`\min_{j\ne\hat y} (z_{\hat y} - z_j)/\|w_{\hat y} - w_j\|`.

    The robustness radius of a linear head, which does not depend on the scale of the head. Classes with the same weight
    as the prediction have no boundary with it and are left out.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    weight : array (K, d)
        That of the last layer.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> W, z = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]]), np.array([[4.5, 4.0, 2.25]])
    >>> pairwise_margin(z, W).round(6)
    array([0.204124])

    References
    ----------
    Crammer & Singer, 2001
    """
    return of_logits({"margin": PairwiseMargin().formula}, logits, Head(weight))["margin"]


@final
@dataclass(frozen=True)
class PairwiseMargin(PlainScore):
    """The pairwise margin as a score: see `pairwise_margin`."""

    about = About(
        name="pairwise_margin",
        symbol="RL_pair-M",
        family="margin",
        needs=("logits", "head"),
        reference="Crammer & Singer, 2001",
        summary="The distance to the nearest decision boundary of the last layer.",
    )
    uses_head = True

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Classes that all have the same weight have no boundary."""
        return "the same weight for every class" if is_constant(Head.of(outputs).rows) else None

    def formula(self, inputs: Inputs, /) -> Array:
        """The smallest of the distances."""
        return boundary_distances(inputs, inputs.head.inverse_distances)[0]


@final
@dataclass(frozen=True)
class FDBD(Score):
    r"""Mean of :math:`(z_{\hat y} - z_j)/\|w_{\hat y} - w_j\|` over j ≠ ŷ, over :math:`\|x - \mu\|`.

    μ is the mean feature of the fitting sample. Strong under larger shifts of convolutional networks.

    References
    ----------
    Liu & Qin, 2024
    """

    about = About(
        name="fdbd",
        symbol="fDBD",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "head", "fitting"),
        reference="Liu & Qin, 2024",
        summary="Mean distance to the decision boundaries over the distance from the mean feature.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedFDBD":
        """Take the mean feature and the distances between the rows of the head."""
        head = Head.of(sample)
        if is_constant(head.rows):
            raise CannotFitError("the head has the same weight for every class")
        return FittedFDBD(mean_feature(sample), head.inverse_distances)


@final
@dataclass(frozen=True, eq=False)
class FittedFDBD(FittedScore):
    """fDBD with its mean feature (d,) and the inverse distances (K, K) between the rows of the head."""

    mean: Annotated[Floats, "features"]
    inverse: Annotated[Floats, "classes", "classes"]

    def formula(self, inputs: Inputs, /) -> Array:
        """Mean boundary distance over the distance from the mean."""
        apart = norms(inputs.features - constant(self.mean, inputs.features)[None, :])
        return boundary_distances(inputs, self.inverse)[1] / at_least(apart, 1e-12)
