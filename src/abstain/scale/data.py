"""`ParquetData`: many Parquet files as one table of outputs, known by their footers, read part by part."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Self, final

from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest
from abstain.outputs.column_names import spelled, unused_words
from abstain.scale.locations import Location, find_files, listed
from abstain.scale.parquet_file import opened

PORTION = 1 << 27  # bytes, uncompressed: about a second of work, so that little is lost with a worker
FOOTERS = 16  # read at once


@final
@dataclass(frozen=True)
class ParquetShard:
    """One file."""

    path: str
    """In its file system."""
    name: str
    """As people name it."""
    fingerprint: str
    """Of path, size and time of change."""
    first: int
    """Rows in the files before it."""
    groups: tuple[tuple[int, int], ...]
    """Rows and bytes of each row group."""
    columns: tuple[str, ...]
    """Those that are read, in the order of the first file, which is that of named classes."""
    unused: str | None
    """A note on those that are not."""
    group: str | None
    """The column that names groups, if that is not called group."""

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(rows for rows, _ in self.groups)


@final
@dataclass(frozen=True)
class Portion:
    """Row groups of a file that follow each other: what one task reads."""

    shard: ParquetShard
    groups: range
    offset: int
    """Rows of the file before it."""
    rows: int

    @property
    def first(self) -> int:
        """Rows of all files before it."""
        return self.shard.first + self.offset

    @property
    def fingerprint(self) -> str:
        """Of the file, the row groups, and their position among all rows."""
        return digest(self.shard.fingerprint, self.first, self.groups.start, self.groups.stop)


@final
@dataclass(frozen=True)
class ParquetData:
    """Files of the same columns, in the order of their names; rows are numbered through all of them."""

    filesystem: Any
    shards: tuple[ParquetShard, ...]

    @classmethod
    def open(
        cls, locations: Location | Iterable[Location], /, *, filesystem: Any = None, group: str | None = None
    ) -> Self:
        """Find the files and read their footers; one that is damaged or has other columns is an error that names it.

        ``group`` is the column that names groups, if that is not called group.
        """
        system, files = find_files(listed(locations), filesystem)
        with ThreadPoolExecutor(FOOTERS) as pool:
            shards = list(pool.map(lambda file: _shard(system, *file, group=group), files))
        _check_columns(shards)
        firsts = accumulate((shard.rows for shard in shards), initial=0)
        pairs, columns = zip(shards, firsts, strict=False), shards[0].columns
        data = cls(system, tuple(replace(shard, first=first, columns=columns) for shard, first in pairs))
        if not data.rows:
            raise InvalidInputError(f"`{data.shards[0].name}` must have at least one row in some file, got none.")
        return data

    @property
    def rows(self) -> int:
        """Of all files."""
        return sum(shard.rows for shard in self.shards)

    def portions(self, *, whole_files: bool = False) -> list[Portion]:
        """All rows, in parts that never cross a file; of ``whole_files`` one for each, also where it has no rows."""
        return [portion for shard in self.shards for portion in _portions(shard, whole_files)]


def _shard(system: Any, name: str, info: Any, *, group: str | None) -> ParquetShard:
    with opened(system, info.path, name) as file:
        metadata, names = file.metadata, file.schema_arrow.names
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if len(set(names)) != len(names):
        raise InvalidInputError(f"`{name}` must have distinct column names, got {', '.join(names[:20])}.")
    return ParquetShard(
        path=info.path,
        name=name,
        fingerprint=digest(info.path, info.size, info.mtime_ns),
        first=0,
        groups=tuple((group.num_rows, group.total_byte_size) for group in groups),
        columns=tuple(dict.fromkeys((*spelled(names), *(name for name in names if name == group)))),
        unused=unused_words(names, group=group),
        group=group,
    )


def _check_columns(shards: list[ParquetShard]) -> None:
    """All files must have the columns that the first has."""
    first = shards[0]
    for shard in shards[1:]:
        if missing := sorted({*first.columns} - {*shard.columns}):
            raise InvalidInputError(
                f"`{shard.name}` must have the columns of {first.name}, got none called {missing[0]}."
            )
        if extra := sorted({*shard.columns} - {*first.columns}):
            raise InvalidInputError(f"`{shard.name}` must have the columns of {first.name}, got also {extra[0]}.")


def _portions(shard: ParquetShard, whole: bool) -> Iterator[Portion]:
    start = offset = rows = size = 0
    for number, (more, more_bytes) in enumerate(shard.groups):
        if rows and not whole and size + more_bytes > PORTION:
            yield Portion(shard, range(start, number), offset, rows)
            start, offset, rows, size = number, offset + rows, 0, 0
        rows, size = rows + more, size + more_bytes
    if rows or whole:
        yield Portion(shard, range(start, len(shard.groups)), offset, rows)
