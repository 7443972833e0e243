"""Compiled functions, cached on disk (`abstain._kernels.cache`), and the types each is compiled for ahead.

A kernel declares the types of its arguments, one tuple for each way it is called. They are hints: `python -m
abstain._kernels` compiles them all, and any other combination is compiled when it is first met.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, final

import numpy as np
from llvmlite.binding import ffi
from numba import njit, types
from numba.core import config, event
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._kernels.cache import KernelCache

WORDS = (
    "abstain: compiling its kernels, once for this installation: about half a minute. "
    "`python -m abstain._kernels` does it beforehand."
)


@final
class Announcement(event.Listener):
    """Prints to standard error when the first kernel of ours is compiled; one that is on disk is not."""

    is_made = False

    def on_start(self, event: Any) -> None:
        """A kernel is about to be compiled."""
        module = str(getattr(getattr(event.data.get("dispatcher"), "py_func", None), "__module__", ""))
        if not self.is_made and module.startswith("abstain.") and _is_watched():
            self.is_made = True
            print(WORDS, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())


def announce_compiling() -> None:
    """From now on."""
    event.register("numba:compile", Announcement())


if getattr(config, "DISABLE_JIT", 0):
    raise InvalidInputError(
        "`NUMBA_DISABLE_JIT` must be 0 for abstain, whose kernels run compiled only, got 1. Unset it."
    )

Kinds = tuple[Any, ...]
flag, byte, word, whole, unsigned = types.boolean, types.uint8, types.uint32, types.int64, types.uint64
single, double = types.float32, types.float64
AHEAD: list[tuple[Any, Kinds]] = []
"""Every kernel with each of the kinds it declares."""
INSIDE = {"_nrt": False, "forceinline": True}
"""Options of a function that only kernels call, row by row: it makes no arrays, so it need not count references."""
LATE: dict[Any, int] = {}
"""Kernels that an evaluation meets when it has compiled others, numbered in the order in which it does."""


def compiled(*ways: Kinds, late: int | None = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile by Numba, without the lock of the interpreter and with NumPy's division by zero, which needs no branch.

    A function that only kernels call declares nothing. A kernel that an evaluation meets late says how late, so that a
    second process can compile it meanwhile (`abstain._kernels.background`).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = njit(nogil=True, error_model="numpy", **options)(function)
        kernel._cache = KernelCache(function)
        AHEAD.extend((kernel, way) for way in ways)
        if late is not None:
            LATE[kernel] = late
        return kernel

    return decorate


if hasattr(os, "register_at_fork"):  # or a child would wait for ever for a thread that compiled when it was forked
    for lock in (ffi.lib._lock._lock, global_compiler_lock):  # the last is taken first, as it is where Numba compiles
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


announce_compiling()


def array(kind: Any, dimensions: int = 1, /) -> Any:
    """The kind of a C-ordered array that may be written to."""
    return types.Array(kind, dimensions, "C")


def given(kind: Any, dimensions: int = 2, /) -> Any:
    """The kind of what `as_given` makes of an array."""
    return types.Array(kind, dimensions, "C", readonly=True)


def as_given(rows: NDArray[np.floating], /) -> NDArray[np.floating]:
    """Rows to read, C-ordered in float32 or float64: one kind for arrays from memory, files and callers alike."""
    return read_only(np.ascontiguousarray(rows, dtype=np.float64 if rows.dtype.itemsize > 4 else np.float32))


def read_only(values: NDArray[Any], /) -> NDArray[Any]:
    """A view that cannot be written to, as arrays from files or from callers may be."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view
