"""`abstain evaluate`: which score to trust on saved outputs."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

import abstain
from abstain.cli.completion import score_names
from abstain.cli.evaluation_files import EvaluationFiles
from abstain.cli.evaluation_view import EvaluationView
from abstain.cli.inputs import OF_ENGINE, OF_SKETCH, is_sharded, sketch_files, unused_notes
from abstain.cli.options import (
    ALL_SCORES,
    EngineOptions,
    FittingOptions,
    GroupColumn,
    Level,
    Resume,
    given,
    refuse,
    score_list,
)
from abstain.cli.printing import Result
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.cli.evaluation_view import Groups
    from abstain.evaluation import SketchedEvaluation


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """What is computed."""

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
    group_column: GroupColumn = None

    def evaluate(self, outputs: Path, fitting: FittingOptions, /, *, group: str | None) -> "abstain.Evaluation":
        """The scores compared on outputs in memory, with a progress bar."""
        from abstain.metrics.intervals import ALPHAS

        with progress_bar() as progress:
            return abstain.evaluate(
                fitting.load(outputs, group=group),
                scores=score_list(self.score) or "all",
                alphas=self.alpha or ALPHAS,
                metrics=self.metric or (),
                fitting=fitting.rows(),
                level=self.level,
                progress=progress,
            )

    def evaluate_sketch(self, sketch: "abstain.Sketch", /, *, scores: list[str] | None) -> "SketchedEvaluation":
        """Scores of a sketch compared."""
        from abstain.metrics.intervals import ALPHAS

        return abstain.evaluation.evaluate_sketch(
            sketch, scores=score_list(scores), alphas=self.alpha or ALPHAS, level=self.level
        )


def evaluate(
    outputs: Annotated[
        list[str],
        typer.Argument(
            help="A folder of outputs, an .npz, .csv, .parquet or .jsonl file, a .sketch, or many Parquet files."
        ),
    ],
    options: EvaluationOptions,
    view: EvaluationView,
    fitting: FittingOptions,
    files: EvaluationFiles,
    engine: EngineOptions,
    resume: Resume = None,
) -> Result:
    """Compare confidence scores on labelled outputs. Which one to use, and AURC under every mix of shifts.

    Many Parquet files (a folder, a pattern such as 'data/*.parquet', or an address such as s3://bucket/data) are
    counted in parts in bounded memory, by default for all scores that need no fitting.

    Example: abstain evaluate run/ --score max_softmax --score 'knn(k=5)' --figure curves.pdf -o table.tex
    """
    from abstain._kernels.background import compiling_in_background

    of_rows = {"--group-column": options.group_column, "--metric": options.metric} | given(files)
    with compiling_in_background():
        if is_sharded(outputs, engine, **{"--resume": resume}):
            refuse(of_rows, OF_ENGINE)
            counted = sketch_files(outputs, engine, fitting, scores=options.score, resume=resume)
            evaluation = options.evaluate_sketch(counted.sketch, scores=None)
            notes = (*counted.notes, *evaluation.notes)
            return view.of_counts(replace(evaluation, left_out=counted.left_out, notes=notes))
        file = Path(outputs[0])
        if file.suffix == ".sketch":
            refuse(of_rows, OF_SKETCH)
            return view.of_counts(options.evaluate_sketch(abstain.Sketch.load(file), scores=options.score))
        return _of_outputs(outputs[0], options, view, fitting, files)


def _of_outputs(
    run: str, options: EvaluationOptions, view: EvaluationView, fitting: FittingOptions, files: EvaluationFiles
) -> Result:
    """Outputs in memory compared, and the files written of that."""
    files.check()
    file, selector = Path(run), None if files.selector is None else abstain.Selector.load(files.selector)
    group = options.group_column or (selector and selector.group_column)
    evaluation = options.evaluate(file, fitting, group=group)
    evaluation = replace(evaluation, notes=(*evaluation.notes, *unused_notes(file, group=group)))
    drawn = files.write(evaluation, selector=selector, run=run)
    return view.of_outputs(evaluation, run=run, drawn=drawn, groups=_groups(evaluation, selector, options))


def _groups(
    evaluation: "abstain.Evaluation", selector: "abstain.Selector | None", options: EvaluationOptions
) -> "Groups | None":
    """The column, the selector's or else the recommended point, and what it does to each of the groups."""
    if options.group_column is None:
        return None
    from abstain.evaluation.operating_point import point_of  # needs SciPy, which takes long to import

    point = point_of(evaluation, selector=selector, risk=None, delta=0.05)
    compared = point.groups(options.level)
    return None if compared is None else (options.group_column, point, compared)
