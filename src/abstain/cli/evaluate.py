"""`abstain evaluate`: which score to trust on saved outputs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.complete import score_names
from abstain.cli.letters import shown
from abstain.cli.options import Figure, Json, Nonfinite
from abstain.cli.quick import import_numba_alone
from abstain.cli.sharded import Address, Engine, Resume, Workers, check_in_memory, compared, is_sharded, sketched
from abstain.cli.show import print_json, print_summary, progress_bar
from abstain.cli.sketched import tell, tell_sketch

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation
    from abstain.selector import Selector


def evaluate(
    outputs: Annotated[
        list[str],
        typer.Argument(help="A folder of outputs, an .npz, .csv or .parquet file, a .sketch, or many Parquet files."),
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(
            help="A score to compare, such as knn or 'knn(k=5)'; repeat. All by default.", autocompletion=score_names
        ),
    ] = None,
    alpha: Annotated[list[float] | None, typer.Option(help="A coverage α; repeat for several.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Another metric, such as augrc or 'coverage_at_risk(risk=0.02)', or `all`; repeat."),
    ] = None,
    mix: Annotated[
        list[str] | None, typer.Option(help="Show in, in+cov, in+label or all; repeat. The widest by default.")
    ] = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="Show the interval of every value.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every score in every mix.")] = False,
    fitting: Annotated[
        str, typer.Option(help="Outputs to fit scores on; or draw a `fifth`, or as the `paper` five per class.")
    ] = "fifth",
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    figure: Figure = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the table to a .md, .tex, .csv or .parquet file; repeat."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for every figure that the data allow (.png, .svg, .pdf).")
    ] = None,
    selector: Annotated[
        Path | None, typer.Option(help="A selector: figures and page are about its threshold and promise.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write one page that decides here (.html).")] = None,
    nonfinite: Nonfinite = "error",
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0,
    engine: Engine = None,
    workers: Workers = None,
    address: Address = None,
    resume: Resume = None,
    json: Json = False,
) -> None:
    """Compare scores on labelled outputs: which one to use, and AURC in every mix of shifts.

    Many Parquet files, of a folder, a pattern such as 'data/*.parquet' or an address such as s3://bucket/data, are
    counted part by part in bounded memory, by default for all scores with nothing to fit.

    Example: abstain evaluate run/ --score max_softmax --score 'knn(k=5)' --figure curves.pdf -o table.tex
    """
    from rich.console import Console

    import_numba_alone()
    import abstain
    from abstain.evaluation import summarize
    from abstain.report.evaluation_page import check_page, write_page
    from abstain.report.risk_coverage_figure import risk_coverage_figure
    from abstain.report.save import check_figure, check_figures, save_figure
    from abstain.report.table_file import check_table, write_evaluation
    from abstain.scores.registry import split_names

    refused = {"--metric": metric, "--figure": figure, "--figures": figures, "--report": report, "--output": output}
    refused |= {"--selector": selector}
    if is_sharded(outputs, engine):
        found = sketched(
            outputs,
            scores=score,
            fitting=fitting,
            nonfinite=nonfinite,
            seed=seed,
            engine=engine,
            workers=workers,
            address=address,
            resume=resume,
            refused=refused,
        )
        tell(compared(found, alphas=alpha, level=level), mix=mix, every=every, json=json)
        return
    check_in_memory(workers=workers, address=address, resume=resume)
    place = Path(outputs[0])
    if place.suffix == ".sketch":
        tell_sketch(place, score=score, alpha=alpha, mix=mix, every=every, level=level, json=json, refused=refused)
        return
    check_figure(figure)
    check_figures(figures)
    chosen = None if selector is None else abstain.Selector.load(selector)
    if report is not None:
        check_page(report)
    for goal in output or ():
        check_table(goal)
    with progress_bar() as progress:
        result = abstain.evaluate(
            abstain.Outputs.load(place, nonfinite=nonfinite),  # type: ignore[arg-type]
            scores=[name for names in score or ["all"] for name in split_names(names)],
            alphas=alpha or (0.1, 0.5, 1.0),
            metrics=metric or (),
            fitting=fitting if fitting in ("fifth", "paper") else abstain.Outputs.load(fitting, nonfinite=nonfinite),  # type: ignore[arg-type]
            level=level,
            seed=seed,
            progress=progress,
        )
    if figure is not None:
        save_figure(risk_coverage_figure(result), figure)
    for goal in output or ():
        write_evaluation(result, goal)
    if report is not None:
        write_page(result, report, selector=chosen, run=str(place), selector_file=str(selector))
    drawn = [] if figures is None else _draw(result, figures, chosen)
    if json:
        print_json(result.to_dict() | ({"figures": drawn} if drawn else {}))
        return
    console = Console()
    summary = summarize(result, mixes=result.mixes, shown=None) if every else summarize(result, mixes=mix)
    print_summary(summary, console, intervals=intervals)
    for line in drawn:
        print(shown(line))


def _draw(result: "Evaluation", folder: Path, selector: "Selector | None") -> list[str]:
    from abstain.report.evaluation_page.point import point_of
    from abstain.report.figures import write_figures

    with progress_bar() as progress:
        progress("Drawing", 1.0)
        point = point_of(result, selector=selector, risk=None, delta=0.05)
        return write_figures(result, point, folder)
