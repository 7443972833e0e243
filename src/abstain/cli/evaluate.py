"""`abstain evaluate`: which score to trust on saved outputs."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from abstain.cli.completion import score_names
from abstain.cli.evaluation_files import EvaluationFiles
from abstain.cli.evaluation_view import EvaluationView
from abstain.cli.inputs import OF_ENGINE, OF_SKETCH, check_in_memory, is_sharded, sketch_files, unused_notes
from abstain.cli.options import (
    ALL_SCORES,
    EngineOptions,
    FittingOn,
    GroupColumn,
    Json,
    Level,
    Nonfinite,
    Resume,
    fitting_of,
    refuse,
    score_list,
)
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation, SketchedEvaluation
    from abstain.evaluation.operating_point import Point
    from abstain.metrics import GroupComparison
    from abstain.scale import SketchResult
    from abstain.selector import Selector
    from abstain.sketch import Sketch


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """What is computed, and on which rows scores are fitted."""

    score: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A score to compare, such as knn or 'knn(k=5)'; repeat. {ALL_SCORES}", autocompletion=score_names
        ),
    ] = None
    alpha: Annotated[list[float] | None, typer.Option(help="A coverage α; repeat for several.")] = None
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Another metric, such as augrc or 'coverage_at_risk(risk=0.02)', or `all`; repeat."),
    ] = None
    level: Level = 0.95
    fitting: FittingOn = "fifth"
    nonfinite: Nonfinite = "error"
    group_column: GroupColumn = None
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0

    def evaluate(self, outputs: Path, /, *, group: str | None) -> "Evaluation":
        """The scores compared on outputs in memory, with a progress bar."""
        import abstain
        from abstain.evaluation.fitting import seeded
        from abstain.metrics.intervals import ALPHAS

        with progress_bar() as progress:
            return abstain.evaluate(
                abstain.Outputs.load(outputs, nonfinite=self.nonfinite, group=group),
                scores=score_list(self.score) or "all",
                alphas=self.alpha or ALPHAS,
                metrics=self.metric or (),
                fitting=seeded(fitting_of(self.fitting, self.nonfinite), seed=self.seed),
                level=self.level,
                progress=progress,
            )

    def evaluate_sketch(self, sketch: "Sketch", /) -> "SketchedEvaluation":
        """The scores of a sketch compared."""
        from abstain.evaluation import evaluate_sketch
        from abstain.metrics.intervals import ALPHAS

        return evaluate_sketch(sketch, scores=score_list(self.score), alphas=self.alpha or ALPHAS, level=self.level)

    def evaluate_files(self, result: "SketchResult", /) -> "SketchedEvaluation":
        """The scores compared by the counts of Parquet files."""
        evaluation = replace(self, score=None).evaluate_sketch(result.sketch)
        return replace(evaluation, left_out=result.left_out, notes=(*result.notes, *evaluation.notes))


def evaluate(
    outputs: Annotated[
        list[str],
        typer.Argument(
            help="A folder of outputs, an .npz, .csv, .parquet or .jsonl file, a .sketch, or many Parquet files."
        ),
    ],
    options: EvaluationOptions,
    view: EvaluationView,
    files: EvaluationFiles,
    engine: EngineOptions,
    resume: Resume = None,
    json: Json = False,
) -> None:
    """Compare confidence scores on labelled outputs. Which one to use, and AURC under every mix of shifts.

    Many Parquet files (a folder, a pattern such as 'data/*.parquet', or an address such as s3://bucket/data) are
    counted in parts in bounded memory, by default for all scores that need no fitting.

    Example: abstain evaluate run/ --score max_softmax --score 'knn(k=5)' --figure curves.pdf -o table.tex
    """
    from abstain._kernels.background import compiling_in_background

    with compiling_in_background():
        of_rows = {"--group-column": options.group_column, "--metric": options.metric} | files.to_dict()
        if is_sharded(outputs, engine):
            refuse(of_rows, OF_ENGINE)
            scored = {"scores": options.score, "fitting": options.fitting, "nonfinite": options.nonfinite}
            result = sketch_files(outputs, engine, **scored, seed=options.seed, resume=resume)  # type: ignore[arg-type]
            view.print_counts(options.evaluate_files(result), json=json)
            return
        check_in_memory(engine, **{"--resume": resume})
        file = Path(outputs[0])
        if file.suffix == ".sketch":
            from abstain.sketch import Sketch

            refuse(of_rows, OF_SKETCH)
            view.print_counts(options.evaluate_sketch(Sketch.load(file)), json=json)
            return
        files.check()
        selector = files.load_selector()
        group = options.group_column
        if group is None and selector is not None:
            group = selector.group_column
        evaluation = options.evaluate(file, group=group)
        evaluation = replace(evaluation, notes=(*evaluation.notes, *unused_notes(file, group=group)))
        drawn = files.write(evaluation, selector=selector, run=outputs[0])
        groups = None if options.group_column is None else _groups(evaluation, selector, options)
        view.print_outputs(evaluation, run=outputs[0], drawn=drawn, json=json, groups=groups)


def _groups(
    evaluation: "Evaluation", selector: "Selector | None", options: EvaluationOptions
) -> "tuple[str, Point, GroupComparison] | None":
    """The column, the selector's or else the recommended point, and what it does to each of the groups."""
    from abstain.evaluation.operating_point import point_of

    point = point_of(evaluation, selector=selector, risk=None, delta=0.05)
    compared = point.groups(options.level)
    return None if options.group_column is None or compared is None else (options.group_column, point, compared)
