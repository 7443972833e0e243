"""The folder for a file per shard, local or in an object store, each written whole or not at all."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, Self, final

from abstain._errors import FileConflictError, foreign
from abstain._extras import require
from abstain._io.files import write_whole
from abstain.scale.locations import Location, location_reading
from abstain.scale.parquet_file import opened


@final
@dataclass(frozen=True)
class OutputFolder:
    """A folder with a file for each shard, under the name it has below the folder that all shards are in."""

    system: Any
    folder: str
    base: str
    """The folder that all shards are in."""

    @classmethod
    def of(cls, folder: Location, shards: list[str], locations: list[Location], filesystem: Any, /) -> Self:
        """The folder, made if it is not there; it must not lie where its files would be read as input data."""
        fs = require("pyarrow.fs", extra="scale", feature="Writing Parquet files")
        text = os.fspath(folder)
        base = os.path.commonpath([os.path.dirname(shard) for shard in shards])
        with foreign(f"`{text}` must be a folder to write to"):
            system, path = fs.FileSystem.from_uri(text if "://" in text else os.path.abspath(text))
            if system.get_file_info(path).type == fs.FileType.File:
                raise FileConflictError(f"`{text}` must be a folder, got a file. Choose another name.")
            output = cls(system, path, base)
            if (location := location_reading(map(output._path, shards), system, locations, filesystem)) is not None:
                raise FileConflictError(
                    f"`{text}` must not be read as data, got a folder that {os.fspath(location)} reads. "
                    "Choose another, or a name that begins with an underscore."
                )
            system.create_dir(path, recursive=True)
        return output

    def _path(self, shard: str) -> str:
        return f"{self.folder.rstrip('/')}/{os.path.relpath(shard, self.base)}"

    def name(self, shard: str, /) -> str:
        """Of the file for a shard, as people name it."""
        path = self._path(shard)
        return os.path.relpath(path) if self._is_local else f"{self.system.type_name}://{path}"

    @property
    def _is_local(self) -> bool:
        return bool(self.system.type_name == "local")

    def metadata(self, shard: str, /) -> dict[bytes, bytes] | None:
        """What the writer noted in the file for a shard; None if there is none."""
        path = self._path(shard)
        if not self.system.get_file_info(path).is_file:
            return None
        with opened(self.system, path, self.name(shard)) as file:
            return dict(file.metadata.metadata or {})

    def write(self, shard: str, write: Callable[[Any], None], /) -> None:
        """Let ``write`` fill a stream, and only when it is whole give it its name."""
        path = self._path(shard)
        self.system.create_dir(os.path.dirname(path), recursive=True)
        if self._is_local:
            write_whole(Path(path), lambda partial: self._fill(str(partial), write))
            return
        partial = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{token_hex(4)}.partial"
        try:
            self._fill(partial, write)
            self.system.move(partial, path)
        except BaseException:
            with suppress(Exception):
                self.system.delete_file(partial)
            raise

    def _fill(self, path: str, write: Callable[[Any], None]) -> None:
        with self.system.open_output_stream(path) as stream:
            write(stream)
