"""Label names matched to the classes of a model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._names import did_you_mean
from abstain.outputs.named_labels import class_indices, integer_labels, integer_names

ClassNames = tuple[str, ...] | tuple[int, ...]


def match_labels(labels: NDArray[np.generic], class_names: ClassNames | None, /) -> NDArray[np.int64]:
    """Class numbers of label names, −1 for a name that is not a class; numbers stay unless they are names.

    If no name is a class, that is an error: mark data of unknown classes with −1.
    """
    if labels.dtype.kind in "iu":
        integers = None if class_names is None else integer_names(class_names)
        if integers is not None:
            return integer_labels(labels, integers)
        return labels.astype(np.int64)
    if labels.dtype.kind != "U":
        raise InvalidTypeError(f"`labels` must be class numbers or names, got {labels.dtype}.")
    if class_names is None:
        raise InvalidInputError("`labels` must be class numbers, since the model does not name its classes, got names.")
    names = tuple(str(name) for name in class_names)
    indices = class_indices(labels, names)
    if (indices < 0).all():
        hint = did_you_mean(labels[0], names, otherwise=f"The model knows {', '.join(names[:5])}, …")
        raise InvalidInputError(
            f"`labels` must name classes of the model, got {str(labels[0])!r} and no name that is one. {hint}"
        )
    return indices


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
