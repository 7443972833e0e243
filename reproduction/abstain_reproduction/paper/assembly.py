"""Tables 3, 4 and 8 and Figures 4, 5, 6 and 9, from the runs that are in the folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from abstain._errors import MissingFileError
from abstain._io.files import write_text
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.paper.curves_figure import SCNET_MIXES, SCNET_SCORES, curves_figure
from abstain_reproduction.paper.paper_latex import HEADS, LatexBlock, paper_latex
from abstain_reproduction.paper.paper_table import ROWS
from abstain_reproduction.paper.run_record import FILE, RunRecord, run_name

TITLE = "Tables 3, 4 and 8 and Figures 4, 5, 6 and 9 from the runs in the folder"
Key = tuple[str, str]


@dataclass(frozen=True)
class Piece:
    """A table or a figure of the paper, and the runs it is made of, by task and model."""

    name: str
    keys: tuple[Key, ...]
    mixes: tuple[str, ...] = tuple(HEADS)
    scores: tuple[str, ...] = ROWS


OTHERS = (("imagenet", "convnext"), ("imagenet", "resnext"), ("imagenet", "volo"))
WILDS = (("iwildcam", "flyp"), ("amazon", "lisa"))
TABLES = (Piece("table-3", (("imagenet", "eva"),)), Piece("table-4", WILDS), Piece("table-8", OTHERS))
FIGURES = (
    Piece("figure-4", (("imagenet", "eva"),)),
    Piece("figure-5", WILDS, ("in", "in+cov")),
    Piece("figure-6", (("cifar", "scnet"), ("imagenet", "scnet")), SCNET_MIXES, SCNET_SCORES),
    Piece("figure-9", OTHERS),
)
KEYS = tuple(dict.fromkeys(key for piece in (*TABLES, *FIGURES) for key in piece.keys))


def run(setting: Setting) -> Findings:
    """Assemble the saved runs of the same limit, seed and conventions; nothing is computed again."""
    runs = {
        key: RunRecord.load(folder) for key in KEYS if (folder := _run_folder(setting, *key)).joinpath(FILE).exists()
    }
    if not runs:
        names = ", ".join(_run_folder(setting, *key).name for key in KEYS)
        raise MissingFileError(
            f"`--folder` must hold a run of a model of the paper ({names}), got none in {setting.folder.parent}. "
            "Run one first: abstain reproduce imagenet --data DIR --model eva."
        )
    setting.folder.mkdir(parents=True, exist_ok=True)
    written = []
    for piece in TABLES:
        if sections := _sections(piece, runs):
            write_text(setting.folder / f"{piece.name}.tex", paper_latex(sections))
            written.append(f"{piece.name}.tex")
    missing = [f"{task} {model}" for task, model in KEYS if (task, model) not in runs]
    lack = f" Not run yet: {', '.join(missing)}." if missing else ""
    return Findings(
        words=f"From {len(runs)} of {len(KEYS)} runs: {', '.join([*written, *(_figures(runs))])}.{lack}",
        tables=tuple(_tables(runs)),
        figures=_figures(runs),
    )


def _run_folder(setting: Setting, task: str, model: str) -> Path:
    name = run_name(model, limit=setting.limit, seed=setting.seed, paper_code=setting.paper_code)
    return setting.folder.parent / f"{task}-{name}"


def _sections(piece: Piece, runs: Mapping[Key, RunRecord]) -> list[list[LatexBlock]]:
    """Models of ImageNet below each other, the two tasks of WILDS side by side."""
    blocks = [LatexBlock(runs[key].task, runs[key].model, runs[key].table) for key in piece.keys if key in runs]
    return [blocks] if blocks and piece.keys == WILDS else [[block] for block in blocks]


def _figures(runs: Mapping[Key, RunRecord]) -> dict[str, Callable[[], Any]]:
    figures: dict[str, Callable[[], Any]] = {}
    for piece in FIGURES:
        if drawn := [runs[key] for key in piece.keys if key in runs]:
            figures[piece.name] = partial(curves_figure, drawn, mixes=piece.mixes, scores=piece.scores)
    return figures


def _tables(runs: Mapping[Key, RunRecord]) -> list[ResultTable]:
    tables = []
    for (task, model), record in runs.items():
        tables.append(record.table.markdown(f"{record.task} - {record.model} ({record.n:,} rows), AURC-α × 100"))
        if (paper_comparison := record.table.paper_comparison(task, model)) is not None:
            tables.append(paper_comparison)
    return tables


ASSEMBLY = Experiment("paper", TITLE, run, frozenset({"limit", "paper_code"}), has_verdicts=False)
