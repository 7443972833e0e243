"""Label names matched to the classes of a model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain.outputs.named_labels import ClassNames, matched_labels


def match_labels(labels: NDArray[np.generic], class_names: ClassNames | None, /) -> NDArray[np.int64]:
    """Class numbers of label names, −1 for a name that is not a class; numbers stay unless they are names.

    If no name is a class, that is an error: mark data of unknown classes with −1.
    """
    if labels.dtype.kind not in "iuU":
        raise InvalidTypeError(f"`labels` must be class numbers or names, got {labels.dtype}.")
    if class_names is None and labels.dtype.kind == "U":
        raise InvalidInputError("`labels` must be class numbers, since the model does not name its classes, got names.")
    return np.asarray(labels if class_names is None else matched_labels(labels, class_names), dtype=np.int64)


def as_labels(values: Any, /) -> NDArray[Any]:
    """Class numbers or names, one per sample, from an array, a tensor or a list of either."""
    items = [_plain(value) for value in values] if isinstance(values, list | tuple) else _plain(values)
    labels = np.asarray(items)
    if labels.ndim != 1:
        raise InvalidInputError(f"`labels` must be one class number or name per sample, got shape {labels.shape}.")
    if labels.dtype.kind == "f" and (labels == np.rint(labels)).all():
        return labels.astype(np.int64)
    if labels.dtype.kind not in "iubU":
        raise InvalidInputError(f"`labels` must be class numbers or names, got {labels.dtype}, such as {labels[0]}.")
    return labels if labels.dtype.kind == "U" else labels.astype(np.int64)


def _plain(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
