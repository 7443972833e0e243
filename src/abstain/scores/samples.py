"""What scores take from the sample they are fitted on."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.score import CannotFitError

T = TypeVar("T")
LARGEST_BANK = 10_000
_SHARED: WeakKeyDictionary[Outputs, dict[Hashable, Any]] = WeakKeyDictionary()


def shared(sample: Outputs, what: Hashable, find: Callable[[], T], /) -> T:
    """What several scores want of the same sample, found once as long as the sample lives."""
    known = _SHARED.setdefault(sample, {})
    if what not in known:
        known[what] = find()
    value: T = known[what]
    return value


def bank_of(sample: Outputs, /) -> Outputs:
    """The rows to seek neighbours among: all, or `LARGEST_BANK` of them, drawn without a look at what they hold.

    The cost of a search grows with the bank, and so with the square of the outputs if the bank is a share of them.
    Those of right predictions come first, where that is known.
    """
    rows = shared(sample, "rows of the bank", lambda: _rows_of_bank(sample))
    return sample if rows is None else shared(sample, "bank", lambda: sample.select(rows))


def _rows_of_bank(sample: Outputs) -> NDArray[np.int64] | None:
    """Their numbers, or None where they are all rows as they are."""
    rows = np.arange(len(sample))
    if len(sample) > LARGEST_BANK:
        rng = sample.generator("bank of neighbours", 0)
        rows = np.sort(rng.choice(len(sample), size=LARGEST_BANK, replace=False))
    if sample.is_labelled:
        rows = rows[np.argsort(sample.outcomes[rows], kind="stable")]
    return None if np.array_equal(rows, np.arange(len(sample))) else rows


def features_of(sample: Outputs, /) -> NDArray[Any]:
    """The features, or an error that names them."""
    if sample.features is None:
        raise InvalidInputError("`outputs` must have features for this score, got none. Pass features= to Outputs.")
    return sample.features


def mean_feature(sample: Outputs, /) -> NDArray[np.float64]:
    """(d,) the mean of the features."""
    return shared(sample, "mean feature", lambda: features_of(sample).mean(axis=0, dtype=np.float64))


def labelled_features(sample: Outputs, /) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Features and labels of the rows of known classes, of which there must be some."""
    labels, x = known_labels(sample), features_of(sample)
    return (x, labels) if (labels >= 0).all() else (x[labels >= 0], labels[labels >= 0])


def known_labels(sample: Outputs, /) -> NDArray[np.int64]:
    """(n,) labels, some of which must be of known classes."""
    if sample.labels is None or not (sample.labels >= 0).any():
        raise CannotFitError("the fitting sample has no labelled rows of known classes")
    return sample.labels


def head_of(sample: Outputs, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight and bias of the last layer in float64; a missing bias is zero."""
    if sample.weight is None:
        raise InvalidInputError(
            "`outputs` must have a head for this score, got none. Pass weight= and bias= to Outputs."
        )
    bias = np.zeros(sample.n_classes) if sample.bias is None else sample.bias
    return sample.weight.astype(np.float64), bias.astype(np.float64)


def right_and_wrong(sample: Outputs, /) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the correct and of the wrong predictions, of which there must be some of each."""
    wrong = sample.errors
    if not wrong.any() or wrong.all():
        kind = "wrong" if not wrong.any() else "correct"
        raise CannotFitError(f"the fitting sample of {len(sample)} rows has no {kind} prediction")
    return ~wrong, wrong
