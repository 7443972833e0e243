"""Counts of portions in a folder, so that a run that was stopped goes on where it was."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from abstain.collect.fingerprint import digest
from abstain.engines.data import Portion
from abstain.engines.sketching import Counting
from abstain.files import write_whole
from abstain.sketch.cells import Cells
from abstain.sketch.plan import Counted


@final
@dataclass(frozen=True)
class Kept:
    """A file for each portion, named by a digest of the rows and of all that their counts depend on."""

    folder: Path
    belongs: str

    def __post_init__(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise FileExistsError(f"`{self.folder}` must be a folder, got a file. Choose another name.")
        self.folder.mkdir(parents=True, exist_ok=True)

    def _file(self, portion: Portion) -> Path:
        return self.folder / f"{digest(self.belongs, portion.fingerprint)}.npz"

    def get(self, portion: Portion, /) -> Counting | None:
        """What was kept; None where nothing was, or nothing that can be read."""
        try:
            with np.load(self._file(portion), allow_pickle=False) as arrays:
                header = json.loads(str(arrays["header"]))
                cells = {
                    name: Cells(*(arrays[f"{number}.{what}"] for what in ("place", "counts", "errors")))
                    for number, name in enumerate(header["scores"])
                }
                strata = tuple(tuple(stratum) for stratum in header["strata"])
                return Counting(Counted(strata, cells, frozenset(header["rounded"])), header["unusable"])
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile):
            return None

    def put(self, portion: Portion, found: Counting, /) -> None:
        """Keep what a portion gave, whole or not at all."""
        counted = found.counted
        header = {
            "scores": [*counted.cells],
            "strata": counted.strata,
            "rounded": sorted(counted.rounded),
            "unusable": found.unusable,
        }
        arrays: dict[str, Any] = {
            f"{number}.{what}": getattr(cells, what)
            for number, cells in enumerate(counted.cells.values())
            for what in ("place", "counts", "errors")
        }

        def write(partial: Path) -> None:
            with open(partial, "wb") as stream:
                np.savez(stream, header=np.array(json.dumps(header)), **arrays)

        write_whole(self._file(portion), write)
