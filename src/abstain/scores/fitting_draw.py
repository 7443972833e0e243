"""The draw of rows to fit scores on, one rule for `evaluate` and `calibrate`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.outputs.rows import draw_rows
from abstain.scores.score import CannotFitError, FittedScore, Score

SHARE, PER_CLASS = Score.fitting_share, 5
LARGEST = 20_000  # samples: enough for any score, few enough for the memory and time of the dearest


@final
@dataclass(frozen=True)
class FittingRows:
    """Rows to fit scores on: in-distribution ones, and all that were drawn with them."""

    inside: Outputs
    drawn: Outputs

    @classmethod
    def all_alike(cls, rows: Outputs, /) -> Self:
        """The same rows for every score."""
        return cls(rows, rows)

    @classmethod
    def within(cls, rows: Outputs, /) -> Self:
        """The finite ones of these rows, and the in-distribution ones among them."""
        usable = rows if rows.usable.all() else rows.select(rows.usable)
        inside = usable.shift == "none"
        if not inside.any():
            raise InvalidInputError(
                f"`outputs` must have in-distribution rows among those to fit scores on, got none of {len(rows):,}. "
                "Pass a sample of such rows, or a score with nothing to fit."
            )
        return cls(usable.select(inside), usable)

    def of(self, score: Score, /) -> Outputs:
        """Those for this score; the same object for every score that gets the same rows."""
        return self.drawn if score.fits_on_shifted else self.inside


def fit_each(scores: Iterable[Score], rows: FittingRows, /) -> tuple[dict[str, FittedScore], dict[str, str]]:
    """The scores that the rows determine, fitted, and why each of the others cannot be, both by name."""
    fitted: dict[str, FittedScore] = {}
    refused: dict[str, str] = {}
    for score in scores:
        try:
            fitted[score.name] = score.fit(rows.of(score))
        except CannotFitError as error:
            refused[score.name] = str(error)
    return fitted, refused


def rows_per_class(
    outputs: Outputs, /, *, seed: int, size: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """In-distribution rows, at most half of them, and where (n,) the other samples are.

    As many as ``size``, by default as in the paper five times as many as classes. Copies of a drawn sample, such as
    corrupted ones, leave with it.
    """
    inside = np.flatnonzero((outputs.shift == "none") & outputs.usable)
    if len(inside) < 2:
        raise InvalidInputError(
            f"`outputs` must have at least 2 in-distribution rows to fit a score on, got {len(inside)}."
        )
    size = min(PER_CLASS * outputs.n_classes if size is None else size, len(inside) // 2)
    samples, n = outputs.samples
    rng = outputs.generator("rows to fit scores on", seed)
    drawn = inside[draw_rows(len(inside), samples[inside], size=size, rng=rng)]
    is_drawn = np.zeros(n, dtype=bool)
    is_drawn[samples[drawn]] = True
    return drawn, ~is_drawn[samples]


def split_to_fit(outputs: Outputs, /, *, seed: int, share: float = SHARE) -> tuple[FittingRows, Outputs]:
    """Rows to fit scores on, and the others: `rows_to_fit`."""
    drawn = rows_to_fit(outputs, seed=seed, share=share)
    return FittingRows.within(outputs.select(drawn)), outputs.select(~drawn)


def rows_to_fit(outputs: Outputs, /, *, seed: int, share: float = SHARE) -> NDArray[np.bool_]:
    """Where (n,) rows are to fit scores on; the others are still a sample of what all were.

    Samples of every kind are drawn one by one until there are enough: a ``share`` of all, at most 20,000, with five
    times as many in-distribution ones as classes; but never more than half. What is left has the same distribution,
    since only the samples drawn decide when to stop; a draw of in-distribution rows alone would shift it to the others.
    """
    cluster, n = outputs.samples
    rank = outputs.generator("rows to fit a score on", seed).permutation(n)[cluster]
    inside = (outputs.shift == "none") & outputs.usable
    inside_so_far = np.cumsum(np.bincount(rank, weights=inside, minlength=n))
    enough = max(int(np.searchsorted(inside_so_far, PER_CLASS * outputs.n_classes)), min(round(share * n), LARGEST) - 1)
    drawn: NDArray[np.bool_] = rank <= min(enough, n // 2 - 1)
    if np.count_nonzero(drawn & inside) < 2:
        raise InvalidInputError(
            f"`outputs` must have at least 2 in-distribution rows among those drawn to fit a score on, got "
            f"{np.count_nonzero(drawn & inside)}. Calibrate on more samples."
        )
    return drawn
