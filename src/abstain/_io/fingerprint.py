"""Digests of what a result depends on; equal digests mean that a stored result can be used again."""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from logging import Logger
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from abstain._arguments import from_torch

BLOCK = 1 << 24
PROBES = 5


def digest(*values: Any) -> str:
    """A digest of arrays, tensors, images, strings, numbers, functions, and containers of them.

    A function counts by its code, its closure, such as a seed, and the globals that it reads; an object by its type and
    attributes.
    """
    sha = sha256()
    seen: dict[int, Any] = {}
    for value in values:
        _feed(sha, value, seen)
    return sha.hexdigest()[:16]


def _feed(sha: Any, value: Any, seen: dict[int, Any]) -> None:
    sha.update(type(value).__name__.encode())
    if isinstance(value, bytes | bytearray):
        sha.update(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            _feed(sha, name, seen)
            _feed(sha, item, seen)
    elif isinstance(value, list | tuple):
        sha.update(str(len(value)).encode())
        for item in value:
            _feed(sha, item, seen)
    elif hasattr(value, "tocsr"):  # a sparse matrix
        rows = value.tocsr()
        _feed(sha, (rows.shape, rows.data, rows.indices, rows.indptr), seen)
    elif isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        _feed_array(sha, value, seen)
    elif hasattr(value, "__array_interface__"):  # an image
        _feed_array(sha, np.asarray(value), seen)
    elif isinstance(value, str | int | float | complex | bool | None):
        sha.update(repr(value).encode())
    elif id(value) not in seen:  # a cycle counts once
        seen[id(value)] = value
        _feed(sha, _parts(value), seen)


def _parts(value: Any) -> list[Any]:
    """The parts of an object, each of a simpler kind."""
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, cells, _globals(value)]
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


def _globals(function: FunctionType) -> list[Any]:
    """The globals that a function reads by name; functions and classes of other modules by their names alone."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
    read = {name: function.__globals__[name] for name in sorted(names & function.__globals__.keys())}
    return [[name, _named(value, function.__module__)] for name, value in read.items()]


def _named(value: Any, module: str | None) -> Any:
    is_foreign = isinstance(value, FunctionType) and value.__module__ != module
    return [value.__module__, value.__qualname__] if is_foreign else value


def _attributes(value: Any) -> list[Any]:
    """The state of an object, or its repr if it has none, unless the repr contains a memory address."""
    if hasattr(value, "state_dict"):
        return [repr(value), value.state_dict(), _modules(value)]
    if (state := _state(value)) is not None:
        return [type(value).__qualname__, state]
    shown = repr(value)
    return [type(value).__qualname__] if " at 0x" in shown else [shown]


def _state(value: Any) -> Any:
    """What would be pickled: attributes and slots, or what a compiled object gives in their place."""
    try:  # an estimator of scikit-learn would add the version of that
        state = vars(value) if hasattr(value, "get_params") else value.__getstate__()
    except Exception:  # an object that cannot be pickled
        state = getattr(value, "__dict__", None)
    return None if isinstance(state, dict) and not state else state


def _modules(value: Any) -> dict[str, Any]:
    """What each part of a PyTorch module does, and its plain attributes, which state and repr need not show."""
    named = value.named_modules() if hasattr(value, "named_modules") else ()
    return {name: (type(part).forward, _settings(part)) for name, part in named}


def _settings(part: Any) -> dict[str, Any]:
    plain = (bool, int, float, complex, str, tuple)
    return {n: v for n, v in vars(part).items() if isinstance(v, plain) and n[0] != "_" and n != "training"}


def _feed_array(sha: Any, value: Any, seen: dict[int, Any]) -> None:
    array = np.asarray(from_torch(value))
    sha.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype.kind == "O":
        for item in array.flat if array.ndim else ():
            _feed(sha, item, seen)
        return
    rows = max(1, BLOCK // max(1, array[:1].nbytes)) if array.ndim else 1
    for start in range(0, len(array) if array.ndim else 1, rows):  # a mapped file is never held whole
        part = array[start : start + rows] if array.ndim else array
        sha.update(np.ascontiguousarray(part).tobytes())


def files_digest(files: Iterable[Path], /) -> str:
    """A digest of names, sizes and modification times, which reads no file."""
    return digest([(file.name, (state := file.stat()).st_size, state.st_mtime_ns) for file in files])


def probed(inputs: Sequence[Any] | Any, n: int, /) -> str:
    """A digest of a few inputs, after their transform; an input that cannot be read counts by its error."""
    values = []
    for row in sorted({round(position) for position in np.linspace(0, n - 1, min(PROBES, n))}):
        try:
            values.append(inputs[row])
        except Exception as error:
            values.append(f"{type(error).__name__}: {error}")
    return digest(values)
