"""Digests of what a run depends on, so that a result is never taken for that of other inputs."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

BLOCK = 1 << 24
PROBES = 5


def digest(*values: Any) -> str:
    """A digest of arrays, tensors, images, texts, numbers, and lists, tuples and dictionaries of them."""
    found = sha256()
    for value in values:
        _feed(found, value)
    return found.hexdigest()[:16]


def _feed(found: Any, value: Any) -> None:
    found.update(type(value).__name__.encode())
    if isinstance(value, bytes | bytearray):
        found.update(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            _feed(found, name)
            _feed(found, item)
    elif isinstance(value, list | tuple):
        found.update(str(len(value)).encode())
        for item in value:
            _feed(found, item)
    elif hasattr(value, "tocsr"):  # a sparse matrix
        rows = value.tocsr()
        _feed(found, (rows.data, rows.indices, rows.indptr))
    elif isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        _feed_array(found, value)
    elif isinstance(value, str | int | float | complex | bool | None):
        found.update(repr(value).encode())


def _feed_array(found: Any, value: Any) -> None:
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    found.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype.kind == "O":
        for item in array.flat if array.ndim else ():
            _feed(found, item)
        return
    rows = max(1, BLOCK // max(1, array[:1].nbytes)) if array.ndim else 1
    for start in range(0, len(array) if array.ndim else 1, rows):  # a mapped file is never held whole
        part = array[start : start + rows] if array.ndim else array
        found.update(np.ascontiguousarray(part).tobytes())


def files_digest(files: Iterable[Path], /) -> str:
    """Of names, sizes and times of change: cheap for any number of files."""
    return digest([(file.name, (state := file.stat()).st_size, state.st_mtime_ns) for file in files])


def probed(inputs: Sequence[Any] | Any, n: int, /) -> str:
    """Of a few inputs as they come out: what a transform makes of them, or a data set that knows no digest of its own.

    An input that cannot be read counts by its error.
    """
    found = []
    for row in sorted({round(place) for place in np.linspace(0, n - 1, min(PROBES, n))}):
        try:
            found.append(inputs[row])
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return digest(found)
