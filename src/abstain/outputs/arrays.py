"""Arrays in .npy and .npz files: their size is checked before memory is taken, and nothing is unpickled."""

import io
import os
import warnings
import zipfile
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain.files import reading

LONGEST_HEADER = 1 << 16
LARGEST_EXPANSION = 200  # times what is stored
ALWAYS_EXPANDED = 1 << 30  # bytes
BESIDE = 120  # bytes of an archive beside an array and its name, at most; an array takes more
OTHER = "another kind of file. Outputs are in a folder written by Outputs.save, an .npz, a .csv or a .parquet."
STARTS = {b"\x93NUMPY": "a single array", b"\x80": "pickled objects, which are never read", b"": "an empty file"}


class _Layout(NamedTuple):
    """What the header of a .npy file says."""

    shape: tuple[int, ...]
    order: Any
    dtype: np.dtype[Any]
    offset: int

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self.offset + prod(self.shape) * self.dtype.itemsize


def read_npy(file: Path, /) -> NDArray[Any]:
    """The array in a .npy file, memory-mapped."""
    rule = f"`{file}` must be a whole .npy array without pickled objects"
    with reading(file, "a .npy array"):
        try:
            with open(file, "rb") as stream:
                layout, size = _layout(stream), os.fstat(stream.fileno()).st_size
            if layout.size != size:
                raise ValueError(f"{told(size)} where its header says {told(layout.size)}")
            return np.asarray(np.memmap(file, layout.dtype, "r", layout.offset, layout.shape, layout.order))
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            raise
        except Exception as error:  # a damaged header fails in as many ways as Python's own parser knows
            raise ValueError(f"{rule}, got {_reason(error)}. Save it again.") from None


def read_npz(file: Path, wanted: Iterable[str] | None = None, /) -> dict[str, NDArray[Any]]:
    """The arrays in an .npz file by name; one that is not ``wanted`` is None."""
    with reading(file, "an .npz file"), open(file, "rb") as stream:
        start = stream.read(6)
        if not start.startswith(b"PK"):
            kind = next((f"{kind}." for sign, kind in STARTS.items() if sign in (start, start[:1])), OTHER)
            raise ValueError(f"`{file}` must be a whole .npz file without pickled objects, got {kind}")
        try:
            with zipfile.ZipFile(stream) as archive:
                members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                if len(members) != len(archive.infolist()):
                    raise ValueError("two arrays of one name")
                _check_all_is_listed(archive)
                chosen = {name for name in members if wanted is None or name in set(wanted)}
                layouts = {name: _member(archive, members[name]) for name in chosen}
                check_memory(sum(layout.size for layout in layouts.values()))
                return {name: _read(archive, members[name], layouts.get(name)) for name in members}
        except Exception as error:  # a damaged archive or header fails in many ways
            raise ValueError(
                f"`{file}` must be a whole .npz file without pickled objects, got {_reason(error)}."
            ) from None


def told(size: int, /) -> str:
    """A number of bytes in words."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB")):
        if size >= 1000**power:
            return f"{size / 1000**power:,.1f} {unit}"
    return f"{size:,} bytes"


def _layout(stream: IO[bytes]) -> _Layout:
    start = io.BytesIO(stream.read(LONGEST_HEADER + 12))
    if start.read(1) != b"\x93":
        first = start.getvalue()[:1]
        raise ValueError(STARTS.get(first, "another kind of file"))
    start.seek(0)
    version = np.lib.format.read_magic(start)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"a .npy file of version {version[0]}.{version[1]}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the parser, about escapes in a header that is none
        shape, is_fortran, dtype = read(start)
    if dtype.hasobject:
        raise ValueError(STARTS[b"\x80"])
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"the shape {shape}")
    return _Layout(shape, "F" if is_fortran else "C", dtype, start.tell())


def _check_all_is_listed(archive: zipfile.ZipFile) -> None:
    """Nothing in an archive may be left out of its list, as an array is where a bit of the list is wrong."""
    listed = sorted(archive.infolist(), key=lambda info: info.header_offset)
    ends = [info.header_offset + info.compress_size + len(info.orig_filename) for info in listed]
    starts = [*(info.header_offset for info in listed), archive.start_dir]
    if any(start - end > BESIDE for start, end in zip(starts, [0, *ends], strict=True)):
        raise ValueError("bytes that belong to no array in its list")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Layout:
    """What an array in an archive will take; one that says more or less than is there is an error."""
    name, size, stored = info.filename, info.file_size, info.compress_size
    with archive.open(info) as stream:
        layout = _layout(stream)
    if layout.size != size or (info.compress_type == zipfile.ZIP_STORED and size != stored):
        has = size if layout.size != size else stored
        raise ValueError(f"{told(has)} in {name} where its header says {told(layout.size)}")
    check_expansion(name, stored, size)
    return layout


def check_expansion(name: str, stored: int, size: int, /) -> None:
    """What is stored under a name must not become large and many times larger, as data of nobody's own do."""
    if size > ALWAYS_EXPANDED and size > LARGEST_EXPANSION * stored:
        raise ValueError(
            f"{told(stored)} in {name} that would become {told(size)}. If that is meant, save it uncompressed"
        )


def check_memory(size: int, /) -> None:
    """Arrays of so many bytes must fit into what is free."""
    free = _free_memory()
    if free is not None and size > free:
        raise ValueError(f"arrays of {told(size)} where {told(free)} of memory are free. Save them with Outputs.save")


def _free_memory() -> int | None:
    """Bytes that can be taken without swapping, None where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, layout: _Layout | None) -> Any:
    if layout is None:
        return None
    with archive.open(info) as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
        stream.read(1)  # to the end, where the checksum is
        return array


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
