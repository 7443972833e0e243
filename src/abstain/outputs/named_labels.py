"""Labels that are names of classes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstain.names import did_you_mean

Names = NDArray[np.str_]
Ints = NDArray[np.int64]


def are_numbers(labels: Names, /) -> bool:
    """Whether all are integers in writing, whose sorted order says nothing: "10" is before "2"."""
    try:
        labels.astype(np.int64)
    except ValueError:
        return False
    return True


def numbered_labels(labels: Names, class_names: tuple[str, ...], /) -> Ints:
    """(n,) the number of each class named, −1 for a name that the classifier does not know; some must be known.

    >>> numbered_labels(np.array(["dog", "cat", "fish"]), ("cat", "dog"))
    array([ 1,  0, -1])
    """
    numbers = {name: number for number, name in enumerate(class_names)}
    distinct, index = np.unique(labels, return_inverse=True)
    found = np.array([numbers.get(str(name), -1) for name in distinct], dtype=np.int64)[index]
    if (found < 0).all():
        first = str(labels[0])
        hint = did_you_mean(first, class_names, otherwise="Write them as in `class_names`.")
        raise ValueError(f"`labels` must be among the classes {', '.join(class_names[:9])}, got {first!r}. {hint}")
    return found


def sorted_names(labels: Names, n_classes: int, predictions: Callable[[], Ints], /) -> tuple[str, ...]:
    """The names of the classes where labels alone have them: in sorted order, as scikit-learn's ``classes_``.

    There must be as many as classes, and no other order may agree with the predictions in more rows: so columns in
    another order are an error, not a wrong answer.
    """
    names, index = np.unique(labels, return_inverse=True)
    give = "Pass class_names=, the names in the order of the columns."
    if len(names) != n_classes:
        raise ValueError(
            f"`labels` must have {n_classes} different names, one for each class, got {len(names)}. {give}"
        )
    from scipy.optimize import linear_sum_assignment  # takes long to import

    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    predicted = predictions()
    np.add.at(counts, (index[predicted >= 0], predicted[predicted >= 0]), 1)
    best = int(counts[linear_sum_assignment(counts, maximize=True)].sum())
    if (agreed := int(np.trace(counts))) < best:
        raise ValueError(
            f"`labels` must agree with the columns in sorted order, {', '.join(names[:9].tolist())}, got "
            f"{agreed / len(labels):.1%} right answers where another order has {best / len(labels):.1%}. {give}"
        )
    return tuple(names.tolist())
