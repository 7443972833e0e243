"""A column of text as the bytes of a file, and what its cells say, without an object for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Any, Self, final, overload

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._kernels.cells import are_plain, packed, read_decimals, read_words
from abstain._kernels.compilation import read_only
from abstain._kernels.decision_tables import name_keys
from abstain.outputs.columns import TRUTH

UNKNOWN = -1
MEANINGS = {"": UNKNOWN} | {word: int(meaning) for word, meaning in TRUTH.items()}
WORDS = np.array(list(map(packed, MEANINGS)), dtype=np.int64)
CODES = np.array(list(MEANINGS.values()), dtype=np.int64)
TEXTS = ("String", "Int", "UInt", "Categorical", "Enum")  # how the names of types begin that Polars writes as texts


@final
@dataclass(frozen=True, eq=False)
class TextCells:
    """Cells in bytes of UTF-8; one without characters is None."""

    text: NDArray[np.uint8]
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, column: Any, /) -> "TextCells | None":
        """Those of a list or a Polars series of strings or integers; None of anything else."""
        if isinstance(column, TextCells):
            return column
        if isinstance(column, list):
            kinds = set(map(type, column)) - {NoneType}
            if kinds <= {str}:
                return cls.of_texts([each or "" for each in column])
            if kinds != {int}:
                return None
            return cls.of_texts(["" if each is None else str(each) for each in column])
        if not str(getattr(column, "dtype", "")).startswith(TEXTS):
            return None
        array = column.cast(str).fill_null("").to_arrow().cast("large_string")
        _, offsets, text = array.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64, count=len(array) + 1, offset=8 * array.offset)
        return cls(np.frombuffer(text or b"", dtype=np.uint8), bounds[:-1].copy(), bounds[1:].copy())

    @classmethod
    def of_texts(cls, texts: list[str], /) -> Self:
        """Those with these texts."""
        joined = "".join(texts)
        data = joined.encode("utf-8", "surrogatepass")
        parts = texts if joined.isascii() else [each.encode("utf-8", "surrogatepass") for each in texts]
        ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
        return cls(np.frombuffer(data, dtype=np.uint8), np.append(0, ends)[: len(ends)], ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[str | None]:
        text = self.text.tobytes()
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return (text[start:end].decode("utf-8", "surrogatepass").strip() or None for start, end in bounds)

    @overload
    def __getitem__(self, rows: int) -> str | None: ...
    @overload
    def __getitem__(self, rows: slice) -> "TextCells": ...
    def __getitem__(self, rows: int | slice) -> "str | TextCells | None":
        if isinstance(rows, slice):
            return TextCells(self.text, self.starts[rows], self.ends[rows])
        cell = self.text[self.starts[rows] : self.ends[rows]].tobytes()
        return cell.decode("utf-8", "surrogatepass").strip() or None

    @property
    def are_plain(self) -> bool:
        """Whether each is a name as it stands, as `abstain.outputs.columns.text` would write it."""
        return bool(are_plain(read_only(self.text), self.starts, self.ends))

    def keys(self) -> Ints:
        """(n,) 64-bit digests, 0 where there is none."""
        keys = np.empty(len(self), dtype=np.int64)
        name_keys(read_only(self.text), self.starts, self.ends, keys)
        return keys

    def truths(self) -> NDArray[np.int8] | None:
        """1, 0, or −1 where there is none; None if a cell says something else."""
        codes = np.empty(len(self), dtype=np.int64)
        is_read = read_words(read_only(self.text), self.starts, self.ends, WORDS, CODES, codes)
        return codes.astype(np.int8) if is_read else None

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Numbers, and the kinds of `abstain._kernels.cells`."""
        numbers, kinds = np.empty(len(self)), np.empty(len(self), dtype=np.uint8)
        read_decimals(read_only(self.text), self.starts, self.ends, numbers, kinds)
        return numbers, kinds
