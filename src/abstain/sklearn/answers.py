"""Which answers are wrong, where labels and answers can be compared at all."""

from numbers import Number

import numpy as np
from numpy.typing import ArrayLike, NDArray


def wrong_answers(labels: ArrayLike, answers: ArrayLike, /, *, name: str = "y") -> NDArray[np.bool_]:
    """(n,) where a label is not the answer; they must be as many, and not numbers here and text there.

    >>> wrong_answers(["cat", "dog"], ["cat", "cat"])
    array([False,  True])
    """
    true, given = np.asarray(labels), np.asarray(answers)
    if true.ndim != 1 or true.shape != given.shape:
        shapes = " and ".join(str(each.shape) for each in (true, given))
        raise ValueError(f"`{name}` must be one label for each answer, got the shapes {shapes}.")
    kinds = _kinds(true), _kinds(given)
    if len(true) and kinds[0].isdisjoint(kinds[1]):
        first, second = (" and ".join(sorted(each)) for each in kinds)
        raise ValueError(
            f"`{name}` must be labels of the kind of the model's classes, got {first} for {second}. "
            "Map them to the classes."
        )
    return np.asarray(true != given)


def _kinds(values: NDArray[np.generic]) -> set[str]:
    if values.dtype != object:
        return {
            "numbers" if values.dtype.kind in "biuf" else "text" if values.dtype.kind in "US" else str(values.dtype)
        }
    return {"text" if isinstance(each, str) else "numbers" if isinstance(each, Number) else "others" for each in values}
