"""Labels that are names of classes."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._errors import InvalidInputError, RowError
from abstain._names import did_you_mean

Names = NDArray[np.str_]
ClassNames = Sequence[str] | Sequence[int] | NDArray[Any]


def are_numbers(labels: Names, /) -> bool:
    """Whether all strings are integers, whose sorted order means nothing: "10" is before "2"."""
    try:
        labels.astype(np.int64)
    except ValueError:
        return False
    return True


def class_indices(labels: NDArray[Any], classes: Sequence[Hashable], /) -> Ints:
    """(n,) the index of each label among the classes, −1 for one that is not among them."""
    numbers = {name: number for number, name in enumerate(classes)}
    return np.array([numbers.get(label, -1) for label in labels.tolist()], dtype=np.int64)


def integer_names(class_names: Iterable[Any], /) -> tuple[int, ...] | None:
    """The class names where all are integers, not strings, and other than 0 to K − 1 in order; None elsewhere.

    Integer labels are then names of classes, and not column numbers.

    >>> integer_names(np.array([-1, 1])), integer_names(np.array([0, 1])), integer_names(["-1", "1"])
    ((-1, 1), None, None)
    """
    names = list(class_names)
    if not all(isinstance(name, Real) and name == name // 1 for name in names):
        return None
    integers = tuple(int(name) for name in names)
    return None if integers == tuple(range(len(integers))) else integers


def matched_labels(labels: NDArray[Any], class_names: ClassNames, /) -> NDArray[Any]:
    """(n,) the class number of each label, −1 for one that the classifier does not know.

    Of strings some must be known. Integers are class numbers unless the names of the classes are integers.

    >>> matched_labels(np.array(["dog", "cat", "fish"]), ("cat", "dog"))
    array([ 1,  0, -1])
    >>> matched_labels(np.array([1, -1, -2]), (-1, 1))
    array([ 1,  0, -1])
    """
    if labels.dtype.kind in "iu":
        integers = integer_names(class_names)
        return labels if integers is None else _integer_labels(labels, integers)
    names = tuple(str(name) for name in class_names)
    indices = class_indices(labels, names)
    if (indices < 0).all():
        first = str(labels[0])
        hint = did_you_mean(first, names, otherwise="Write them as in `class_names`.")
        raise InvalidInputError(
            f"`labels` must be among the classes {', '.join(names[:9])}, got {first!r} and no name that is one. {hint}"
        )
    return indices


def _integer_labels(labels: NDArray[Any], classes: tuple[int, ...]) -> Ints:
    """(n,) the index of each integer among the classes, −1 for a negative one that is none of them."""
    indices = class_indices(labels, classes)
    if (strange := (indices < 0) & (labels >= 0)).any():
        bad = int(np.argmax(strange))
        listed = ", ".join(str(name) for name in classes[:9])
        raise RowError(
            f"`labels` must be among the classes {listed}, got {labels[bad]} in row",
            bad,
            ". Use a negative number that is none of them for a class the classifier does not know.",
        )
    return indices


def sorted_names(labels: Names, n_classes: int, predictions: Callable[[], Ints], /) -> tuple[str, ...]:
    """The names of the classes where labels alone have them: in sorted order, as scikit-learn's ``classes_``.

    There must be as many as classes, and no other order may agree with the predictions in more rows. That detects
    columns in another order if the classifier is often right and rows are many; small samples can pass by chance.
    """
    names, index = np.unique(labels, return_inverse=True)
    give = "Pass class_names=, the names in the order of the columns."
    if len(names) != n_classes:
        raise InvalidInputError(
            f"`labels` must have {n_classes} different names, one for each class, got {len(names)}. {give}"
        )
    from scipy.optimize import linear_sum_assignment  # takes long to import

    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    predicted = predictions()
    np.add.at(counts, (index[predicted >= 0], predicted[predicted >= 0]), 1)
    best = int(counts[linear_sum_assignment(counts, maximize=True)].sum())
    if (agreed := int(np.trace(counts))) < best:
        raise InvalidInputError(
            f"`labels` must agree with the columns in sorted order, {', '.join(names[:9].tolist())}, got "
            f"{agreed / len(labels):.1%} right answers where another order has {best / len(labels):.1%}. {give}"
        )
    return tuple(names.tolist())
