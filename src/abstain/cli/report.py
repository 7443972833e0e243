"""`abstain report`: outputs to a page that supports a decision."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from abstain.cli.completion import score_names
from abstain.cli.inputs import unused_notes, warn_unused
from abstain.cli.options import ALL_SCORES, Group, Json, Nonfinite, check_html, score_list
from abstain.cli.printing import print_json, say
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation

METRICS = ("augrc", "risk_at_coverage", "coverage_at_risk")  # besides AURC, to choose from on the page


@final
@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """What the page is about."""

    selector: Annotated[
        Path | None, typer.Option(help="A selector: the page is about its threshold and guarantee on these outputs.")
    ] = None
    risk: Annotated[
        float | None, typer.Option(help="Largest error rate among accepted samples. [about half of the error rate]")
    ] = None
    delta: Annotated[float, typer.Option(help="Probability that a guarantee or a bound fails.")] = 0.05
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None


@final
@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is computed for it."""

    score: Annotated[
        list[str] | None,
        typer.Option(help=f"A score to compare; repeat. {ALL_SCORES}", autocompletion=score_names),
    ] = None
    metric: Annotated[list[str] | None, typer.Option(help="A metric to choose on the page; repeat.")] = None
    group: Group = None
    nonfinite: Nonfinite = "error"
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0

    def evaluate(self, outputs: Path, group: str | None, progress: Any, /) -> "Evaluation":
        """The evaluation, with notes on columns that are not used."""
        import abstain

        evaluation = abstain.evaluate(
            abstain.Outputs.load(outputs, nonfinite=self.nonfinite, group=group),  # type: ignore[arg-type]
            scores=score_list(self.score) or "all",
            metrics=self.metric or METRICS,
            fitting=abstain.FittingDraw(seed=self.seed),
            progress=progress,
        )
        return replace(evaluation, notes=(*evaluation.notes, *unused_notes(outputs, group=group)))


def report(
    outputs: Annotated[
        Path, typer.Argument(help="A folder of outputs, an .npz file, or a .csv, .parquet or .jsonl table.")
    ],
    options: ReportOptions,
    page: PageOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.")] = Path("report.html"),
    json: Json = False,
) -> None:
    """Write a report as one HTML file. Which score, which threshold, what it costs and guarantees, and where it fails.

    The file needs no network.

    Example: abstain report run/ --risk 0.02 -o report.html
    """
    import abstain
    from abstain.evaluation import verdict
    from abstain.report.evaluation_page import TITLE, PageLabels, check_page, decision_words, write_page

    check_html("--output", output)
    check_page(output)
    selector = None if page.selector is None else abstain.Selector.load(page.selector)
    group = options.group if options.group is not None or selector is None else selector.group_column
    with progress_bar() as progress:
        evaluation = options.evaluate(outputs, group, progress)
        progress("Writing the page", 1.0)
        case = write_page(
            evaluation,
            output,
            selector=selector,
            risk=page.risk,
            delta=page.delta,
            labels=PageLabels(run=str(outputs), selector_file=str(page.selector), title=page.title or TITLE),
        )
    warn_unused(outputs, group=group)
    conclusion = verdict(evaluation)
    if json:
        document = {"report": str(output), "n": case.n, "decision": _decision(case), "verdict": conclusion.to_dict()}
        print_json(document)
        return
    say(decision_words(case))
    say(conclusion.words)
    if selector is None and len(evaluation.scores) > 1:
        say(f"Score: {case.point.score}, as `abstain evaluate` recommends; --score NAME uses another.")
    say(f"Report: {output}")


def _decision(case: Any) -> dict[str, Any]:
    """The operating point of the page as plain data."""
    from abstain.report.evaluation_page import decision_words

    point, is_decided = case.point, case.point.threshold is not None
    return {
        "words": decision_words(case),
        "score": point.score,
        "threshold": point.value if is_decided else None,
        "coverage": point.coverage if is_decided else None,
        "target": point.target,
        "risk": point.guaranteed_risk,
    }
