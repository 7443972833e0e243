"""Compiled functions, kept on disk (`abstain.kernels.cache`), and what each is compiled for ahead of its first call.

A kernel declares the kinds of its arguments, one tuple for each way it is called. They are hints: `python -m
abstain.kernels` compiles them all, and what they lack is compiled when it is first met.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite.binding import ffi
from numba import njit, types
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from abstain.kernels.announcement import announce_compiling
from abstain.kernels.cache import KernelCache

if getattr(config, "DISABLE_JIT", 0):
    raise ImportError("`NUMBA_DISABLE_JIT` must be 0 for abstain, whose kernels run compiled only, got 1. Unset it.")

Kinds = tuple[Any, ...]
flag, byte, word, whole, unsigned = types.boolean, types.uint8, types.uint32, types.int64, types.uint64
single, double = types.float32, types.float64
AHEAD: list[tuple[Any, Kinds]] = []
"""Every kernel with each of the kinds it declares."""
LATE: dict[Any, int] = {}
"""Kernels that an evaluation meets when it has compiled others, numbered in the order in which it does."""


def compiled(
    *ways: Kinds, allocates: bool = False, late: int | None = None, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Compile by Numba, without the lock of the interpreter and with NumPy's division by zero, which needs no branch.

    A function that only kernels call declares nothing. A kernel that makes arrays or returns them says so: all others
    are spared the counting of references, and all are spared an entry for C, both of which take long to compile. One
    that an evaluation meets late says how late, so that a second process can compile it meanwhile.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        leaner: dict[str, Any] = {"no_cfunc_wrapper": True, "_nrt": allocates}
        kernel = njit(nogil=True, error_model="numpy", **leaner, **options)(function)
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
