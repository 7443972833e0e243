"""`abstain evaluate`: which score to trust on saved outputs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from abstain.cli.complete import score_names
from abstain.cli.evaluation_files import EvaluationFiles
from abstain.cli.options import ALL_SCORES, Figure, FittingOn, Group, Json, Nonfinite, fitting_of, score_list
from abstain.cli.sharded import Address, Engine, Resume, Workers, check_in_memory, compared, is_sharded, sketched
from abstain.cli.show import progress_bar
from abstain.cli.sketched import evaluate_from_sketch
from abstain.cli.telling import Telling
from abstain.cli.unused_columns import unused_note
from abstain.kernels.quick import import_numba_alone

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation


def evaluate(
    outputs: Annotated[
        list[str],
        typer.Argument(help="A folder of outputs, an .npz, .csv or .parquet file, a .sketch, or many Parquet files."),
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A score to compare, such as knn or 'knn(k=5)'; repeat. {ALL_SCORES}", autocompletion=score_names
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
    fitting: FittingOn = "fifth",
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
    group: Group = None,
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
    import_numba_alone()
    from abstain.kernels.beside import compiling_beside

    with compiling_beside():
        import abstain

        files = EvaluationFiles(figure=figure, figures=figures, tables=tuple(output or ()), page=report)
        telling = Telling(mix=mix, every=every, intervals=intervals, json=json)
        refused: dict[str, Any] = {
            "--group": group,
            "--metric": metric,
            "--figure": figure,
            "--figures": figures,
            "--report": report,
            "--output": output,
        }
        refused |= {"--selector": selector}
        by_engine = {"workers": workers, "address": address, "resume": resume}
        fitted: Fitted = {"fitting": fitting, "nonfinite": nonfinite, "seed": seed}
        if is_sharded(outputs, engine):
            found = sketched(outputs, scores=score, engine=engine, refused=refused, **fitted, **by_engine)
            telling.counts(compared(found, alphas=alpha, level=level))
            return
        check_in_memory(**by_engine)
        place = Path(outputs[0])
        if place.suffix == ".sketch":
            telling.counts(evaluate_from_sketch(place, score=score, alpha=alpha, level=level, refused=refused))
            return
        files.check()
        chosen = None if selector is None else abstain.Selector.load(selector)
        column = group if group is not None or chosen is None else chosen.group_column
        result = _evaluated(place, group=column, score=score, alpha=alpha, metric=metric, level=level, **fitted)
        result = replace(result, notes=(*result.notes, *unused_note(place, group=column)))
        drawn = files.write(result, selector=chosen, run=outputs[0], selector_file=str(selector))
        telling.outputs(result, run=outputs[0], drawn=drawn)


class Fitted(TypedDict):
    """What scores are fitted on."""

    fitting: str
    nonfinite: str
    seed: int


def _evaluated(
    place: Path,
    *,
    group: str | None,
    score: list[str] | None,
    alpha: list[float] | None,
    metric: list[str] | None,
    level: float,
    fitting: str,
    nonfinite: str,
    seed: int,
) -> "Evaluation":
    """The scores compared on outputs in memory, with a bar."""
    import abstain
    from abstain.metrics.intervals import ALPHAS

    with progress_bar() as progress:
        return abstain.evaluate(
            abstain.Outputs.load(place, nonfinite=nonfinite, group=group),  # type: ignore[arg-type]
            scores=score_list(score) or "all",
            alphas=alpha or ALPHAS,
            metrics=metric or (),
            fitting=fitting_of(fitting, nonfinite),
            level=level,
            seed=seed,
            progress=progress,
        )
