"""Findings on disk: Markdown, JSON and figures, and the page that collects the verdicts of all experiments."""

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from abstain.experiments.claims import CLAIMS, Claim, Verdict
from abstain.experiments.findings import Findings, Table
from abstain.files import check_goal, read_text, write_text
from abstain.jsonable import jsonable
from abstain.records import built
from abstain.report.figures.save import save_figure
from abstain.report.markdown import markdown_lines

FIGURES = (".png", ".svg", ".pdf")
DOCUMENT = "findings.json"


def write_findings(findings: Findings, title: str, folder: Path, /, *, key: str = "") -> list[Path]:
    """Write ``findings.json``, ``findings.md`` and every figure in three formats; the files in order.

    All are made beside the folder's files before any is put in place, and ``findings.json`` goes first and comes last:
    where it is, the others belong to it. ``key`` is what they depend on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "title": title,
        "key": key,
        "words": findings.words,
        "verdicts": [asdict(verdict) for verdict in findings.verdicts],
        "tables": [asdict(table) for table in findings.tables],
        "figures": list(findings.figures),
        "numbers": findings.numbers,
    }
    with TemporaryDirectory(prefix=".findings-", dir=folder) as place:
        made = Path(place)
        for name, draw in findings.figures.items():
            figure = draw()
            for ending in FIGURES:
                save_figure(figure, made / f"{name}{ending}")
        write_text(made / "findings.md", _markdown(findings, title))
        text = json.dumps(jsonable(document), allow_nan=False, indent=1, ensure_ascii=False) + "\n"
        write_text(made / DOCUMENT, text)
        _put(made, folder)
    return [folder / "findings.md", folder / DOCUMENT, *(folder / f"{name}.png" for name in findings.figures)]


def key_of(folder: Path, /) -> str:
    """The key of the findings in a folder; nothing where there are none."""
    file = folder / DOCUMENT
    return str(json.loads(file.read_text(encoding="utf-8")).get("key", "")) if file.exists() else ""


def _put(made: Path, folder: Path) -> None:
    files = sorted(made.iterdir(), key=lambda file: file.name == DOCUMENT)
    for file in files:
        check_goal(folder / file.name)
    (folder / DOCUMENT).unlink(missing_ok=True)
    for file in files:
        file.replace(folder / file.name)


def _markdown(findings: Findings, title: str) -> str:
    parts = [f"# {title}", findings.words]
    parts += [f"![{name}]({name}.png)" for name in findings.figures]
    if findings.verdicts:
        parts.append(markdown_table(verdict_table(findings.verdicts)))
    parts += [markdown_table(table) for table in findings.tables]
    return "\n\n".join(parts) + "\n"


def verdict_table(verdicts: tuple[Verdict, ...], /) -> Table:
    """The verdicts beside what the paper says."""
    rows = [(CLAIMS[v.claim].text, CLAIMS[v.claim].place, v.outcome, v.evidence, v.data) for v in verdicts]
    return Table("Claims of the paper", ("claim", "where", "outcome", "evidence", "on what"), tuple(rows))


def markdown_table(table: Table, /) -> str:
    """A table in Markdown, under its title."""
    lines = [f"**{table.title}**", "", *markdown_lines(table.columns, table.rows)]
    return "\n".join(lines) + (f"\n\n{table.note}" if table.note else "")


def claims_page(folder: Path, /) -> str:
    """One page with every claim of the paper and what the experiments in a folder found about it."""
    found: dict[str, list[tuple[str, Verdict]]] = {key: [] for key in CLAIMS}
    for file in sorted(folder.glob(f"*/{DOCUMENT}")):
        for verdict in _verdicts(file):
            found[verdict.claim].append((file.parent.name, verdict))
    parts = ["# The claims of the paper", _counted(found)]
    for claim in CLAIMS.values():
        parts.append(f"## {claim.text}\n\n{_claimed(claim)}")
        parts.append(_told(claim, found[claim.key]))
    return "\n\n".join(parts) + "\n"


def _claimed(claim: Claim) -> str:
    """Where the paper says it, of how many comparisons, and what we chose to test it."""
    if claim.untestable:
        return f"{claim.place}."
    hedge = f" ({claim.hedge})" if claim.hedge else ""
    lines = [f"{claim.place}. Tested as: {claim.quantifier.value}{hedge}. Our choices:", ""]
    return "\n".join(lines + [f"- {choice}" for choice in claim.choices])


def _told(claim: Claim, found: list[tuple[str, Verdict]]) -> str:
    if not found:
        reason = claim.untestable
        return f"Not testable: {reason}" if reason else "Not tested by the experiments in this folder."
    rows = tuple((v.outcome, name, v.data, v.evidence) for name, v in found)
    return markdown_table(Table("Tested here", ("outcome", "experiment", "on what", "evidence"), rows))


def _verdicts(file: Path) -> tuple[Verdict, ...]:
    try:
        document: Any = json.loads(read_text(file, "findings that `abstain reproduce` wrote"))
        return cast(tuple[Verdict, ...], built(document["verdicts"], tuple[Verdict, ...], place="verdicts"))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"`{file}` must be findings that `abstain reproduce` wrote, got {reason}.") from None


def _counted(found: dict[str, list[tuple[str, Verdict]]]) -> str:
    outcomes = [verdict.outcome for verdicts in found.values() for _, verdict in verdicts]
    tested = sum(bool(verdicts) for verdicts in found.values())
    untestable = sum(bool(CLAIMS[key].untestable) for key, verdicts in found.items() if not verdicts)
    beyond = f" ({untestable} cannot be)" if untestable else ""
    return (
        f"{tested} of {len(found)} claims were tested{beyond}, {len(outcomes)} times in all: "
        f"{outcomes.count('held')} held, {outcomes.count('not held')} did not, {outcomes.count('undecided')} undecided."
    )
