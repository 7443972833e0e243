"""The draw of rows to fit scores on, out of more rows than fit into memory."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._draws import generator
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.outputs.hashes import hashed
from abstain.scale.data import Portion
from abstain.scale.reader import ParquetReader, RowBatch
from abstain.scores.fitting_draw import LARGEST, PER_CLASS, SHARE, FittingRows


@final
@dataclass(frozen=True)
class HashedDraw:
    """Samples drawn by a hash of their ids, or of the numbers of rows: the same in whatever parts rows are read.

    Every sample is drawn with the same probability, with all its rows; the rest is still a random sample.
    """

    salt: int
    share: float

    @classmethod
    def of(cls, rows: int, classes: int, /, *, seed: int) -> Self:
        """A fifth of the rows, at most about 20,000 or five times as many as classes, as `evaluate` takes."""
        size = max(min(SHARE * rows, LARGEST), min(PER_CLASS * classes, rows / 2))
        salt = generator("rows to fit a score on", seed).integers(1 << 63)
        return cls(int(salt), size / rows)

    def has(self, samples: NDArray[Any], /) -> NDArray[np.bool_]:
        """(n,) which rows are of samples that are drawn."""
        return hashed(samples, salt=self.salt) < np.uint64(self.share * 2.0**64)

    def without(self, batch: RowBatch, /) -> RowBatch | None:
        """The rows that are not drawn, None if there are none."""
        left = ~self.has(batch.samples)
        return batch.some(left) if left.any() else None


@final
@dataclass(frozen=True)
class DrawTask:
    """The rows of a portion that are drawn, None if there are none."""

    reader: ParquetReader
    draw: HashedDraw

    def __call__(self, portion: Portion, /) -> Outputs | None:
        """Some rows of each batch, together."""
        parts = []
        for batch in self.reader.batches(portion):
            drawn = self.draw.has(batch.samples)
            if drawn.any():
                parts.append(batch.outputs.select(drawn))
        return Outputs.concat(parts) if parts else None


def fitting_rows(parts: list[Outputs], /) -> FittingRows:
    """Those in-distribution, and all."""
    rows = Outputs.concat(parts) if parts else None
    inside = None if rows is None else (rows.shift == "none") & rows.usable
    if rows is None or inside is None or np.count_nonzero(inside) < 2:
        n = 0 if inside is None else np.count_nonzero(inside)
        raise InvalidInputError(
            f"`data` must have at least 2 in-distribution rows among those drawn for fitting, got {n}. "
            "Give outputs to fit on, or leave out scores that need fitting."
        )
    return FittingRows(rows.select(inside), rows.select(rows.usable))
