"""The shards of a run on disk: a sealed file each, computed again where it is damaged.

The header of a shard names its run and its rows, so that no other shard is mistaken for it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest
from abstain._io.sealed import load_sealed, save_sealed

KIND, VERSION = "abstain.shard", 2
ARRAYS = ("rows", "logits", "features", "weight", "bias")
Failures = dict[int, str]


@final
@dataclass(frozen=True)
class Shard:
    """What the model returned for some rows, why other rows failed, and its head."""

    rows: NDArray[np.int64]
    logits: NDArray[Any] | None = None
    features: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None
    bias: NDArray[Any] | None = None
    failures: Failures = field(default_factory=dict)

    def covers(self, rows: range, /) -> bool:
        """Whether each of the rows is here once, with as many logits and features."""
        arrays = [array for array in (self.logits, self.features) if array is not None]
        covered = np.sort(np.concatenate([self.rows, np.array(list(self.failures), dtype=np.int64)]))
        return (
            np.array_equal(covered, np.arange(rows.start, rows.stop))
            and all(len(array) == len(self.rows) for array in arrays)
            and (self.logits is not None or not len(self.rows))
        )


@final
@dataclass(frozen=True)
class Shards:
    """``n`` rows in files of ``size`` rows; a file that does not have the digest ``belongs`` is of another run."""

    work: Path
    belongs: str
    n: int
    size: int

    def ranges(self, part: int = 0, of: int = 1) -> list[range]:
        """The rows of each shard, or of every ``of``-th of them from ``part`` on."""
        starts = range(0, self.n, self.size)[part::of]
        return [range(first, min(first + self.size, self.n)) for first in starts]

    def are_there(self) -> bool:
        """Whether there is a file for every shard, whatever it holds."""
        return all(self._file(rows).exists() for rows in self.ranges())

    def read(self, rows: range) -> Shard | None:
        """The shard, or None where it is not there, damaged, or of another run or other rows."""
        file = self._file(rows)
        try:
            header, arrays = load_sealed(file, KIND, VERSION, writer="collect", again="run again")
            if header["belongs"] != [self.belongs, file.name]:
                return None
            failures = {int(row): str(reason) for row, reason in header["failures"]}
            shard = Shard(**arrays, failures=failures)
        except (OSError, KeyError, TypeError, ValueError):  # missing, truncated, altered or of another kind
            return None
        return shard if shard.covers(rows) else None

    def write(self, rows: range, shard: Shard) -> None:
        """Store what the model returned for the rows."""
        file, arrays = self._file(rows), {name: getattr(shard, name) for name in ARRAYS}
        header = {"belongs": [self.belongs, file.name], "failures": list(shard.failures.items())}
        known = {name: array for name, array in arrays.items() if array is not None}
        save_sealed(file, KIND, VERSION, header, known)

    def joined(self, scratch: Path) -> Shard:
        """All shards as one, their arrays in files below ``scratch``: no more than one shard is held in memory."""
        scratch.mkdir()
        rows, failures = [], Failures()
        heads: dict[str, tuple[NDArray[Any] | None, NDArray[Any] | None]] = {}
        with _Column(scratch / "logits") as logits, _Column(scratch / "features") as features:
            for shard in self._checked():
                rows.append(shard.rows)
                failures |= shard.failures
                if len(shard.rows):
                    heads[digest(shard.weight, shard.bias)] = shard.weight, shard.bias
                    logits.add(shard.logits)
                    features.add(shard.features)
        if len(heads) > 1:
            raise InvalidInputError(
                f"`model` must have one head in all of a run, got several. Remove {self.work} to start again."
            )
        weight, bias = next(iter(heads.values()), (None, None))
        return Shard(np.concatenate(rows), logits.array(), features.array(), weight, bias, failures)

    def _checked(self) -> Iterator[Shard]:
        for rows in self.ranges():
            shard = self.read(rows)
            if shard is None:
                raise InvalidInputError(
                    f"`{self._file(rows)}` must be a whole shard of this run, got another or a damaged one. Run again "
                    "to compute it."
                )
            yield shard

    def _file(self, rows: range) -> Path:
        return self.work / f"shard-{rows.start:012d}.safetensors"


@final
class _Column:
    """An array that grows in a file, block by block of one type and width."""

    def __init__(self, file: Path) -> None:
        self.file, self.stream = file, open(file, "xb")  # noqa: SIM115
        self.kinds: set[Any] = set()
        self.n = 0

    def __enter__(self) -> "_Column":
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def add(self, block: NDArray[Any] | None) -> None:
        self.kinds.add(None if block is None else (block.dtype, block.shape[1:]))
        if len(self.kinds) > 1:
            kinds = " and ".join(sorted("none" if kind is None else f"{kind[0]} {kind[1]}" for kind in self.kinds))
            raise InvalidInputError(
                f"`model` must give {self.file.name} of one type and width, got {kinds} in one run."
            )
        if block is not None:
            self.stream.write(np.ascontiguousarray(block).data)
            self.n += len(block)

    def array(self) -> NDArray[Any] | None:
        kind = next(iter(self.kinds), None)
        if kind is None:
            return None
        shape = (self.n, *kind[1])
        if os.path.getsize(self.file) != np.prod(shape, dtype=np.int64) * kind[0].itemsize:
            raise InvalidInputError(f"`{self.file}` must hold all rows, got another size. Run again.")
        return np.memmap(self.file, dtype=kind[0], mode="r", shape=shape)
