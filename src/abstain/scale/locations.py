"""Where Parquet files are: a file, a folder, a pattern or an address, here or in an object store."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import PurePosixPath
from typing import Any

from abstain._errors import InvalidInputError, MissingFileError, foreign
from abstain._extras import require
from abstain.outputs.header import HEADER
from abstain.outputs.load import PAPER_FILES

Location = str | PathLike[str]
ENDING = ".parquet"
PATTERN = set("*?[")


def is_sharded(location: Location, /) -> bool:
    """Whether this is a location of Parquet files: a pattern, an address, or a folder of them."""
    text = os.fspath(location)
    if "://" in text or (PATTERN & set(text) and not os.path.exists(text)):
        return True
    if not os.path.isdir(text) or any(
        os.path.exists(os.path.join(text, name)) for name in (HEADER, *PAPER_FILES.values())
    ):
        return False
    inside = (os.path.relpath(os.path.join(folder, name), text) for folder, _, names in os.walk(text) for name in names)
    return any(_is_data(PurePosixPath(name)) for name in inside)


def listed(locations: Location | Iterable[Location], /) -> list[Location]:
    """One location or several as a list."""
    return [locations] if isinstance(locations, str) or not isinstance(locations, Iterable) else list(locations)


def location_reading(
    paths: Iterable[str], system: Any, locations: Iterable[Location], filesystem: Any, /
) -> Location | None:
    """The first location that would read a file at one of these paths of a file system; None if none would."""
    fs = require("pyarrow.fs", extra="scale", feature="Reading Parquet files")
    wanted = {_real(path, system) for path in paths}
    for location in locations:
        own, base, _ = _located(fs, os.fspath(location), filesystem)
        base = _real(base, own)
        folder = f"{base.rstrip('/')}/" if own.get_file_info(base).type == fs.FileType.Directory else None
        inside = [PurePosixPath(path.removeprefix(folder)) for path in wanted if folder and path.startswith(folder)]
        by_pattern = folder is None and PATTERN & set(base) and any(_fits(path, base) for path in wanted)
        if own == system and (base in wanted or any(map(_is_data, inside)) or by_pattern):
            return location
    return None


def _real(path: str, system: Any) -> str:
    """The path that it leads to, whatever links are in it."""
    return os.path.realpath(path) if system.type_name == "local" else path


def find_files(locations: Iterable[Location], filesystem: Any, /) -> tuple[Any, list[tuple[str, Any]]]:
    """The file system, and name and information of each file, in the order of the names; all must be in one system."""
    fs = require("pyarrow.fs", extra="scale", feature="Reading Parquet files")
    systems, files = [], {}
    for location in locations:
        system, base, prefix = _located(fs, os.fspath(location), filesystem)
        systems.append(system)
        with foreign(f"`{location}` must be a location of readable Parquet files"):
            for info in _matching(fs, system, base, os.fspath(location)):
                if info.path in files:
                    raise InvalidInputError(f"`{location}` must not name a file twice, got {info.path} again.")
                files[info.path] = (_shown(prefix, info.path), info)
    if not systems:
        raise InvalidInputError("`data` must name Parquet files, got none.")
    if any(other != systems[0] for other in systems[1:]):
        raise InvalidInputError(
            "`data` must be in a single file system, got several. Sketch each and merge, or copy them together."
        )
    return systems[0], [files[path] for path in sorted(files)]


def _located(fs: Any, location: str, filesystem: Any) -> tuple[Any, str, str | None]:
    """The file system, the path in it, and what stands before a path to name it; None for a path from here."""
    if filesystem is not None:
        return filesystem, location, ""
    if "://" not in location:
        return fs.LocalFileSystem(), os.path.abspath(location), "" if os.path.isabs(location) else None
    scheme = location.partition("://")[0]
    with foreign(f"`{location}` must be an address that PyArrow knows, such as s3://bucket/data or gs://bucket/data"):
        base, star, pattern = _before_pattern(location)
        system, path = fs.FileSystem.from_uri(base)
    return system, f"{path.rstrip('/')}/{pattern}" if star else path, f"{scheme}://"


def _before_pattern(location: str) -> tuple[str, bool, str]:
    """The folders before the first one with a pattern, whether there is one, and the rest."""
    parts = location.split("/")
    first = next((number for number, part in enumerate(parts) if PATTERN & set(part)), None)
    return (location, False, "") if first is None else ("/".join(parts[:first]), True, "/".join(parts[first:]))


def _matching(fs: Any, system: Any, path: str, location: str) -> list[Any]:
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        return [info]
    if info.type == fs.FileType.Directory:
        inside = system.get_file_info(fs.FileSelector(path, recursive=True))
        files = [
            info for info in inside if info.is_file and _is_data(PurePosixPath(info.path[len(path) :].lstrip("/")))
        ]
    else:
        base, is_pattern, pattern = _before_pattern(path)
        if "**" in pattern:
            raise InvalidInputError(
                f"`{location}` must not contain **, got it. Name the folder: all files below it are read."
            )
        if not is_pattern:
            raise MissingFileError(f"`{location}` must exist, got no such file or folder.")
        selector = fs.FileSelector(base or ".", recursive="/" in pattern, allow_not_found=True)
        files = [info for info in system.get_file_info(selector) if info.is_file and _fits(info.path, path)]
    if not files:
        raise MissingFileError(f"`{location}` must have files that end in {ENDING}, got none.")
    return files


def _fits(path: str, pattern: str) -> bool:
    names, patterns = path.strip("/").split("/"), pattern.strip("/").split("/")
    return len(names) == len(patterns) and all(map(_fits_part, names, patterns))


def _fits_part(name: str, pattern: str) -> bool:
    """As in a shell, what a writer hides fits only a pattern that begins so itself."""
    hidden = name.startswith((".", "_")) and not pattern.startswith(name[0])
    return fnmatchcase(name, pattern) and not hidden


def _is_data(path: PurePosixPath) -> bool:
    """A Parquet file, and none that a writer hides, as those begun with a dot or an underscore are."""
    return path.suffix.lower() == ENDING and not any(part.startswith((".", "_")) for part in path.parts)


def _shown(prefix: str | None, path: str) -> str:
    return os.path.relpath(path) if prefix is None else prefix + path
