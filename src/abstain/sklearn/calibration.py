"""A fitted classifier and outputs that it was not fitted on: all rows, rows held out, or out-of-fold rows."""

from dataclasses import dataclass, replace
from inspect import Parameter, signature
from math import ceil
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing

from abstain._arrays import Ints
from abstain._draws import generator
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.selector import Selector
from abstain.sklearn.arguments import splits
from abstain.sklearn.estimator_outputs import class_numbers, is_choice, needs, outputs_of

MIN_CLASSES = 2
FOLDS = "since it was calibrated on other folds' classifiers, and the final one may do otherwise"
UNSEEN = "it assumes that the classifier was not trained on these rows"
WEIGHTS = "`sample_weight` is the classifier's alone, each row counts once here"


@final
@dataclass(frozen=True)
class Training:
    """What a classifier is fitted and calibrated on."""

    estimator: Any
    X: Any
    y: NDArray[Any]
    sample_weight: Any
    score: Any
    seed: int
    ids: NDArray[Any] | None = None
    """(n,) the cluster of each row; None where rows are independent."""

    def prefit(self) -> "Calibration":
        """All rows, by the classifier that was already fitted."""
        kind, classes = type(self.estimator).__name__, getattr(self.estimator, "classes_", None)
        if classes is None:
            raise NotFittedError(f"`estimator` must be fitted, with classes_, for cv='prefit', got {kind} without.")
        classes = np.asarray(classes)
        labels = class_numbers(self.y, classes)
        if (labels < 0).all():
            raise InvalidInputError(f"`y` must hold classes of the estimator, got {self.y[0]!r} and none that is one.")
        outputs = outputs_of(self.estimator, self.X, classes=classes, score=self.score, labels=labels, ids=self.ids)
        return Calibration(self.estimator, classes, outputs, "prefit")

    def held_out(self, share: float) -> "Calibration":
        """A random part of the rows, by a classifier fitted on the others."""
        _, labels = self._classes()
        training, held = split_rows(self.X, labels, share, self.seed, ids=self.ids)
        estimator, classes = self._fitted(training), np.unique(self.y[training])
        rows, labels = _safe_indexing(self.X, held), class_numbers(self.y[held], classes)
        ids = None if self.ids is None else self.ids[held]
        outputs = outputs_of(estimator, rows, classes=classes, score=self.score, labels=labels, ids=ids)
        return Calibration(estimator, classes, outputs, "held out")

    def out_of_fold(self, cv: Any) -> "Calibration":
        """All rows, each by a classifier that has not seen it; the final classifier is fitted on all."""
        classes, labels = self._classes()
        self._check_logits_alone()
        logits = np.full((len(labels), len(classes)), np.nan)
        times = np.zeros(len(labels), dtype=np.int64)
        for training, held in splits(cv, self.X, self.y, self.ids, int(np.bincount(labels).min()), self.seed):
            if len(np.unique(labels[training])) < len(classes):
                raise InvalidInputError(
                    "`cv` must leave samples of every class to train on in each fold, got a fold without."
                )
            fold, rows = self._fitted(training), _safe_indexing(self.X, held)
            logits[held] = outputs_of(fold, rows, classes=classes, score=self.score).logits
            times[held] += 1
        if (times != 1).any():
            raise InvalidInputError("`cv` must hold out every sample once, got a splitter that does not.")
        outputs = Outputs(logits=logits, labels=labels, ids=self.ids, nonfinite="reject")
        return Calibration(self._fitted(), classes, outputs, "folds")

    def _fitted(self, rows: Any = None) -> Any:
        return fitted(self.estimator, self.X, self.y, rows, sample_weight=self.sample_weight)

    def _classes(self) -> tuple[NDArray[Any], Ints]:
        classes, labels = np.unique(self.y, return_inverse=True)
        if len(classes) < MIN_CLASSES:
            self._fitted()  # the classifier's own objection, if it has one
            raise InvalidInputError("`y` must have at least 2 classes, got 1 class.")
        return classes, labels

    def _check_logits_alone(self) -> None:
        needed = needs(self.score) & {"features", "head"}
        if needed and not is_choice(self.score):
            raise InvalidInputError(
                "`score` must be one of the logits alone with `cv`, since each fold has a classifier of its own, got "
                f"{self.score}, which needs {' and '.join(sorted(needed))}. Use `held_out`."
            )


