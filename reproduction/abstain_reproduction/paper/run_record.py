"""What one model gave on one task of the paper, on disk: the areas and curves that tables and figures are made of."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from abstain._io.files import read_text, write_text
from abstain._io.records import from_json, to_json
from abstain.evaluation import Evaluation
from abstain.metrics.risk_coverage import evenly
from abstain.report.figures.style import first_rows
from abstain_reproduction.paper.areas import EvaluatedAreas
from abstain_reproduction.paper.paper_table import ROWS, PaperTable

FILE = "run.json"
POINTS = 300  # of a curve


def run_name(model: str, /, *, limit: int | None, seed: int, paper_code: bool, amp: bool = False) -> str:
    """A folder name that no other model or setting has.

    >>> run_name("timm:volo_d1_224", limit=100, seed=0, paper_code=True)
    'timm-volo_d1_224-100-paper-code'
    """
    plain = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in model)
    parts = [plain, *([str(limit)] if limit is not None else []), *([f"seed-{seed}"] if seed else [])]
    return "-".join([*parts, *(["paper-code"] if paper_code else []), *(["amp"] if amp else [])])


@dataclass(frozen=True)
class RecordedArea:
    """AURC-α as a fraction."""

    score: str
    mix: str
    alpha: float
    aurc: float


@dataclass(frozen=True)
class RecordedCurve:
    """The risk–coverage curve of a score in a mix, thinned to be drawn."""

    score: str
    mix: str
    coverage: tuple[float, ...]
    risk: tuple[float, ...]


@dataclass(frozen=True)
class RunRecord:
    """One model on one task."""

    task: str
    model: str
    n: int
    areas: tuple[RecordedArea, ...]
    curves: tuple[RecordedCurve, ...]

    @classmethod
    def of(cls, evaluation: Evaluation, table: PaperTable, /, *, task: str, model: str) -> Self:
        """Areas of the table, curves of the evaluation."""
        names = EvaluatedAreas(evaluation).names
        curves = [
            _curve(evaluation, score, names[score], mix) for score in ROWS if score in names for mix in evaluation.mixes
        ]
        areas = tuple(RecordedArea(*key, value) for key, value in table.areas.items())
        return cls(task, model, evaluation.n, areas, tuple(curves))

    @property
    def table(self) -> PaperTable:
        """The areas as a table."""
        return PaperTable({(area.score, area.mix, area.alpha): area.aurc for area in self.areas})

    def save(self, folder: Path, /) -> None:
        """Into a folder of its own."""
        write_text(folder / FILE, to_json(self) + "\n")

    @classmethod
    def load(cls, folder: Path, /) -> Self:
        """That which was saved in a folder."""
        file = folder / FILE
        return from_json(read_text(file, "a run of `abstain reproduce`"), cls, where=str(file))


def _curve(evaluation: Evaluation, score: str, name: str, mix: str) -> RecordedCurve:
    """Without the first rows, where a curve is noise."""
    curve = evaluation.curve(name, mix)
    n = evaluation.best(mix, evaluation.alphas[0]).n
    rows = np.flatnonzero(curve.coverage >= min(first_rows(n) / n, curve.coverage[-1]))
    rows = rows[evenly(len(rows), POINTS)]
    return RecordedCurve(
        score, mix, *(tuple(np.round(part[rows], 6).tolist()) for part in (curve.coverage, curve.risk))
    )
