"""What scores say of rows they were not fitted on: the rows that a combination of them is learned from."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from abstain.draws import generator
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.score import CannotFitError, FittedScore, Score

Floats = NDArray[np.float64]
FOLDS = 5
LARGEST = 10_000  # rows: more do not make it better, but slower


def some_rows(sample: Outputs, /) -> Outputs:
    """One row of each sample, at most 10,000, drawn at random."""
    order = generator("rows to learn a score on", 0, sample.ids).permutation(len(sample))
    _, first = np.unique(sample.samples[0][order], return_index=True)
    return sample.select(np.sort(order[np.sort(first)[:LARGEST]]))


def folds(rows: Outputs, /) -> NDArray[np.int64]:
    """Which fold each row is in, whatever it shows: the rows are a random draw already."""
    return generator("folds to learn a score in", 0, rows.ids).permutation(len(rows)) % FOLDS


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
