"""How kernels are compiled: cached on disk (`abstain._kernels.cache`), some of them ahead of time.

A kernel declares the combinations of argument types it is usually called with. `python -m abstain._kernels` compiles
all of these; any other combination is compiled when it is first called.
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

MESSAGE = (
    "abstain: compiling its kernels, once per installation: about half a minute. "
    "`python -m abstain._kernels` does it ahead of time."
)


@final
class Announcement(event.Listener):
    """Prints a message when the first of our kernels is compiled, not when one is loaded from disk."""

    is_made = False

    def on_start(self, event: Any) -> None:
        """Print the message before the first kernel is compiled."""
        module = str(getattr(getattr(event.data.get("dispatcher"), "py_func", None), "__module__", ""))
        if not self.is_made and module.startswith("abstain.") and _is_watched():
            self.is_made = True
            print(MESSAGE, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Print nothing."""


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())


def announce_compiling() -> None:
    """Announce compilation from now on."""
    event.register("numba:compile", Announcement())


if getattr(config, "DISABLE_JIT", 0):
    raise InvalidInputError(
        "`NUMBA_DISABLE_JIT` must be 0 for abstain, whose kernels run compiled only, got 1. Unset it."
    )

Kinds = tuple[Any, ...]
flag, byte, word, whole, unsigned = types.boolean, types.uint8, types.uint32, types.int64, types.uint64
single, double = types.float32, types.float64
AHEAD: list[tuple[Any, Kinds]] = []
"""Every kernel with each combination of types it declares."""
INSIDE = {"_nrt": False, "forceinline": True}
"""Options of a function that kernels call for each row: inlined; it makes no arrays, so references are not counted."""
LATE: dict[Any, int] = {}
"""Kernels that an evaluation calls after others, numbered in the order of these calls."""


def compiled(*ways: Kinds, late: int | None = None, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile by Numba, without the lock of the interpreter and with NumPy's division by zero, which needs no branch.

    A function that only kernels call declares no types. ``late`` is given for kernels that an evaluation calls after
    others: their order. A second process compiles them meanwhile (`abstain._kernels.background`).
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
    """The type of a C-ordered array that may be written to."""
    return types.Array(kind, dimensions, "C")


def given(kind: Any, dimensions: int = 2, /) -> Any:
    """The type of what `as_given` returns."""
    return types.Array(kind, dimensions, "C", readonly=True)


def as_given(rows: NDArray[np.floating], /) -> NDArray[np.floating]:
    """Rows to read, C-ordered, in float32 or float64: the same type whether they come from memory or from a file."""
    return read_only(np.ascontiguousarray(rows, dtype=np.float64 if rows.dtype.itemsize > 4 else np.float32))


def read_only(values: NDArray[Any], /) -> NDArray[Any]:
    """A view that cannot be written to, as arrays from files or from callers may be."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view
