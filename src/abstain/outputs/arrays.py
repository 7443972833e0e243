"""Arrays in .npy and .npz files: their size is checked before memory is allocated, and nothing is unpickled."""

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

from abstain._errors import InvalidInputError
from abstain._io.files import reading

LONGEST_HEADER = 1 << 16
LARGEST_EXPANSION = 200  # times what is stored
ALWAYS_EXPANDED = 1 << 30  # bytes
OVERHEAD = 120  # bytes of an archive per array, without its data and name, at most; an array takes more
OTHER = (
    "another kind of file. Outputs are in a folder written by Outputs.save, an .npz, a .csv, a .parquet or a .jsonl."
)
STARTS = {b"\x93NUMPY": "a single array", b"\x80": "pickled objects, which are never read", b"": "an empty file"}


class _Layout(NamedTuple):
    """The header of a .npy file."""

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
                raise InvalidInputError(f"{size_text(size)} where its header says {size_text(layout.size)}")
            return np.asarray(np.memmap(file, layout.dtype, "r", layout.offset, layout.shape, layout.order))
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            raise
        except Exception as error:  # a damaged header fails in as many ways as Python's own parser knows
            raise InvalidInputError(f"{rule}, got {_reason(error)}. Save it again.") from None


def read_npz(file: Path, wanted: Iterable[str] | None = None, /) -> dict[str, NDArray[Any]]:
    """The arrays in an .npz file by name; None for those that are not ``wanted``."""
    with reading(file, "an .npz file"), open(file, "rb") as stream:
        start = stream.read(6)
        if not start.startswith(b"PK"):
            kind = next((f"{kind}." for sign, kind in STARTS.items() if sign in (start, start[:1])), OTHER)
            raise InvalidInputError(f"`{file}` must be a whole .npz file without pickled objects, got {kind}")
        try:
            with zipfile.ZipFile(stream) as archive:
                members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                if len(members) != len(archive.infolist()):
                    raise InvalidInputError("two arrays of one name")
                _check_all_is_listed(archive)
                chosen = {name for name in members if wanted is None or name in set(wanted)}
                layouts = {name: _member(archive, members[name]) for name in chosen}
                check_memory(sum(layout.size for layout in layouts.values()))
                return {name: _read(archive, members[name], layouts.get(name)) for name in members}
        except Exception as error:  # a damaged archive or header fails in many ways
            raise InvalidInputError(
                f"`{file}` must be a whole .npz file without pickled objects, got {_reason(error)}."
            ) from None


def size_text(size: int, /) -> str:
    """A number of bytes with its unit."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB")):
        if size >= 1000**power:
            return f"{size / 1000**power:,.1f} {unit}"
    return f"{size:,} bytes"


def _layout(stream: IO[bytes]) -> _Layout:
    start = io.BytesIO(stream.read(LONGEST_HEADER + 12))
    if start.read(1) != b"\x93":
        first = start.getvalue()[:1]
        raise InvalidInputError(STARTS.get(first, "another kind of file"))
    start.seek(0)
    version = np.lib.format.read_magic(start)
    if version not in ((1, 0), (2, 0)):
        raise InvalidInputError(f"a .npy file of version {version[0]}.{version[1]}")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the parser, about escapes in a damaged header
        shape, is_fortran, dtype = read(start)
    if dtype.hasobject:
        raise InvalidInputError(STARTS[b"\x80"])
    if any(type(length) is not int or length < 0 for length in shape):
        raise InvalidInputError(f"the shape {shape}")
    return _Layout(shape, "F" if is_fortran else "C", dtype, start.tell())


def _check_all_is_listed(archive: zipfile.ZipFile) -> None:
    """Refuse an archive with bytes that its list does not name, as where a bit of the list is wrong."""
    listed = sorted(archive.infolist(), key=lambda info: info.header_offset)
    ends = [info.header_offset + info.compress_size + len(info.orig_filename) for info in listed]
    starts = [*(info.header_offset for info in listed), archive.start_dir]
    if any(start - end > OVERHEAD for start, end in zip(starts, [0, *ends], strict=True)):
        raise InvalidInputError("bytes that belong to no array in its list")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Layout:
    """The header of an array in an archive; an error where it disagrees with the stored size."""
    name, size, stored = info.filename, info.file_size, info.compress_size
    with archive.open(info) as stream:
        layout = _layout(stream)
    if layout.size != size or (info.compress_type == zipfile.ZIP_STORED and size != stored):
        has = size if layout.size != size else stored
        raise InvalidInputError(f"{size_text(has)} in {name} where its header says {size_text(layout.size)}")
    if is_bomb(stored, size):
        raise InvalidInputError(
            f"{size_text(stored)} in {name} that would become {size_text(size)}. If that is meant, save it uncompressed"
        )
    return layout


def is_bomb(stored: int, size: int, /) -> bool:
    """Whether data would expand to something large and many times larger than stored, as in a zip bomb."""
    return size > ALWAYS_EXPANDED and size > LARGEST_EXPANSION * stored


def check_memory(size: int, /) -> None:
    """Refuse arrays larger than the free memory."""
    free = _free_memory()
    if free is not None and size > free:
        raise InvalidInputError(
            f"arrays of {size_text(size)} where {size_text(free)} of memory are free. Save them with Outputs.save"
        )


def _free_memory() -> int | None:
    """Bytes available without swapping, None where the system does not report it."""
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
