"""Digests of what a run depends on, so that a result is never taken for that of other inputs."""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from logging import Logger
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

BLOCK = 1 << 24
PROBES = 5


def digest(*values: Any) -> str:
    """A digest of arrays, tensors, images, texts, numbers, functions, and whatever is made of them.

    A function counts by its code and by what it has caught, such as a seed; an object by its type and attributes.
    """
    found = sha256()
    seen: dict[int, Any] = {}
    for value in values:
        _feed(found, value, seen)
    return found.hexdigest()[:16]


def _feed(found: Any, value: Any, seen: dict[int, Any]) -> None:
    found.update(type(value).__name__.encode())
    if isinstance(value, bytes | bytearray):
        found.update(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            _feed(found, name, seen)
            _feed(found, item, seen)
    elif isinstance(value, list | tuple):
        found.update(str(len(value)).encode())
        for item in value:
            _feed(found, item, seen)
    elif hasattr(value, "tocsr"):  # a sparse matrix
        rows = value.tocsr()
        _feed(found, (rows.shape, rows.data, rows.indices, rows.indptr), seen)
    elif isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        _feed_array(found, value, seen)
    elif hasattr(value, "__array_interface__"):  # an image
        _feed_array(found, np.asarray(value), seen)
    elif isinstance(value, str | int | float | complex | bool | None):
        found.update(repr(value).encode())
    elif id(value) not in seen:  # what holds itself counts once
        seen[id(value)] = value
        _feed(found, _parts(value), seen)


def _parts(value: Any) -> list[Any]:
    """What an object is made of, of simpler kinds than itself."""
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, CodeType):
        return [value.co_code, list(value.co_names), list(value.co_consts)]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, type | ModuleType | BuiltinFunctionType | np.ufunc):
        return [getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__)]
    if isinstance(value, set | frozenset):
        return sorted(digest(item) for item in value)
    if isinstance(value, np.random.Generator):
        return [value.bit_generator.state]
    if isinstance(value, PurePath | Logger):
        return [str(value)]
    return _attributes(value)


def _attributes(value: Any) -> list[Any]:
    """What an object holds; of one that shows nothing its words, unless they tell its place in memory."""
    if hasattr(value, "state_dict"):
        return [repr(value), value.state_dict()]
    named = dict(getattr(value, "__dict__", {}))
    named |= {name: getattr(value, name, None) for kind in type(value).__mro__ for name in _slots(kind)}
    if named:
        return [type(value).__qualname__, named]
    words = repr(value)
    return [type(value).__qualname__] if " at 0x" in words else [words]


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    return [name for name in ((slots,) if isinstance(slots, str) else slots) if not name.startswith("__")]


def _feed_array(found: Any, value: Any, seen: dict[int, Any]) -> None:
    array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    found.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype.kind == "O":
        for item in array.flat if array.ndim else ():
            _feed(found, item, seen)
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
