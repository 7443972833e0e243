"""Counts of portions in a folder, so that a run that was stopped goes on where it was."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from abstain.engines.data import Portion
from abstain.engines.sketching import Counting
from abstain.fingerprint import digest
from abstain.sealed import load_sealed, save_sealed
from abstain.sketch.cells import Cells
from abstain.sketch.plan import Counted

FORMAT, VERSION = "abstain.counts", 1
COLUMNS = ("place", "counts", "errors")


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
        return self.folder / f"{digest(self.belongs, portion.fingerprint)}.counts"

    def get(self, portion: Portion, /) -> Counting | None:
        """What was kept; None where nothing was, or nothing that is whole."""
        try:
            header, arrays = load_sealed(self._file(portion), FORMAT, VERSION, writer="abstain", again="run again")
        except (OSError, ValueError):
            return None
        cells = {
            name: Cells(*(arrays[f"{number}.{what}"] for what in COLUMNS))
            for number, name in enumerate(header["scores"])
        }
        strata = tuple(tuple(stratum) for stratum in header["strata"])
        return Counting(Counted(strata, cells, frozenset(header["rounded"])), header["unusable"])

    def put(self, portion: Portion, found: Counting, /) -> None:
        """Keep what a portion gave, whole or not at all."""
        counted = found.counted
        header = {
            "scores": [*counted.cells],
            "strata": counted.strata,
            "rounded": sorted(counted.rounded),
            "unusable": found.unusable,
        }
        arrays = {
            f"{number}.{what}": getattr(cells, what)
            for number, cells in enumerate(counted.cells.values())
            for what in COLUMNS
        }
        save_sealed(self._file(portion), FORMAT, VERSION, header, arrays)
