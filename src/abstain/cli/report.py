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
    from abstain.monitor import RiskEstimate
    from abstain.outputs import Outputs
    from abstain.report.evaluation_page.context import PageContext
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

    def evaluate(self, outputs: "Outputs", paths: list[Path], progress: Any, /, *, score: str | None) -> "Evaluation":
        """The evaluation of all scores or of one, with notes on columns that are not used."""
        import abstain

        evaluation = abstain.evaluate(
            outputs,
            scores=([score] if score else None) or score_list(self.score) or "all",
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
    import abstain
    from abstain.evaluation import verdict
    from abstain.report.evaluation_page import TITLE, PageLabels, check_page, write_page
    from abstain.selector.cascades.loading import certifying_selector, load_selector

    check_html("--output", output)
    check_page(output)
    loaded = None if page.selector is None else load_selector(page.selector)
    selector = None if loaded is None else certifying_selector(loaded)
    if page.unlabelled is not None and selector is None:
        raise InvalidInputError("`--unlabelled` must come with `--selector`, whose risk is estimated, got it alone.")
    if options.group_column is None and selector is not None and not isinstance(loaded, abstain.Cascade):
        options = replace(options, group_column=selector.group_column)
    rows, score = _rows(loaded, outputs, options)
    with progress_bar() as progress:
        evaluation = options.evaluate(rows, outputs, progress, score=score)
        estimate = _estimate(loaded, page, evaluation, options.group_column)
        progress("Writing the page", 1.0)
        case = write_page(
            evaluation,
            output,
            selector=selector,
            risk=page.risk,
            delta=page.delta,
            labels=PageLabels(
                run=" ".join(map(str, outputs)), selector_file=str(page.selector), title=page.title or TITLE
            ),
            estimate=estimate,
        )
    for path in outputs:
        warn_unused(path, group=options.group_column)
    if json:
        known = {} if estimate is None else {"unlabelled": estimate.to_dict()}
        conclusion = verdict(evaluation).to_dict()
        print_json({"report": str(output), "n": case.n, "decision": _decision(case), "verdict": conclusion} | known)
    else:
        _print(case, estimate, output, recommends=selector is None)


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


def _print(case: "PageContext", estimate: "RiskEstimate | None", output: Path, *, recommends: bool) -> None:
    from abstain.evaluation import verdict
    from abstain.report.evaluation_page import decision_words

    say(decision_words(case))
    say(verdict(case.evaluation).words)
    if recommends and len(case.evaluation.scores) > 1:
        say(f"Score: {case.point.score}, as `abstain evaluate` recommends; --score NAME uses another.")
    if estimate is not None:
        say(estimate.lines()[0])
        say(estimate.lines()[-1])
    say(f"Report: {output}")


def _rows(
    loaded: "Selector | Cascade | None", outputs: list[Path], options: ReportOptions
) -> tuple["Outputs", str | None]:
    """The outputs, those of the models of a cascade combined; and the only score there is, for a cascade."""
    import abstain

    if isinstance(loaded, abstain.Cascade):
        refuse({"--score": options.score}, "be left out with a cascade")
        return decided_rows(loaded, outputs, group=options.group_column), loaded.selector.score
    if len(outputs) > 1:
        raise InvalidInputError(f"`OUTPUTS` must be given once without a cascade, got {len(outputs)} of them.")
    rows = abstain.Outputs.load(outputs[0], nonfinite=options.nonfinite, group=options.group_column)
    return rows, None


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
