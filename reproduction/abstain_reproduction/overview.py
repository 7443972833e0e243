"""The pages of the documentation on scores and on claims, made of what experiments found."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from abstain._extras import require
from abstain._io.files import write_text
from abstain.evaluation.verdict import BASELINE
from abstain.scores.registry import SCORES
from abstain_reproduction.comparison.control import MARK
from abstain_reproduction.comparison.repetition_table import NOTE
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.findings import ResultTable
from abstain_reproduction.page import DOCUMENT, EVIDENCE, claims_page, markdown_table
from abstain_reproduction.registry import EXPERIMENTS

TABLE = "| claim | verdict |"  # the first words of the table of verdicts
COLOURS = 96  # of a figure in the documentation, which keeps it small
HEAD = f"""# Experiments on real models

Each runs with one command, `scripts/reproduce NAME`, which fetches what it needs, on two cores in minutes; nothing is
vendored. This page is made of what they wrote (`scripts/reproduce claims --run --docs docs`). {NOTE} `–` stands for a
score that could not be fitted. What each says about the claims of the paper is in [claims.md](claims.md).
The paper's own small examples are in [paper/small-examples.md](paper/small-examples.md), its tables in
[paper/tables.md](paper/tables.md), training in [training.md](training.md), a score that learns in
[learned.md](learned.md).
"""


def overview(folder: Path, /) -> str:
    """The page, of all experiments in a folder that compared scores."""
    documents = _score_documents(folder)
    parts = [HEAD, markdown_table(_gains(documents))]
    parts += [_section(EXPERIMENTS[name], document, folder / name) for name, document in documents.items()]
    parts += [
        f"## {document.title}\n\n{document.about}\n\nNot run for this page: `scripts/reproduce {document.name}`."
        for document in EXPERIMENTS.values()
        if document.about and not (folder / document.name / DOCUMENT).exists()
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _score_documents(folder: Path) -> dict[str, dict[str, Any]]:
    """Findings of the experiments that compared scores over draws, by name."""
    documents = {name: _read(folder / name) for name in EXPERIMENTS if (folder / name / DOCUMENT).exists()}
    return {name: document for name, document in documents.items() if list(_models(document["numbers"]))}


def _read(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    return document


def _models(numbers: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The numbers of each model that was compared over draws."""
    if "draws" in numbers:
        yield "", numbers
    else:
        yield from ((name, each) for name, each in numbers.items() if isinstance(each, dict) and "draws" in each)


def _gains(documents: dict[str, Any]) -> ResultTable:
    """What the best fitted score gains over SR_max, and what the control leaves of it, in the widest mix at α = 1."""
    rows = []
    for name, document in documents.items():
        for model, numbers in _models(document["numbers"]):
            mix = numbers["draws"][-1]["mix"]
            column = {row["score"]: row for row in numbers["draws"] if row["mix"] == mix and row["alpha"] == 1.0}
            fitted = [row for score, row in column.items() if score in SCORES and SCORES[score].needs_fitting]
            best = min(fitted, key=lambda row: float(row["aurc"]))
            usual = column[BASELINE]["aurc"]
            rows.append(
                (
                    f"{name} {model}".strip(),
                    mix,
                    f"{100 * usual:.2f}",
                    f"{SCORES[best['score']].symbol} {100 * best['aurc']:.2f}",
                    f"{100 * (usual - best['aurc']):+.2f}".replace("-", "−"),
                    f"{100 * best['gain']:+.2f}".replace("-", "−"),
                    f"{best['better']} of {best['draws']}",
                )
            )
    return ResultTable(
        "What fitting gains, and what is left of it beside the control",
        ("experiment", "mix", "SR_max", "best fitted score", "gain over SR_max", "over control", "significant draws"),
        tuple(rows),
        "AURC × 100 at α = 1, means over the draws. The best fitted score is chosen after the fact, in its own favour.",
    )


def _section(experiment: Experiment, document: dict[str, Any], folder: Path) -> str:
    counts = [verdict["outcome"] for verdict in document["verdicts"]]
    words = document["words"].replace(f"{experiment.title}. ", "").replace(f"{experiment.title}: ", "")
    parts = [f"## {experiment.title}", experiment.about, f"`scripts/reproduce {experiment.name}`: {words}"]
    parts.append(_scores_compared(document["numbers"]))
    if counts:
        tested = ", ".join(f"{counts.count(outcome)} {outcome}" for outcome in ("held", "not held", "undecided"))
        parts.append(f"Claims of the paper tested on it: {tested}.")
    parts += [f"![{figure.stem}](experiments/{experiment.name}-{figure.name})" for figure in _figures(folder, document)]
    parts += [
        markdown_table(ResultTable(t["title"], tuple(t["columns"]), tuple(map(tuple, t["rows"]))))
        for t in document["tables"]
    ]
    return "\n\n".join(part for part in parts if part)


def _scores_compared(numbers: dict[str, Any]) -> str:
    """The number of scores that could be computed and fitted on these outputs."""
    scores = {row["score"] for _, each in _models(numbers) for row in each["draws"]}
    return f"Scores compared: {sum(MARK not in score for score in scores)}."


def _figures(folder: Path, document: dict[str, Any]) -> list[Path]:
    return [folder / f"{name}.png" for name in sorted(document["figures"])]


def _with_written_part(page: str, file: Path) -> str:
    """The page on claims, with what somebody wrote above its table and between the verdicts and the evidence."""
    if not file.exists():
        return page
    existing = file.read_text(encoding="utf-8")
    start = existing.index("## ")
    paragraphs = existing[:start].strip().split("\n\n")[2:]  # below the title and the counts
    above = "".join(f"{paragraph}\n\n" for paragraph in paragraphs if not paragraph.startswith(TABLE))
    written = existing[start : existing.index(EVIDENCE)]
    return page.replace(TABLE, above + TABLE, 1).replace(EVIDENCE, written + EVIDENCE)


def write_overview(folder: Path, docs: Path, /) -> None:
    """The two pages and the figures of the first, in few colours."""
    image = require("PIL.Image", extra="images", feature="Small figures")
    write_text(docs / "experiments.md", overview(folder))
    write_text(docs / "claims.md", _with_written_part(claims_page(folder), docs / "claims.md"))
    (docs / "experiments").mkdir(exist_ok=True)
    for name, each in _score_documents(folder).items():
        for figure in _figures(folder / name, each):
            small = image.open(figure).convert("RGB").quantize(COLOURS)
            small.save(docs / "experiments" / f"{name}-{figure.name}", optimize=True)
