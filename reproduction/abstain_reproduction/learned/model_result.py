"""The results of all scores on one model, cached in a file so that a run can be resumed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

import abstain
from abstain._io.files import read_text, write_text
from abstain._io.fingerprint import digest
from abstain._io.records import from_json, to_json
from abstain.evaluation.mixes import MIXES
from abstain.outputs import Outputs
from abstain_reproduction.cache import source_digest
from abstain_reproduction.learned.cells import ScoreCell, cells
from abstain_reproduction.learned.certified_coverage import CertifiedCoverage, certified_coverage
from abstain_reproduction.learned.density_ratio import unlabelled_cells

CERTIFIED_IN = ("in+cov", "all")
NO_MATTER = frozenset({"cli", "monitor", "onnx.py", "report", "scale", "sketch", "sklearn", "torch"})
"""Parts of the library that results do not depend on."""


@final
@dataclass(frozen=True)
class ModelResult:
    """Cells of all scores, coverage at a certified risk, and cells with unlabelled rows."""

    of: str
    """A digest of all that it depends on."""
    cells: tuple[ScoreCell, ...]
    certified: tuple[CertifiedCoverage, ...]
    unlabelled: tuple[ScoreCell, ...]


def model_result(model: str, outputs: Callable[[], Outputs], file: Path, /, *, of: str, seed: int) -> ModelResult:
    """The cached result of the same model, seed and code, or a new one, which is then cached."""
    belongs = digest(of, seed, code())
    if file.exists() and (kept := _cached(file)) is not None and kept.of == belongs:
        return kept
    rows = outputs()
    kinds = (certified_coverage(model, rows, MIXES[mix], seed=seed) for mix in CERTIFIED_IN)
    result = ModelResult(
        belongs,
        tuple(cells(model, rows, seed=seed)),
        tuple(certificate for certificate in kinds if certificate is not None),
        tuple(unlabelled_cells(model, rows, seed=seed)),
    )
    write_text(file, to_json(result))
    return result


def code() -> str:
    """A digest of the code that results depend on; after a change all models are judged again."""
    return source_digest(*code_parts())


def code_parts() -> list[str]:
    """Folders and files of the library, and this package."""
    root = Path(abstain.__path__[0])
    names = sorted(path.name for path in root.iterdir() if path.is_dir() or path.suffix == ".py")
    return [*(f"abstain/{name}" for name in names if name not in NO_MATTER), "abstain_reproduction"]


def _cached(file: Path) -> ModelResult | None:
    """The result in a file; None if it is of another format, such as that of an earlier version."""
    try:
        return from_json(read_text(file, "a result of the learned score"), ModelResult)
    except ValueError:
        return None
