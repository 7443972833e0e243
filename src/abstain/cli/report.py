"""`abstain report`: outputs to one page that decides."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.complete import score_names
from abstain.cli.options import ALL_SCORES, Group, Json, Nonfinite, score_list
from abstain.cli.show import print_json, progress_bar, say
from abstain.cli.unused_columns import tell_unused, unused_note

METRICS = ("augrc", "risk_at_coverage", "coverage_at_risk")  # beside AURC, to choose from on the page


def report(
    outputs: Annotated[Path, typer.Argument(help="A folder of outputs, an .npz file, or a .csv or .parquet table.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.")] = Path("report.html"),
    selector: Annotated[
        Path | None, typer.Option(help="A selector: the page is about its threshold and promise on these outputs.")
    ] = None,
    risk: Annotated[
        float | None, typer.Option(help="Largest share of errors among accepted. About half of what there is.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability with which a promise or a bound may fail.")] = 0.05,
    score: Annotated[
        list[str] | None,
        typer.Option(help=f"A score to compare; repeat. {ALL_SCORES}", autocompletion=score_names),
    ] = None,
    metric: Annotated[list[str] | None, typer.Option(help="A metric to choose on the page; repeat.")] = None,
    title: Annotated[str | None, typer.Option(help="What stands above the page.")] = None,
    group: Group = None,
    nonfinite: Nonfinite = "error",
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0,
    json: Json = False,
) -> None:
    """Write one page that decides: which score, which threshold, what it costs, what it promises, where it fails.

    It is one HTML file that needs no network.

    Example: abstain report run/ --risk 0.02 -o report.html
    """
    import abstain
    from abstain.evaluation import verdict
    from abstain.report.evaluation_page import check_page, decision_words, write_page

    check_page(output)
    chosen = None if selector is None else abstain.Selector.load(selector)
    column = group if group is not None or chosen is None else chosen.group_column
    with progress_bar() as progress:
        result = abstain.evaluate(
            abstain.Outputs.load(outputs, nonfinite=nonfinite, group=column),  # type: ignore[arg-type]
            scores=score_list(score) or "all",
            metrics=metric or METRICS,
            seed=seed,
            progress=progress,
        )
        result = replace(result, notes=(*result.notes, *unused_note(outputs, group=column)))
        progress("Writing the page", 1.0)
        case = write_page(
            result,
            output,
            selector=chosen,
            risk=risk,
            delta=delta,
            run=str(outputs),
            selector_file=str(selector),
            title=title,
        )
    tell_unused(outputs, group=column)
    found = verdict(result)
    if json:
        point = case.point
        is_decided = point.threshold is not None
        decided = {
            "words": decision_words(case),
            "score": point.score,
            "threshold": point.value if is_decided else None,
        }
        decided |= {"coverage": point.coverage if is_decided else None}
        decided |= {"target": point.target, "risk": point.promised_risk}
        print_json({"report": str(output), "n": case.n, "decision": decided, "verdict": found.to_dict()})
        return
    say(decision_words(case))
    say(found.words)
    if selector is None and len(result.scores) > 1:
        say(f"Score: {case.point.score}, as `abstain evaluate` recommends; --score NAME takes another.")
    say(f"The page: {output}")
