"""The multiclass SVM of Crammer and Singer on scikit-learn's tables, and what its two decision rules say.

As in App. A a one is appended to the features, so that a weight w_j and its norm have the bias in them.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from abstain._cached_property import cached_property
from abstain._extras import require
from abstain.metrics import aurc
from abstain.outputs import Outputs
from abstain.scores import confidence_margin, geometric_margin, max_softmax, pairwise_margin
from abstain_reproduction.splits import parts

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
FEATURE = "The SVM experiment"
TABLES = ("digits", "wine", "iris")
"""scikit-learn's own tables with more than two classes."""
SHARE = 0.5  # of the rows, to learn from
C = 1.0


@dataclass(frozen=True, eq=False)
class Machine:
    """A machine that was fitted, and rows it did not see."""

    outputs: Outputs

    @property
    def distances(self) -> Floats:
        """Signed distances d_j = w_j·x / ‖w_j‖ to the hyperplanes (n, K), the one of x and the bias of w_j included."""
        return np.asarray(self.outputs.logits) / np.linalg.norm(self.weight, axis=1)

    @property
    def weight(self) -> Floats:
        """The weights w_j (K, d + 1), the bias last."""
        return np.asarray(self.outputs.weight)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The true classes."""
        return np.asarray(self.outputs.labels)

    @cached_property
    def confidences(self) -> dict[str, Floats]:
        """Scores of the usual rule's predictions."""
        z, w = self.outputs.logits, self.weight
        return {
            "confidence_margin": confidence_margin(z),
            "geometric_margin": geometric_margin(z, w),
            "eq. 11": geometric_margin(z, w, form="top_two"),
            "pairwise_margin": pairwise_margin(z, w[:, :-1]),  # in the space of the features
            "max_softmax": max_softmax(z),
        }

    @property
    def areas(self) -> dict[str, float]:
        """AURC of each score, and of the geometric rule by its own margin."""
        areas = {name: aurc(confidence, self.outputs.errors) for name, confidence in self.confidences.items()}
        return areas | {"geometric rule": aurc(confidence_margin(self.distances), self.geometric_errors)}

    @property
    def geometric_errors(self) -> NDArray[np.bool_]:
        """Where the class of the largest distance is not the true one."""
        return self.distances.argmax(axis=1) != self.labels

    @property
    def errors_without_bias(self) -> NDArray[np.bool_]:
        """Where the class of the largest z_j / ‖w_j‖ is not the true one if the norms are those of w_j without bias."""
        distances = np.asarray(self.outputs.logits) / np.linalg.norm(self.weight[:, :-1], axis=1)
        return np.asarray(distances.argmax(axis=1) != self.labels)

    @property
    def disagreement(self) -> float:
        """How often the two rules predict different classes."""
        return float((self.distances.argmax(axis=1) != np.asarray(self.outputs.logits).argmax(axis=1)).mean())

    @property
    def reordered(self) -> float:
        """How often logits and distances order the classes differently."""
        orders = [np.argsort(-values, axis=1) for values in (np.asarray(self.outputs.logits), self.distances)]
        return float((orders[0] != orders[1]).any(axis=1).mean())

    @property
    def agreement(self) -> float:
        """Rank correlation of the two margins, the geometric one as in eq. 11."""
        return float(spearmanr(self.confidences["confidence_margin"], self.confidences["eq. 11"])[0])

    def rescaled(self, factors: Floats) -> "Machine":
        """The machine with every w_j multiplied by a factor of its own."""
        o = self.outputs
        weight = self.weight * factors[:, None]
        logits = np.asarray(o.logits) * factors
        return Machine(Outputs(logits=logits, labels=o.labels, features=o.features, weight=weight))


def machine(table: str, /, *, seed: int) -> Machine:
    """Fit on a random part of a table; the rest is what the machine is tested on."""
    (x, y), (others, truth) = halves(table, seed=seed)
    weight = soft_margin(x, y, seed)
    return Machine(Outputs(logits=others @ weight.T, labels=truth, features=others, weight=weight))


def halves(table: str, /, *, seed: int) -> tuple[tuple[Floats, Labels], tuple[Floats, Labels]]:
    """Features, standardized by the first part and with a one appended, and classes of two random parts of a table."""
    datasets = require("sklearn.datasets", extra="sklearn", feature=FEATURE)
    data = getattr(datasets, f"load_{table}")()
    training, test = parts(data.target, (SHARE, 1 - SHARE), seed=seed)
    middle, spread = data.data[training].mean(axis=0), data.data[training].std(axis=0)
    x = np.column_stack([(data.data - middle) / np.where(spread > 0, spread, 1.0), np.ones(len(data.data))])
    return (x[training], data.target[training]), (x[test], data.target[test])


def soft_margin(x: Floats, y: Labels, seed: int, /) -> Floats:
    """The weights (K, d + 1) of Crammer and Singer's machine for features (n, d + 1) with a one at the end."""
    svm = require("sklearn.svm", extra="sklearn", feature=FEATURE)
    from sklearn.exceptions import ConvergenceWarning

    learner = svm.LinearSVC(multi_class="crammer_singer", C=C, max_iter=20_000, random_state=seed, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(learner.fit(x, y).coef_)
