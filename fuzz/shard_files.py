"""The work folder of a `collect` that was stopped, with other bytes, before it is run again."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes
from kind import Kind, expect, taken

from abstain.collect import Data, Model, collect

N, WIDTH, BATCH, SHARD, FINISHED = 60, 100, 5, 10, 7  # so wide that most bytes are numbers


class Linear(Model):
    """Logits and features of a linear layer, for so many batches."""

    name = "linear"

    def __init__(self, batches: int = N) -> None:
        self.left, self.weight = batches, np.eye(3, WIDTH, dtype=np.float32)

    def run(self, inputs: Sequence[Any]) -> Any:
        """Stop as a signal would after the last batch."""
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        features = np.stack(inputs)
        return features @ self.weight.T, features

    def head(self) -> Any:
        """The layer."""
        return self.weight, None


class Shards(Kind):
    """Wrong: outputs that differ from those of a run that was not stopped; a shard kept in spite of its bytes."""

    name = "shard"
    share = 0.3

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        self.data = Data(rng.normal(size=(N, WIDTH)).astype(np.float32), labels=rng.integers(3, size=N))
        self.folder, self.kept = folder, folder / "kept"
        self.whole = self._run(folder / "run", N)
        try:
            self._run(folder / "cut", FINISHED)
        except KeyboardInterrupt:
            (folder / ".cut.collect").rename(self.kept)
        self.work, self.run = folder / ".run.collect", folder / "run"

    def _run(self, folder: Path, batches: int) -> dict[str, bytes]:
        collect(Linear(batches), self.data, folder, batch_size=BATCH, shard_size=SHARD)
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter, remove, exchange or empty files of the work folder, then finish the run."""
        shutil.rmtree(self.run, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.kept, self.work)
        files = sorted(file for file in self.work.iterdir() if file.is_file())
        for _ in range(int(rng.integers(1, 3))):
            file, other = (files[int(k)] for k in rng.integers(len(files), size=2))
            content = file.read_bytes() if file.exists() else b""
            match int(rng.integers(8)):
                case 0:
                    file.unlink(missing_ok=True)
                case 1:
                    file.write_bytes((self.kept / other.name).read_bytes())
                case _:
                    file.write_bytes(altered_bytes(rng, content))
        result = taken(lambda: self._run(self.run, N))
        if result is None:
            expect(not self.run.exists(), "outputs in spite of an error")
            return "refused"
        expect(result == self.whole, "other outputs than those of a run that was not stopped")
        return "taken"
