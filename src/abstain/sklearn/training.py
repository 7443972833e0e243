"""Train a classifier with weights for its samples, and split the samples for it."""

from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing


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


def split_rows(labels: NDArray[np.int64], share: float, seed: int, /) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and to calibrate on, none in both; a class too rare for both is trained on."""
    stratify = labels if np.bincount(labels).min() >= 4 else None
    training, held = train_test_split(np.arange(len(labels)), test_size=share, random_state=seed, stratify=stratify)
    unseen = ~np.isin(labels[held], labels[training])
    training, held = np.append(training, held[unseen]), held[~unseen]
    if not len(held):
        raise ValueError(f"`y` must have more samples of each class to hold some out, got {len(labels)} samples.")
    return training, held
