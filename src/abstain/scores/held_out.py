"""Confidences of rows that the scores were not fitted on, from which a combination of scores is learned."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.outputs.hashes import Hashes, hashed, hashed_rows
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import FittingRows, fit_each
from abstain.scores.logit_scores import confidence_margin
from abstain.scores.samples import once_per_sample
from abstain.scores.score import CannotFitError, FittedScore, Score

FOLDS = 5
FINE_FOLDS, ENOUGH = 10, 500  # for a mean and a spread: fits on nearly all rows, and as few fits as give them
LARGEST = 10_000  # rows: more do not make it better, but slower
SALT, OTHER_SALT = 0x666F6C6473206F66, 0x9990939B8CDF9099


def some_rows(sample: Outputs, /) -> Outputs:
    """One row of each sample, at most 10,000, drawn and put into an order by hashes.

    Neither the order of rows nor that of classes matters: hashes of logits as they stand only part rows that have the
    same values in other classes.
    """
    logits, features = (sample.source(name) for name in ("logits", "features"))
    contents = [hashed_rows(rows, salt=SALT) for rows in (logits, features) if rows is not None]
    contents += [hashed_rows(np.sort(sample.logits, axis=1), salt=SALT), *_signals(sample)]
    names = _names(sample)
    order = np.lexsort((_order_of_copies(sample, [*contents, names]), *contents, names))
    if sample.ids is not None:
        order = order[np.unique(names[order], return_index=True)[1]]
    return sample.select(order[:LARGEST])


def _order_of_copies(sample: Outputs, contents: list[Hashes]) -> Hashes:
    """(n,) hashes that order rows with the same contents, each label first as likely as it is frequent."""
    truth: NDArray[Any] = sample.losses if sample.labels is None else sample.labels
    outcome = hashed(sample.shift, salt=SALT) ^ hashed(truth, salt=OTHER_SALT)
    order = np.lexsort((outcome, *contents))
    keys = np.stack([outcome, *contents])[:, order]
    is_new = np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)]
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    copy = np.empty(len(order), np.int64)
    copy[order] = np.arange(len(order)) - first
    return hashed((outcome ^ contents[-1] ^ hashed(copy, salt=SALT)).view(np.int64), salt=SALT)


def _signals(rows: Outputs) -> list[Hashes]:
    """A hash (n,) of the confidences of others where there is nothing else, whatever their order; else none."""
    if rows.n_classes or rows.confidences is None:
        return []
    return [hashed_rows(rows.confidences[:, np.argsort(rows.confidence_names)], salt=SALT)]


def folds(rows: Outputs, /) -> NDArray[np.int64]:
    """Which fold each row is in, by a hash of its id, or of what it holds: copies of a row are in the same."""
    return np.unique(_names(rows), return_inverse=True)[1] % FOLDS


def dealt(rows: Outputs, /, *, number: int, kinds: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Which of ``number`` folds (n,) each row is in: dealt out in turn by margin and norm, copies of a row together.

    The order of rows decides nothing, and rounding moves only rows that are nearly the same, unlike a hash. Of two
    ``kinds`` of rows every fold has its share; a sample is of the second kind if one of its copies is.
    """
    keys = _keys(rows) if rows.ids is None else hashed(np.asarray(rows.ids).astype(str), salt=SALT)[:, None]
    distinct, sample = np.unique(keys, axis=0, return_inverse=True)
    sample = sample.reshape(-1)
    kind = np.zeros(len(distinct)) if kinds is None else np.bincount(sample, weights=kinds)
    rank = np.empty(len(distinct), np.int64)
    rank[np.argsort(kind > 0, kind="stable")] = np.arange(len(distinct))
    return rank[sample] % number


def _keys(rows: Outputs) -> Floats:
    """(n, 2) the gap of the two largest logits, and the norm of the features."""
    x = rows.features
    norms = np.zeros(len(rows)) if x is None else np.sqrt(np.square(x.astype(np.float64)).sum(axis=1))
    return np.column_stack([confidence_margin(rows.logits), norms])


def out_of_fold(score: Score, rows: Outputs, fold: NDArray[np.int64], /, *, enough: int | None = None) -> Floats:
    """Confidence (n,) of each row by a fit on the other folds; NaN in the folds left after ``enough`` rows.

    `CannotFitError` where some folds do not determine the score.
    """
    confidence = np.full(len(rows), np.nan)
    numbers, done = np.unique(fold), 0
    if len(numbers) < 2:
        raise CannotFitError("the fitting sample has fewer than 2 distinct rows")
    for number in numbers:
        here = fold == number
        confidence[here] = score.fit(rows.select(~here))(rows.select(here))
        done += int(np.count_nonzero(here))
        if enough is not None and done >= enough:
            break
    return confidence


@once_per_sample
def unfitted_confidence(score: Score, sample: Outputs, /) -> Floats:
    """Confidence of rows of the sample, all or at least 500, by fits on the nine tenths that a row is not in.

    Its mean and spread are about those of new rows. On the very rows that a score was fitted on they are not: principal
    axes of few rows leave hardly any residual there.
    """
    confidence = out_of_fold(score, sample, dealt(sample, number=FINE_FOLDS), enough=ENOUGH)
    return confidence[~np.isnan(confidence)]


def _names(rows: Outputs) -> Hashes:
    """(n,) a hash of what names a row: its id, or else its features and its logits, whatever the order of classes."""
    if rows.ids is not None:
        return hashed(np.asarray(rows.ids).astype(str), salt=SALT)
    if signals := _signals(rows):
        return signals[0]
    hashes = hashed_rows(np.sort(rows.logits, axis=1), salt=SALT)
    features = rows.source("features")
    return hashes if features is None else hashes ^ hashed_rows(features, salt=OTHER_SALT)


def fit_all(inside: Iterable[Score], anywhere: Iterable[Score], rows: Outputs, /) -> dict[str, FittedScore]:
    """The scores that these rows determine, fitted on the in-distribution ones, or on rows of every kind."""
    fitted: dict[str, FittedScore] = {}
    if (clean := rows.shift == "none").any():
        fitted, _ = fit_each(inside, FittingRows.all_alike(rows.select(clean)))
    return fitted | fit_each(anywhere, FittingRows.all_alike(rows))[0]


def held_out(
    inside: Sequence[Score], anywhere: Sequence[Score], rows: Outputs, fold: NDArray[np.int64], /
) -> dict[str, Floats]:
    """Confidence (n,) of each row by a fit on the other folds, of the scores that every fold determines."""
    confidence = {score.name: np.full(len(rows), np.nan) for score in (*inside, *anywhere)}
    for number in np.unique(fold):
        here = fold == number
        if here.all():
            return {}
        fitted = fit_all(inside, anywhere, rows.select(~here))
        for name, values in confidences(rows.select(here), fitted).items():
            confidence[name][here] = values
    return {name: values for name, values in confidence.items() if not np.isnan(values).any() and np.ptp(values) > 0}
