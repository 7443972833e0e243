"""The shards of a run on disk: one file each, written whole or not at all, with a digest of what the run depends on."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.collect.model import Model
from abstain.files import write_whole

HEAD = "head.npz"


@final
@dataclass(frozen=True)
class Shards:
    """``n`` rows in files of ``size`` rows; a file that does not have the digest ``belongs`` is of another run."""

    work: Path
    belongs: str
    n: int
    size: int

    def ranges(self) -> Iterator[range]:
        """The rows of each shard."""
        for first in range(0, self.n, self.size):
            yield range(first, min(first + self.size, self.n))

    def has(self, rows: range) -> bool:
        """Whether the shard is there, can be read, and is of this run."""
        return self._is_ours(self._file(rows))

    def write(self, rows: range, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep what the model said of the rows."""
        self._save(self._file(rows), arrays)

    def keep_head(self, model: Model) -> None:
        """Store the head once it is known: a model may find it in its first batch only, and a run may go on after."""
        weight, bias = model.head()
        if weight is not None and not self._is_ours(self.work / HEAD):
            self._save(self.work / HEAD, {"weight": weight} if bias is None else {"weight": weight, "bias": bias})

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight and bias that were kept."""
        if not self._is_ours(self.work / HEAD):
            return None, None
        with np.load(self.work / HEAD, allow_pickle=False) as arrays:
            return arrays["weight"], arrays["bias"] if "bias" in arrays.files else None

    def __iter__(self) -> Iterator[Any]:
        for rows in self.ranges():
            with np.load(self._file(rows), allow_pickle=False) as arrays:
                if str(arrays["belongs"]) != self.belongs:
                    raise ValueError(f"`{self.work}` must be of one run, got shards of another at work. Run again.")
                yield arrays

    def joined(self, name: str, n: int) -> NDArray[Any] | None:
        """An array of all shards in a file, without holding more than one of them in memory."""
        target, start = None, 0
        for shard in self:
            if name not in shard.files:
                if name == "features" or not len(shard["rows"]):
                    continue
                raise ValueError(f"`{self.work}` must hold whole shards, got one without {name}.")
            block = shard[name]
            if target is None:
                target = np.lib.format.open_memmap(
                    self.work / f"{name}.npy", mode="w+", dtype=block.dtype, shape=(n, *block.shape[1:])
                )
            target[start : start + len(block)] = block
            start += len(block)
        return target

    def _file(self, rows: range) -> Path:
        return self.work / f"shard-{rows.start:012d}.npz"

    def _is_ours(self, file: Path) -> bool:
        if not file.exists():
            return False
        try:
            with np.load(file, allow_pickle=False) as arrays:
                return str(arrays["belongs"]) == self.belongs
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return False

    def _save(self, file: Path, arrays: dict[str, NDArray[Any]]) -> None:
        def write(partial: Path) -> None:
            with open(partial, "wb") as stream:
                np.savez(stream, **arrays, belongs=np.array(self.belongs))  # type: ignore[arg-type]

        write_whole(file, write)
