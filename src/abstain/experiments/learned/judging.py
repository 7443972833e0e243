"""What every score gave on one model, kept in a file, so that a run that was stopped goes on where it was."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from abstain.evaluation.mixes import MIXES
from abstain.experiments.learned.cells import Cell, cells
from abstain.experiments.learned.certified import Certified, certified
from abstain.experiments.learned.unlabelled import unlabelled_cells
from abstain.files import read_text, write_text
from abstain.fingerprint import digest
from abstain.outputs import Outputs
from abstain.records import from_json, to_json

CERTIFIED_IN = ("in+cov", "all")
ROOT = Path(__file__).parents[2]
NO_MATTER = frozenset({"cli", "engines", "monitor", "onnx.py", "report", "sketch", "sklearn", "torch"})
"""Parts of the library that results do not depend on."""


@final
@dataclass(frozen=True)
class Judging:
    """Cells of all scores, coverage at a certified risk, and cells with unlabelled rows."""

    of: str
    """A digest of all that it depends on."""
    cells: tuple[Cell, ...]
    certified: tuple[Certified, ...]
    unlabelled: tuple[Cell, ...]


def judging(model: str, outputs: Callable[[], Outputs], file: Path, /, *, of: str, seed: int) -> Judging:
    """What the file holds of the same model, seed and code, or else what is found now, which it holds from then on."""
    belongs = digest(of, seed, code())
    if file.exists() and (kept := _kept(file)) is not None and kept.of == belongs:
        return kept
    rows = outputs()
    kinds = (certified(model, rows, MIXES[mix], seed=seed) for mix in CERTIFIED_IN)
    found = Judging(
        belongs,
        tuple(cells(model, rows, seed=seed)),
        tuple(one for one in kinds if one is not None),
        tuple(unlabelled_cells(model, rows, seed=seed)),
    )
    write_text(file, to_json(found))
    return found


def code() -> str:
    """A digest of the files that say what a score is and how it is judged: after a change all is judged again."""
    return digest([(str(file), (ROOT / file).read_bytes()) for file in code_files()])


def code_files() -> list[Path]:
    """Relative to the package."""
    files = (file.relative_to(ROOT) for file in ROOT.rglob("*.py"))
    return sorted(file for file in files if file.parts[0] not in NO_MATTER)


def _kept(file: Path) -> Judging | None:
    """What a file holds; None where that is none of these, such as one of an earlier version."""
    try:
        return from_json(read_text(file, "what was judged"), Judging)
    except ValueError:
        return None
