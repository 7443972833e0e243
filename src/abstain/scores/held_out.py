"""What scores say of rows they were not fitted on: the rows that a combination of them is learned from."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.outputs.hashes import Hashes, hashed, hashed_rows
from abstain.scores.confidences import confidences
from abstain.scores.score import CannotFitError, FittedScore, Score

Floats = NDArray[np.float64]
FOLDS = 5
LARGEST = 10_000  # rows: more do not make it better, but slower
SALT, OTHER_SALT = 0x666F6C6473206F66, 0x9990939B8CDF9099


def some_rows(sample: Outputs, /) -> Outputs:
    """One row of each sample, at most 10,000, drawn and put into an order by hashes: whatever order they came in."""
    logits, features = (sample.source(name) for name in ("logits", "features"))
    contents = [hashed_rows(rows, salt=SALT) for rows in (features, logits) if rows is not None]
    names = _names(sample)
    order = np.lexsort((_told_apart(sample, [*contents, names]), *contents, names))
    if sample.ids is not None:
        order = order[np.unique(names[order], return_index=True)[1]]
    return sample.select(order[:LARGEST])


def _told_apart(sample: Outputs, shown: list[Hashes]) -> Hashes:
    """(n,) hashes that put rows which show the same into an order, each label as likely first as it is frequent."""
    said = hashed(sample.shift, salt=SALT) ^ hashed(_truth(sample), salt=OTHER_SALT)
    order = np.lexsort((said, *shown))
    keys = np.stack([said, *shown])[:, order]
    is_new = np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)]
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    copy = np.empty(len(order), np.int64)
    copy[order] = np.arange(len(order)) - first
    return hashed((said ^ shown[-1] ^ hashed(copy, salt=SALT)).view(np.int64), salt=SALT)


def _truth(sample: Outputs) -> NDArray[Any]:
    return sample.errors if sample.labels is None else sample.labels


def folds(rows: Outputs, /) -> NDArray[np.int64]:
    """Which fold each row is in, by a hash of its id, or of what it holds: copies of a row are in the same."""
    return np.unique(_names(rows), return_inverse=True)[1] % FOLDS


def _names(rows: Outputs) -> Hashes:
    """(n,) a hash of what names a row: its id, or else its features and its logits, whatever the order of classes."""
    if rows.ids is not None:
        return hashed(np.asarray(rows.ids).astype(str), salt=SALT)
    found = hashed_rows(np.sort(rows.logits, axis=1), salt=SALT)
    features = rows.source("features")
    return found if features is None else found ^ hashed_rows(features, salt=OTHER_SALT)


def fit_all(inside: Mapping[str, Score], anywhere: Mapping[str, Score], rows: Outputs, /) -> dict[str, FittedScore]:
    """The scores that these rows determine, fitted on the in-distribution ones, or on rows of every kind."""
    fitted: dict[str, FittedScore] = {}
    kinds = [(anywhere, rows)]
    if (clean := rows.shift == "none").any():
        kinds.insert(0, (inside, rows.select(clean)))
    for scores, sample in kinds:
        for name, score in scores.items():
            with suppress(CannotFitError):
                fitted[name] = score.fit(sample)
    return fitted


def held_out(
    inside: Mapping[str, Score], anywhere: Mapping[str, Score], rows: Outputs, fold: NDArray[np.int64], /
) -> dict[str, Floats]:
    """Confidence (n,) of each row by a fit on the other folds, of the scores that every fold determines."""
    found = {name: np.full(len(rows), np.nan) for name in (*inside, *anywhere)}
    for number in np.unique(fold):
        here = fold == number
        if here.all():
            return {}
        fitted = fit_all(inside, anywhere, rows.select(~here))
        for name, values in confidences(rows.select(here), fitted).items():
            found[name][here] = values
    return {name: values for name, values in found.items() if not np.isnan(values).any() and np.ptp(values) > 0}
