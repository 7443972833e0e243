"""Compiled kernels on disk with other bytes."""

from pathlib import Path

import numpy as np
from alter import altered_bytes
from kind import Kind, expect

from abstain._kernels.cache import KernelCache
from abstain._kernels.compilation import compiled


class Kernels(Kind):
    """Wrong: a kernel that is loaded from altered bytes, or one that is not there after it was compiled."""

    name = "kernel"
    share = 0.5

    def __init__(self, folder: Path) -> None:
        self.file = folder / "outer.kernel"
        self.kernel = compiled()(lambda x: 2 * x)
        self.cache = KernelCache(self.kernel.py_func)
        self.cache._file = lambda _: self.file  # type: ignore[method-assign]
        self.kernel._cache = self.cache
        self.kernel(21)
        self.content = self.file.read_bytes()

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the file, put something else in its place, or leave it."""
        content = altered_bytes(rng, self.content) if rng.random() < 0.9 else rng.bytes(int(rng.integers(200)))
        content = self.content if rng.random() < 0.1 else content
        self.file.write_bytes(content)
        (sig,) = self.kernel.overloads
        result = self.cache.load_overload(sig, self.kernel.targetctx)
        expect(result is not None or content != self.content, "a kernel that is not found again")
        if result is None:
            self.cache.save_overload(sig, self.kernel.overloads[sig])
            return "refused"
        expect(content == self.content, "a kernel of altered bytes")
        return "taken"
