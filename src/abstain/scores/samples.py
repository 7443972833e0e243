"""What scores take from the sample they are fitted on."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.scores.head import lacking
from abstain.scores.score import CannotFitError

LARGEST_BANK = 10_000
T = TypeVar("T")
Options = TypeVarTuple("Options")
_FOUND: WeakKeyDictionary[Outputs, dict[Hashable, Any]] = WeakKeyDictionary()


def once_per_sample(find: Callable[[*Options, Outputs], T], /) -> Callable[[*Options, Outputs], T]:
    """The function, run once for the same options and sample: its result is cached as long as the sample lives."""

    @wraps(find)
    def found(*arguments: *tuple[*Options, Outputs]) -> T:
        *options, sample = arguments
        known = _FOUND.setdefault(sample, {})
        key = (find, *options)
        if key not in known:
            known[key] = find(*arguments)
        value: T = known[key]
        return value

    return found


def bank_of(sample: Outputs, /) -> Outputs:
    """The rows to seek neighbours among: all, or `LARGEST_BANK` of them, drawn without a look at what they hold.

    The cost of a search grows with the bank, and so with the square of the outputs if the bank is a share of them.
    Those of right predictions come first, where that is known.
    """
    bank = _other_bank(sample)
    return sample if bank is None else bank


@once_per_sample
def _other_bank(sample: Outputs) -> Outputs | None:
    """The bank, or None where it is the sample as it is."""
    rows = np.arange(len(sample))
    if len(sample) > LARGEST_BANK:
        rng = sample.generator("bank of neighbours", 0)
        rows = np.sort(rng.choice(len(sample), size=LARGEST_BANK, replace=False))
    if sample.is_labelled:
        rows = rows[np.argsort(sample.outcomes[rows], kind="stable")]
    return None if np.array_equal(rows, np.arange(len(sample))) else sample.select(rows)


def features_of(sample: Outputs, /) -> NDArray[Any]:
    """The features, or an error that names them."""
    if sample.features is None:
        raise lacking("features", "features=")
    return sample.features


@once_per_sample
def mean_feature(sample: Outputs, /) -> Floats:
    """(d,) the mean of the features."""
    return features_of(sample).mean(axis=0, dtype=np.float64)


def labelled_features(sample: Outputs, /) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Features and labels of the rows of known classes, of which there must be some."""
    labels, x = known_labels(sample), features_of(sample)
    return (x, labels) if (labels >= 0).all() else (x[labels >= 0], labels[labels >= 0])


def class_means(features: Floats, labels: NDArray[np.int64], /) -> tuple[Floats, Floats]:
    """Mean feature (c, d) of each class there is, and the features less the mean of their class."""
    _, first, group, counts = np.unique(np.sort(labels), return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(labels, kind="stable")
    means = np.add.reduceat(features[order], first, axis=0) / counts[:, None]
    centred = np.empty_like(features)
    centred[order] = features[order] - means[group]
    return means, centred


def known_labels(sample: Outputs, /) -> NDArray[np.int64]:
    """(n,) labels, some of which must be of known classes."""
    if sample.labels is None or not (sample.labels >= 0).any():
        raise CannotFitError("the fitting sample has no labelled rows of known classes")
    return sample.labels


def right_and_wrong(sample: Outputs, /) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the correct and of the wrong predictions, of which there must be some of each."""
    wrong = sample.errors
    if not wrong.any() or wrong.all():
        kind = "wrong" if not wrong.any() else "correct"
        raise CannotFitError(f"the fitting sample of {len(sample)} rows has no {kind} prediction")
    return ~wrong, wrong
