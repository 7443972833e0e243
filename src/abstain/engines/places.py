"""Where Parquet files are: a file, a folder, a pattern or an address, here or in an object store."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import PurePosixPath
from typing import Any

from abstain.extras import require
from abstain.foreign import foreign
from abstain.outputs.header import HEADER
from abstain.outputs.load import PAPER_FILES

Place = str | PathLike[str]
ENDING = ".parquet"
PATTERN = set("*?[")


def is_sharded(place: Place, /) -> bool:
    """Whether a place is one of Parquet files: a pattern, an address, or a folder with some and without outputs."""
    text = os.fspath(place)
    if "://" in text or (PATTERN & set(text) and not os.path.exists(text)):
        return True
    if not os.path.isdir(text) or any(
        os.path.exists(os.path.join(text, name)) for name in (HEADER, *PAPER_FILES.values())
    ):
        return False
    inside = (os.path.relpath(os.path.join(folder, name), text) for folder, _, names in os.walk(text) for name in names)
    return any(_is_data(PurePosixPath(name)) for name in inside)


def listed(places: Place | Iterable[Place], /) -> list[Place]:
    """One place or several as a list."""
    return [places] if isinstance(places, str) or not isinstance(places, Iterable) else list(places)


def place_of(paths: Iterable[str], system: Any, places: Iterable[Place], filesystem: Any, /) -> Place | None:
    """The first place that would read a file at one of these paths of a file system; None if none would."""
    fs = require("pyarrow.fs", extra="scale", feature="Reading Parquet files")
    goals = {_real(path, system) for path in paths}
    for place in places:
        own, base, _ = _located(fs, os.fspath(place), filesystem)
        base = _real(base, own)
        folder = f"{base.rstrip('/')}/" if own.get_file_info(base).type == fs.FileType.Directory else None
        inside = [PurePosixPath(path.removeprefix(folder)) for path in goals if folder and path.startswith(folder)]
        by_pattern = folder is None and PATTERN & set(base) and any(_fits(path, base) for path in goals)
        if own == system and (base in goals or any(map(_is_data, inside)) or by_pattern):
            return place
    return None


def _real(path: str, system: Any) -> str:
    """The path that it leads to, whatever links are in it."""
    return os.path.realpath(path) if system.type_name == "local" else path


def found_files(places: Iterable[Place], filesystem: Any, /) -> tuple[Any, list[tuple[str, Any]]]:
    """The file system, and name and information of each file, in the order of the names; all must be in one system."""
    fs = require("pyarrow.fs", extra="scale", feature="Reading Parquet files")
    systems, files = [], {}
    for place in places:
        system, base, prefix = _located(fs, os.fspath(place), filesystem)
        systems.append(system)
        with foreign(f"`{place}` must be a place of Parquet files that can be read"):
            for info in _matching(fs, system, base, os.fspath(place)):
                if info.path in files:
                    raise ValueError(f"`{place}` must name files that are not named before, got {info.path} again.")
                files[info.path] = (_shown(prefix, info.path), info)
    if not systems:
        raise ValueError("`data` must name Parquet files, got none.")
    if any(other != systems[0] for other in systems[1:]):
        raise ValueError("`data` must be in one file system, got several. Evaluate each, or copy them together.")
    return systems[0], [files[path] for path in sorted(files)]


def _located(fs: Any, place: str, filesystem: Any) -> tuple[Any, str, str | None]:
    """The file system, the path in it, and what stands before a path to name it; None for a path from here."""
    if filesystem is not None:
        return filesystem, place, ""
    if "://" not in place:
        return fs.LocalFileSystem(), os.path.abspath(place), "" if os.path.isabs(place) else None
    scheme = place.partition("://")[0]
    with foreign(f"`{place}` must be an address that PyArrow knows, such as s3://bucket/data or gs://bucket/data"):
        base, star, pattern = _before_pattern(place)
        system, path = fs.FileSystem.from_uri(base)
    return system, f"{path.rstrip('/')}/{pattern}" if star else path, f"{scheme}://"


def _before_pattern(place: str) -> tuple[str, bool, str]:
    """The folders before the first one with a pattern, whether there is one, and the rest."""
    parts = place.split("/")
    first = next((number for number, part in enumerate(parts) if PATTERN & set(part)), None)
    return (place, False, "") if first is None else ("/".join(parts[:first]), True, "/".join(parts[first:]))


def _matching(fs: Any, system: Any, path: str, place: str) -> list[Any]:
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        return [info]
    if info.type == fs.FileType.Directory:
        inside = system.get_file_info(fs.FileSelector(path, recursive=True))
        found = [one for one in inside if one.is_file and _is_data(PurePosixPath(one.path[len(path) :].lstrip("/")))]
    else:
        base, is_pattern, pattern = _before_pattern(path)
        if "**" in pattern:
            raise ValueError(f"`{place}` must have no **, got one. Name the folder: all that is below it is read.")
        if not is_pattern:
            raise FileNotFoundError(f"`{place}` must exist, got no such file or folder.")
        selector = fs.FileSelector(base or ".", recursive="/" in pattern, allow_not_found=True)
        found = [one for one in system.get_file_info(selector) if one.is_file and _fits(one.path, path)]
    if not found:
        raise FileNotFoundError(f"`{place}` must have files that end in {ENDING}, got none.")
    return found


def _fits(path: str, pattern: str) -> bool:
    one, other = path.strip("/").split("/"), pattern.strip("/").split("/")
    return len(one) == len(other) and all(map(_fits_part, one, other))


def _fits_part(name: str, pattern: str) -> bool:
    """As in a shell, what a writer hides fits only a pattern that begins so itself."""
    hidden = name.startswith((".", "_")) and not pattern.startswith(name[0])
    return fnmatchcase(name, pattern) and not hidden


def _is_data(path: PurePosixPath) -> bool:
    """A Parquet file, and none that a writer hides, as those begun with a dot or an underscore are."""
    return path.suffix.lower() == ENDING and not any(part.startswith((".", "_")) for part in path.parts)


def _shown(prefix: str | None, path: str) -> str:
    return os.path.relpath(path) if prefix is None else prefix + path
