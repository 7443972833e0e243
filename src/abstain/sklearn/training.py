"""Train a classifier with weights for its samples, and split the samples for it."""

from inspect import Parameter, signature
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from abstain.draws import generator

Ints = NDArray[np.int64]
MIN_CLASSES = 2


def fitted(estimator: Any, X: Any, y: NDArray[Any], rows: Any = None, /, *, sample_weight: Any = None) -> Any:
    """A copy of the classifier, fitted on some rows or on all."""
    if rows is not None:
        X, y = _safe_indexing(X, rows), y[rows]
        sample_weight = None if sample_weight is None else sample_weight[rows]
    weights = {} if sample_weight is None else {_weight_argument(estimator): sample_weight}
    return clone(estimator).fit(X, y, **weights)


def _weight_argument(estimator: Any) -> str:
    """What the weights are called in ``fit``; a pipeline passes them to its last step."""
    parameters = signature(estimator.fit).parameters
    if "sample_weight" in parameters:
        return "sample_weight"
    if hasattr(estimator, "steps") and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        return f"{name}__{_weight_argument(last)}"
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return "sample_weight"
    raise ValueError(
        f"`sample_weight` must be left out for {type(estimator).__name__}, whose fit takes none, got some."
    )


def split_rows(X: Any, labels: NDArray[np.int64], share: float, seed: int, /) -> tuple[Ints, Ints]:
    """Rows to train on and to calibrate on, none in both, drawn whatever their classes are.

    A class that training lacks stays among the rows that calibrate, where every answer to it is wrong, as it is in
    deployment: to move those rows would take exactly the certain errors out. Nor are classes held to their shares,
    since the guarantee is about independent rows. The draw knows the data, as `abstain.draws` tells why.
    """
    n = len(labels)
    held = ceil(share * n) if share < 1 else int(share)
    order = generator("rows to hold out", seed, labels, _numbers(X)).permutation(n)
    training, held_out = np.sort(order[held:]), np.sort(order[:held])
    if len(np.unique(labels[training])) < MIN_CLASSES:
        raise ValueError(
            f"`y` must leave at least {MIN_CLASSES} classes to train on, got 1 after {held} of {n} rows were held out. "
            "Give more rows, or hold out fewer."
        )
    return training, held_out


def _numbers(X: Any) -> NDArray[Any] | None:
    """The data as an array of numbers or texts, whatever holds them; None where they are none."""
    try:
        found = np.asarray(X)
    except (TypeError, ValueError):
        return None
    return found if found.ndim and found.dtype.kind in "biufU" else None
