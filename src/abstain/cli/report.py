"""`abstain report`: outputs to a page that supports a decision."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import check_suffix
from abstain.cli.completion import score_names
from abstain.cli.inputs import decided_rows, unused_notes
from abstain.cli.options import ALL_SCORES, GroupColumn, Nonfinite, Seed, refuse, score_list
from abstain.cli.printing import Result, warn
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.evaluation.fitting import Progress
    from abstain.evaluation.page.context import PageContext, PageLabels

    Decider = abstain.Selector | abstain.Cascade

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

    def load_selector(self) -> "Decider | None":
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
    seed: Seed = 0

    def evaluate(
        self, rows: "abstain.Outputs", scores: list[str] | Literal["all"], progress: "Progress", /
    ) -> "abstain.Evaluation":
        """The evaluation of some scores, or of all."""
        return abstain.evaluate(
            rows,
            scores=scores,
            metrics=self.metric or METRICS,
            fitting=abstain.FittingDraw(seed=self.seed),
            progress=progress,
        )


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
) -> Result:
    """Write a report as one HTML file. Which score, which threshold, what it costs and guarantees, and where it fails.

    The file needs no network.

    Example: abstain report run/ --risk 0.02 -o report.html
    """
    from abstain.evaluation.page import check_page, page_context, write_page
    from abstain.selector.cascades.loading import certifying_selector

    check_suffix("--output", output, (".html", ".htm"))
    check_page(output)
    loaded = page.load_selector()
    selector = None if loaded is None else certifying_selector(loaded)
    scores: list[str] | Literal["all"] = score_list(options.score) or "all"
    if isinstance(loaded, abstain.Cascade):
        refuse({"--score": options.score}, "be left out with a cascade")
        scores = [loaded.selector.score]
    group = options.group_column or (selector and selector.group_column)
    rows = decided_rows(loaded, outputs, group=group, nonfinite=options.nonfinite)
    notes = [note for path in outputs for note in unused_notes(path, group=group)]
    with progress_bar() as progress:
        evaluation = options.evaluate(rows, scores, progress)
        evaluation = replace(evaluation, notes=(*evaluation.notes, *notes))
        estimate = _estimate(loaded, page.unlabelled, evaluation, group)
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
    for note in notes:
        warn(note)
    return _result(case, estimate, output, recommends=selector is None)


def _estimate(
    loaded: "Decider | None", unlabelled: list[Path] | None, evaluation: "abstain.Evaluation", group: str | None
) -> "abstain.RiskEstimate | None":
    """The risk on the new outputs without labels, where there are some."""
    from abstain.selector.cascades.loading import certifying_selector

    if unlabelled is None or loaded is None:
        return None
    new = decided_rows(loaded, unlabelled, what="--unlabelled", group=group)
    return abstain.estimate_risk(certifying_selector(loaded), new, reference=evaluation.given)


def _result(case: "PageContext", estimate: "abstain.RiskEstimate | None", output: Path, *, recommends: bool) -> Result:
    """The decision of the page and what supports it."""
    from abstain.evaluation import verdict
    from abstain.evaluation.page import decision_words

    words, conclusion = decision_words(case), verdict(case.evaluation)
    point, is_decided = case.point, case.point.threshold is not None
    decision = {
        "words": words,
        "score": point.score,
        "threshold": point.value if is_decided else None,
        "coverage": point.coverage if is_decided else None,
        "target": point.target,
        "risk": point.guaranteed_risk,
    }
    document = {"report": str(output), "n": case.n, "decision": decision, "verdict": conclusion.to_dict()}
    lines = [words, conclusion.words]
    if recommends and len(case.evaluation.scores) > 1:
        lines.append(f"Score: {point.score}, as `abstain evaluate` recommends; --score NAME uses another.")
    if estimate is not None:
        document["unlabelled"] = estimate.to_dict()
        lines += [estimate.lines()[0], estimate.lines()[-1]]
    return Result(document, [*lines, f"Report: {output}"])
