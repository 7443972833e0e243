"""Scores that compare a sample with what is typical of a class: CTM, SHE and KL-matching."""

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array, array_namespace, constant, double, normalized, products
from abstain.scores.samples import class_means, features_of, labelled_features
from abstain.scores.score import About, CannotFitError, FittedScore, Score

SMALLEST = -745.0  # the log of the smallest number above zero


@final
@dataclass(frozen=True)
class CTM(Score):
    r"""Class-typical matching, :math:`\max_c \cos(x, \mu_c)`, with the class means of the fitting sample.

    Classes that are not in it are left out, and a row of zeros has a cosine of 0.

    References
    ----------
    Ngoc-Hieu et al., 2023
    """

    about = About(
        name="ctm",
        symbol="CTM",
        family="feature",
        for_ood=True,
        needs=("features", "fitting", "labels"),
        reference="Ngoc-Hieu et al., 2023",
        summary="The largest cosine between the features and the mean of a class.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedCTM":
        """Take the direction of each class mean."""
        x, labels = labelled_features(sample)
        means, _ = class_means(x.astype(np.float64), labels)
        return FittedCTM(normalized(means, np.dtype(np.float64 if x.dtype.itemsize > 4 else np.float32)))


@final
@dataclass(frozen=True, eq=False)
class FittedCTM(FittedScore):
    """CTM with the directions (c, d) of its class means, rounded as the features were."""

    means: Annotated[NDArray[Any], None, "features"]

    def formula(self, inputs: Inputs, /) -> Array:
        """The largest cosine."""
        cosines = products(inputs.units("features", self.means), np.ascontiguousarray(self.means.T, dtype=np.float64))
        return array_namespace(cosines).max(cosines, axis=1)


@final
@dataclass(frozen=True)
class SHE(Score):
    r"""Simplified Hopfield energy, :math:`\langle x, s_{\hat y} \rangle`, s the mean of the class's correct samples.

    A class without a correct sample in the fitting sample has the mean of all correct ones.

    References
    ----------
    Zhang et al., 2023
    """

    about = About(
        name="she",
        symbol="SHE",
        family="feature",
        for_ood=True,
        needs=("logits", "features", "fitting", "labels"),
        reference="Zhang et al., 2023",
        summary="How much the features are like those of correct samples of the predicted class.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedSHE":
        """Take the mean feature by class."""
        right = ~sample.errors
        if not right.any():
            raise CannotFitError(f"the fitting sample of {len(sample)} rows has no correct prediction")
        x, y = features_of(sample)[right].astype(np.float64), sample.predictions[right]
        sums = np.zeros((sample.n_classes, x.shape[1]))
        np.add.at(sums, y, x)
        count = np.bincount(y, minlength=sample.n_classes)[:, None]
        return FittedSHE(np.where(count > 0, sums / np.maximum(count, 1), x.mean(axis=0)[None, :]))


@final
@dataclass(frozen=True, eq=False)
class FittedSHE(FittedScore):
    """SHE with the mean features (K, d)."""

    means: Annotated[Floats, "classes", "features"]

    def formula(self, inputs: Inputs, /) -> Array:
        """The product with the mean of the predicted class."""
        x = double(inputs.features)
        xp = array_namespace(x)
        return xp.sum(x * xp.take(constant(self.means, x), inputs.predictions, axis=0), axis=1)


@final
@dataclass(frozen=True)
class KLMatching(Score):
    r"""Minus the divergence from the nearest class, :math:`-\min_k KL(p \,\|\, d_k)`.

    d_k is the mean of the probabilities of the fitting samples that are predicted as k; classes that none is predicted
    as are left out. No labels are needed.

    References
    ----------
    Hendrycks et al., 2022
    """

    about = About(
        name="kl_matching",
        symbol="KL-Matching",
        family="softmax",
        for_ood=True,
        needs=("logits", "fitting"),
        reference="Hendrycks et al., 2022",
        summary="How far the probabilities are from what is typical of the nearest class.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedKLMatching":
        """Take the mean probabilities by predicted class."""
        logs, predicted = _log_probabilities(Inputs(sample.logits)), sample.predictions
        means = [np.logaddexp.reduce(logs[predicted == k], axis=0) for k in np.unique(predicted)]
        counts = np.unique(predicted, return_counts=True)[1]
        return FittedKLMatching(np.maximum(np.array(means) - np.log(counts)[:, None], SMALLEST))


@final
@dataclass(frozen=True, eq=False)
class FittedKLMatching(FittedScore):
    """KL-matching with the log of the mean probabilities (c, K)."""

    logs: Annotated[Floats, None, "classes"]

    def formula(self, inputs: Inputs, /) -> Array:
        """Minus the divergence from the class whose mean of log d_k is largest."""
        logs = _log_probabilities(inputs)
        xp = array_namespace(logs)
        probabilities = xp.exp(logs)
        nearest = xp.argmax(products(probabilities, np.ascontiguousarray(self.logs.T)), axis=1)
        means = xp.take(constant(self.logs, logs), nearest, axis=0)
        excess = xp.where(probabilities > 0, logs, means) - means
        return -xp.sum(_divergence(excess, probabilities, xp.exp(means)), axis=1)


def _divergence(excess: Array, p: Array, d: Array) -> Array:
    """P ln(p/d) − p + d for ``excess`` ln(p/d): never below 0, and 0 on the whole only where p is d.

    Their sum is the divergence, since p and d sum to 1 each, and has no terms that cancel.
    """
    xp = array_namespace(excess)
    near = xp.where(abs(excess) < 0.25, excess, 0.0)
    series = xp.zeros_like(near)
    for k in range(14, 1, -1):  # e^−x − 1 + x = x²/2! − x³/3! + …
        series = (1 - near * series) / k
    return xp.where(abs(excess) < 0.25, p * near * (near * series), d - p + p * excess)


def _log_probabilities(inputs: Inputs) -> Array:
    rows = inputs.sums()
    return double(inputs.logits) - (rows.top + rows.log_total)[:, None]