@final
@dataclass(frozen=True)
class Calibration:
    """A fitted classifier, its classes, and the outputs to calibrate on."""

    estimator: Any
    classes: NDArray[Any]
    outputs: Outputs
    rows: Literal["prefit", "held out", "folds"]
    """Where they are from."""

    def noted(self, selector: Selector, /, *, weighted: bool) -> Selector:
        """The selector, its guarantee noting where its rows are from."""
        guarantee = selector.threshold.guarantee
        if weighted:
            guarantee = guarantee.noting(WEIGHTS)
        if self.rows == "prefit":
            guarantee = guarantee.noting(UNSEEN)
        elif self.rows == "folds":
            guarantee = guarantee.unproved(FOLDS)
        return replace(selector, threshold=replace(selector.threshold, guarantee=guarantee))


def fitted(estimator: Any, X: Any, y: NDArray[Any], rows: Any = None, /, *, sample_weight: Any = None) -> Any:
    """A copy of the classifier, fitted on some rows or on all."""
    if rows is not None:
        X, y = _safe_indexing(X, rows), y[rows]
        sample_weight = None if sample_weight is None else sample_weight[rows]
    weights = {} if sample_weight is None else {_weight_argument(estimator): sample_weight}
    return clone(estimator).fit(X, y, **weights)


def _weight_argument(estimator: Any) -> str:
    """The name of the weights in ``fit``; a pipeline passes them to its last step."""
    parameters = signature(estimator.fit).parameters
    if "sample_weight" in parameters:
        return "sample_weight"
    if hasattr(estimator, "steps") and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        return f"{name}__{_weight_argument(last)}"
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return "sample_weight"
    raise InvalidInputError(
        f"`sample_weight` must be left out for {type(estimator).__name__}, whose fit takes none, got some."
    )


def split_rows(
    X: Any, labels: NDArray[np.int64], share: float, seed: int, /, *, ids: NDArray[Any] | None = None
) -> tuple[Ints, Ints]:
    """Disjoint rows to train on and to calibrate on, drawn without regard to their classes.

    A class that training lacks stays among the rows that calibrate, where every answer to it is wrong, as it is in
    deployment: to move those rows would take exactly the certain errors out. Nor are classes held to their shares,
    since the guarantee is about independent rows. Rows with the same ``ids`` stay together: clusters are drawn until
    they have as many rows as asked for. The draw depends on the data, for the reason in `abstain._draws`.
    """
    n = len(labels)
    held = ceil(share * n) if share < 1 else int(share)
    cluster = np.arange(n) if ids is None else np.unique(ids, return_inverse=True)[1]
    order = generator("rows to hold out", seed, labels, _numbers(X)).permutation(cluster.max() + 1)
    before = np.cumsum(np.bincount(cluster)[order]) - np.bincount(cluster)[order]
    is_held = np.isin(cluster, order[before < held])
    training, held_out = np.flatnonzero(~is_held), np.flatnonzero(is_held)
    if len(np.unique(labels[training])) < MIN_CLASSES:
        raise InvalidInputError(
            f"`y` must leave at least {MIN_CLASSES} classes to train on, got 1 after {held} of {n} rows were held out. "
            "Give more rows, or hold out fewer."
        )
    return training, held_out


def _numbers(X: Any) -> NDArray[Any] | None:
    """The data as an array of numbers or strings; None where they cannot be one."""
    try:
        array = np.asarray(X)
    except (TypeError, ValueError):
        return None
    return array if array.ndim and array.dtype.kind in "biufU" else None
