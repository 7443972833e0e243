"""`abstain report`: outputs to a page that supports a decision."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from abstain._errors import InvalidInputError
from abstain.cli.completion import score_names
from abstain.cli.inputs import decided_rows, unused_notes, warn_unused
from abstain.cli.options import ALL_SCORES, GroupColumn, Json, Nonfinite, check_html, refuse, score_list
from abstain.cli.printing import print_json, say
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation
    from abstain.evaluation.page.context import PageContext, PageLabels
    from abstain.monitor import RiskEstimate
    from abstain.outputs import Outputs
    from abstain.selector import Cascade, Selector

METRICS = ("augrc", "risk_at_coverage", "coverage_at_risk")  # besides AURC, to choose from on the page


@final
@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """What the page is about."""

    selector: Annotated[
        Path | None,
        typer.Option(help="A selector or cascade: the page is about its threshold and guarantee on these outputs."),
    ] = None
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            help="New outputs without labels: a section estimates the risk of --selector on them; repeat for a cascade."
        ),
    ] = None
    risk: Annotated[
        float | None, typer.Option(help="Largest error rate among accepted samples. [about half of the error rate]")
    ] = None
    delta: Annotated[float, typer.Option(help="Probability that a guarantee or a bound fails.")] = 0.05
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None

    def load_selector(self) -> "Selector | Cascade | None":
        """The selector or cascade, if one is named."""
        from abstain.selector.cascades.loading import load_selector

        if self.selector is not None:
            return load_selector(self.selector)
        if self.unlabelled is not None:
            raise InvalidInputError(
                "`--unlabelled` must come with `--selector`, whose risk is estimated, got it alone."
            )
        return None

    def labels(self, outputs: list[Path], /) -> "PageLabels":
        """What the page calls itself and its files."""
        from abstain.evaluation.page import TITLE, PageLabels

        run = " ".join(map(str, outputs))
        return PageLabels(run=run, selector_file=str(self.selector), title=self.title or TITLE)


@final
@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is computed for it."""

    score: Annotated[
        list[str] | None,
        typer.Option(help=f"A score to compare; repeat. {ALL_SCORES}", autocompletion=score_names),
    ] = None
    metric: Annotated[list[str] | None, typer.Option(help="A metric to choose on the page; repeat.")] = None
    group_column: GroupColumn = None
    nonfinite: Nonfinite = "error"
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0

    def about(self, loaded: "Selector | Cascade | None", /) -> "ReportOptions":
        """The same with the groups of a selector, unless others are named, or with the only score of a cascade."""
        import abstain

        if isinstance(loaded, abstain.Cascade):
            refuse({"--score": self.score}, "be left out with a cascade")
            return replace(self, score=[loaded.selector.score])
        if self.group_column is None and loaded is not None:
            return replace(self, group_column=loaded.group_column)
        return self

    def evaluate(self, outputs: "Outputs", paths: list[Path], progress: Any, /) -> "Evaluation":
        """The evaluation of these scores or of all, with notes on columns that are not used."""
        import abstain

        evaluation = abstain.evaluate(
            outputs,
            scores=score_list(self.score) or "all",
            metrics=self.metric or METRICS,
            fitting=abstain.FittingDraw(seed=self.seed),
            progress=progress,
        )
        notes = [note for path in paths for note in unused_notes(path, group=self.group_column)]
        return replace(evaluation, notes=(*evaluation.notes, *notes))


def report(
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="A folder of outputs, an .npz file, or a .csv, .parquet or .jsonl table; one for each model of a "
            "cascade."
        ),
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
    from abstain.evaluation.page import check_page, page_context, write_page
    from abstain.selector.cascades.loading import certifying_selector

    check_html("--output", output)
    check_page(output)
    loaded = page.load_selector()
    selector = None if loaded is None else certifying_selector(loaded)
    options = options.about(loaded)
    rows = decided_rows(loaded, outputs, group=options.group_column, nonfinite=options.nonfinite)
    with progress_bar() as progress:
        evaluation = options.evaluate(rows, outputs, progress)
        estimate = _estimate(loaded, page, evaluation, options.group_column)
        progress("Writing the page", 1.0)
        case = page_context(
            evaluation,
            selector=selector,
            risk=page.risk,
            delta=page.delta,
            labels=page.labels(outputs),
            estimate=estimate,
        )
        write_page(case, output)
    for path in outputs:
        warn_unused(path, group=options.group_column)
    _print(case, estimate, output, recommends=selector is None, json=json)


def _estimate(
    loaded: "Selector | Cascade | None", page: PageOptions, evaluation: "Evaluation", group: str | None
) -> "RiskEstimate | None":
    """The risk on the new outputs without labels, where there are some."""
    import abstain
    from abstain.selector.cascades.loading import certifying_selector

    if page.unlabelled is None or loaded is None:
        return None
    new = decided_rows(loaded, page.unlabelled, what="--unlabelled", group=group)
    return abstain.estimate_risk(certifying_selector(loaded), new, reference=evaluation.given)


def _print(case: "PageContext", estimate: "RiskEstimate | None", output: Path, *, recommends: bool, json: bool) -> None:
    from abstain.evaluation import verdict
    from abstain.evaluation.page import decision_words

    if json:
        known = {} if estimate is None else {"unlabelled": estimate.to_dict()}
        conclusion = verdict(case.evaluation).to_dict()
        print_json({"report": str(output), "n": case.n, "decision": _decision(case), "verdict": conclusion} | known)
        return
    say(decision_words(case))
    say(verdict(case.evaluation).words)
    if recommends and len(case.evaluation.scores) > 1:
        say(f"Score: {case.point.score}, as `abstain evaluate` recommends; --score NAME uses another.")
    if estimate is not None:
        say(estimate.lines()[0])
        say(estimate.lines()[-1])
    say(f"Report: {output}")


def _decision(case: Any) -> dict[str, Any]:
    """The operating point of the page as plain data."""
    from abstain.evaluation.page import decision_words

    point, is_decided = case.point, case.point.threshold is not None
    return {
        "words": decision_words(case),
        "score": point.score,
        "threshold": point.value if is_decided else None,
        "coverage": point.coverage if is_decided else None,
        "target": point.target,
        "risk": point.guaranteed_risk,
    }
