"""Findings on disk: Markdown, JSON and figures, and the page that collects the verdicts of all experiments."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from abstain._errors import InvalidInputError
from abstain._io.files import check_output_path, read_text, write_text
from abstain._io.records import built, jsonable
from abstain.report.figures.save import save_figure
from abstain.report.tables import markdown_lines
from abstain_reproduction.claims import CLAIMS, Claim, ClaimVerdict
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.outcome import Outcome

FIGURES = (".png", ".svg", ".pdf")
EVIDENCE = "## Evidence"
OUTCOMES: tuple[Outcome, ...] = ("held", "not held", "undecided")
Results = dict[str, list[tuple[str, ClaimVerdict]]]
"""The experiments and their verdicts, by the key of a claim."""
DOCUMENT = "findings.json"
MOVING = "magika"
"""The experiment that reads the files of the machine it runs on: its verdicts are shown, and not counted."""


def write_findings(findings: Findings, title: str, folder: Path, /, *, key: str = "") -> list[Path]:
    """Write ``findings.json``, ``findings.md`` and every figure in three formats; the files in order.

    All files are made in a temporary folder before any is moved. ``findings.json`` is removed first and moved last:
    if it exists, the other files belong to it. ``key`` is a digest of what they depend on.
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
    with TemporaryDirectory(prefix=".findings-", dir=folder) as temporary:
        made = Path(temporary)
        for name, draw in findings.figures.items():
            figure = draw()
            for ending in FIGURES:
                save_figure(figure, made / f"{name}{ending}")
        write_text(made / "findings.md", _markdown(findings, title))
        text = json.dumps(jsonable(document), allow_nan=False, indent=1, ensure_ascii=False) + "\n"
        write_text(made / DOCUMENT, text)
        _move_files(made, folder)
    return [folder / "findings.md", folder / DOCUMENT, *(folder / f"{name}.png" for name in findings.figures)]


def key_of(folder: Path, /) -> str:
    """The key of the findings in a folder; an empty string if there are none."""
    file = folder / DOCUMENT
    return str(json.loads(file.read_text(encoding="utf-8")).get("key", "")) if file.exists() else ""


def _move_files(made: Path, folder: Path) -> None:
    files = sorted(made.iterdir(), key=lambda file: file.name == DOCUMENT)
    for file in files:
        check_output_path(folder / file.name)
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


def verdict_table(verdicts: tuple[ClaimVerdict, ...], /) -> ResultTable:
    """The verdicts and the claims of the paper in one table."""
    rows = [(CLAIMS[v.claim].text, CLAIMS[v.claim].source, v.outcome, v.evidence, v.data) for v in verdicts]
    return ResultTable("Claims of the paper", ("claim", "where", "outcome", "evidence", "on what"), tuple(rows))


def markdown_table(table: ResultTable, /) -> str:
    """A table in Markdown, under its title."""
    lines = [f"**{table.title}**", "", *markdown_lines(table.columns, table.rows)]
    return "\n".join(lines) + (f"\n\n{table.note}" if table.note else "")


def claims_page(folder: Path, /) -> str:
    """One page with every claim of the paper and what the experiments in a folder found about it: verdicts first."""
    results: Results = {key: [] for key in CLAIMS}
    for file in sorted(folder.glob(f"*/{DOCUMENT}")):
        for verdict in _verdicts(file):
            results[verdict.claim].append((file.parent.name, verdict))
    parts = ["# The claims of the paper", _summary(results), _verdict_lines(results), EVIDENCE]
    parts += [_folded(claim, results[claim.key]) for claim in CLAIMS.values()]
    return "\n\n".join(parts) + "\n"


def _verdict_lines(results: Results) -> str:
    """A row for each claim, with the number of tests in which it held, did not hold, or stayed undecided."""
    rows = []
    for key, claim in CLAIMS.items():
        outcomes = _counted(results[key])
        counts = [str(outcomes.count(outcome) or "") for outcome in OUTCOMES]
        rows.append((f"[{claim.text}](#claim-{key})", f"**{_joint_verdict(claim, outcomes)}**", *counts))
    return "\n".join(markdown_lines(("claim", "verdict", *OUTCOMES), rows, numbers=len(OUTCOMES)))


def _counted(results: list[tuple[str, ClaimVerdict]]) -> list[Outcome]:
    """The outcomes that do not move with the machine."""
    return [verdict.outcome for name, verdict in results if not _moves(name, verdict)]


def _moves(name: str, verdict: ClaimVerdict) -> bool:
    return name.startswith(MOVING) or verdict.data.startswith(MOVING)


def _joint_verdict(claim: Claim, outcomes: list[Outcome]) -> str:
    """Held or not held where no test says otherwise, mixed where tests disagree."""
    decided = set(outcomes) - {"undecided"}
    if not outcomes:
        return "not testable" if claim.untestable else "not tested"
    return "mixed" if len(decided) > 1 else decided.pop() if decided else "undecided"


def _folded(claim: Claim, results: list[tuple[str, ClaimVerdict]]) -> str:
    details = f"{_claim_details(claim)}\n\n{_test_results(claim, results)}"
    return f":::{{dropdown}} {claim.text}\n:name: claim-{claim.key}\n\n{details}\n:::"


def _claim_details(claim: Claim) -> str:
    """The source of a claim, the number of comparisons it needs, and our choices for the test."""
    if claim.untestable:
        return f"{claim.source}."
    hedge = f" ({claim.hedge})" if claim.hedge else ""
    lines = [f"{claim.source}. Tested as: {claim.quantifier.value}{hedge}. Our choices:", ""]
    return "\n".join(lines + [f"- {choice}" for choice in claim.choices])


def _test_results(claim: Claim, results: list[tuple[str, ClaimVerdict]]) -> str:
    if not results:
        reason = claim.untestable
        return f"Not testable: {reason}" if reason else "Not tested by the experiments in this folder."
    rows = tuple((v.outcome, name, v.data, v.evidence) for name, v in results)
    return markdown_table(ResultTable("Tested here", ("outcome", "experiment", "on what", "evidence"), rows))


def _verdicts(file: Path) -> tuple[ClaimVerdict, ...]:
    try:
        document: Any = json.loads(read_text(file, "findings that `abstain reproduce` wrote"))
        verdicts = cast(
            tuple[ClaimVerdict, ...], built(document["verdicts"], tuple[ClaimVerdict, ...], where="verdicts")
        )
        return tuple(replace(v, data=_without_title(v.data, document["title"])) for v in verdicts)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise InvalidInputError(f"`{file}` must be findings that `abstain reproduce` wrote, got {reason}.") from None


def _without_title(data: str, title: str) -> str:
    """What was tested, without the title of its experiment, whose name is in the next column."""
    rest = data.removeprefix(title)
    return rest[1:].strip() if rest != data and rest[:1] in {":", ";"} else data


def _summary(results: Results) -> str:
    outcomes = [outcome for verdicts in results.values() for outcome in _counted(verdicts)]
    moving = sum(map(len, results.values())) - len(outcomes)
    tested = sum(bool(verdicts) for verdicts in results.values())
    untestable = sum(bool(CLAIMS[key].untestable) for key, verdicts in results.items() if not verdicts)
    beyond = f" ({untestable} cannot be)" if untestable else ""
    uncounted = (
        f" {moving} more read the files of the machine they ran on ({MOVING}) and are not counted." if moving else ""
    )
    return (
        f"{tested} of {len(results)} claims were tested{beyond}, {len(outcomes)} times in all: "
        f"{outcomes.count('held')} held, {outcomes.count('not held')} did not, {outcomes.count('undecided')} undecided."
        f"{uncounted}"
    )
