"""`sketch`: the counts of all rows of Parquet files, on any engine, in memory that does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

from abstain._errors import InvalidInputError
from abstain.evaluation.fitting import FittedScores, drawn_words, fit_scores, silent
from abstain.evaluation.sketch_outputs import plain_scores
from abstain.outputs import Outputs
from abstain.outputs.table import check_some_known
from abstain.outputs.validation import Nonfinite
from abstain.scale.data import ParquetData, Portion
from abstain.scale.draw import DrawTask, HashedDraw, fitting_rows
from abstain.scale.engine import Engine
from abstain.scale.engines import LOCAL, Execution
from abstain.scale.locations import Location
from abstain.scale.reader import ParquetReader, warned_once
from abstain.scale.sketch_task import CountsCache, PortionCounts, SketchTask
from abstain.scores.fitting_draw import FittingRows
from abstain.scores.registry import AnyScore, as_scores
from abstain.sketch import Bins, Plan, Sketch
from abstain.sketch.bins import BITS
from abstain.sketch.plan import By
from abstain.sketch.sketch import Tally

Progress = Callable[[int, int], None]


@final
@dataclass(frozen=True)
class SketchResult:
    """The counts, and what a reader should know of them.

    Attributes
    ----------
    sketch : Sketch
        The counts.
    left_out : dict of str
        Scores that could not be computed, and why.
    notes : tuple of str
        What a reader should know.
    """

    sketch: Sketch
    left_out: dict[str, str]
    notes: tuple[str, ...]


@final
@dataclass(frozen=True, kw_only=True)
class SketchSettings:
    """What is counted, and how.

    Parameters
    ----------
    fitting : Outputs, optional
        Outputs to fit scores on; their last layer, if they have one, is that of all rows. By default scores are fitted
        on a draw of about 20,000 samples by a hash of their ids, which takes another pass over the files; these are
        left out of the counts of all scores.
    bits : int
        Leading bits of the confidence that are kept.
    by : tuple of str
        Rows are counted separately by these: shift, domain, class.
    plan : Plan, optional
        That of another sketch, which determines scores, bins and populations, so that both merge.
    distinct : bool
        Whether no id repeats. Otherwise rows with ids may show the same sample.
    nonfinite : {"error", "reject"}
        What to do with non-finite rows.
    seed : int
        Seed of the draw of rows to fit on.
    """

    fitting: Outputs | None = None
    bits: int = BITS
    by: tuple[By, ...] = ("shift",)
    plan: Plan | None = None
    distinct: bool = False
    nonfinite: Nonfinite = "error"
    seed: int = 0


DEFAULT = SketchSettings()


def sketch(
    locations: Location | Iterable[Location],
    /,
    *,
    scores: AnyScore | Iterable[AnyScore] | None = None,
    settings: SketchSettings = DEFAULT,
    execution: Execution = LOCAL,
    resume: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> SketchResult:
    """Count rows and errors in bins of each score over Parquet files, in bounded memory.

    The same rows give the same counts, whatever the files, row groups, order and number of workers. Rows without ids
    are identified by their number in the order of the files' names.

    Parameters
    ----------
    locations : path or sequence of paths
        Files, folders, patterns or addresses. Their columns are those of a table of outputs.
    scores : score or sequence of scores, optional
        By default all that need no fitting.
    settings : SketchSettings
        Bins, populations, and the rows to fit on.
    execution : Execution
        The engine and the file system.
    resume : path, optional
        A folder for the counts of finished parts, which a later call reads again.
    progress : callable, optional
        Called with the number of rows done and the total.

    Returns
    -------
    SketchResult
        The sketch, scores that were left out, and notes.
    """
    data = ParquetData.open(locations, filesystem=execution.filesystem)
    reader = ParquetReader.of(data, nonfinite=settings.nonfinite, head=_head(settings.fitting))
    first = reader.first(data)
    if not first.is_labelled:
        raise InvalidInputError(f"`{reader.model}` must have labels to be evaluated, got no column label.")
    with execution.start() as engine, warned_once():
        fitted, draw, plan = FittedScores(first), None, settings.plan
        if plan is None:
            fitted, draw = _fitted(data, reader, first, scores, settings, engine)
            pairs = {name: (fitted.entries[name], fitted.fitted[name]) for name in fitted.fitted}
            plan = Plan.of(pairs, first, bins=Bins(settings.bits), by=settings.by)
        work = SketchTask(reader, plan.matching(first, distinct=settings.distinct), draw)
        cache = None if resume is None else CountsCache(Path(resume), work.fingerprint)
        tally, nonfinite = Tally(work.plan), 0
        for counts in _counted(engine, work, data.portions(), cache, progress):
            tally.add(Sketch(work.plan, *counts.counted))
            nonfinite += counts.unusable
    _check_labels(tally.sketch(), data, reader)
    notes = fitted.notes + ([f"{nonfinite} non-finite rows count as rejected errors."] if nonfinite else [])
    notes += filter(None, [data.shards[0].unused])
    return SketchResult(tally.sketch(), fitted.left_out, tuple(notes))


def _check_labels(counted: Sketch, data: ParquetData, reader: ParquetReader) -> None:
    """Not all rows may be of unknown classes, as in a table that is read whole."""
    if "shift" in counted.plan.by and counted.names("shift") == ["label"]:
        check_some_known(data.shards[0].name, reader.class_names, f"none in {data.rows:,} rows")


def _head(fitting: Outputs | None) -> dict[str, Any]:
    known = {} if fitting is None else {"weight": fitting.weight, "bias": fitting.bias}
    return {name: array for name, array in known.items() if array is not None}


def _fitted(
    data: ParquetData,
    reader: ParquetReader,
    first: Outputs,
    scores: AnyScore | Iterable[AnyScore] | None,
    settings: SketchSettings,
    engine: Engine,
) -> tuple[FittedScores, HashedDraw | None]:
    """The scores, and the draw that they were fitted on, None where there was none."""
    fitting, seed = settings.fitting, settings.seed
    asked = plain_scores(first) if scores is None else as_scores(scores, first)
    draw, drawn, rows = None, list[Outputs](), FittingRows.all_alike(first)
    if fitting is None and any(score.needs_fitting and not score.objection(first) for score in asked):
        draw = HashedDraw.of(data.rows, first.n_classes, seed=seed)
        drawn = [part for part in engine.map(DrawTask(reader, draw), data.portions()) if part is not None]
        rows = fitting_rows(drawn)
    fitted = fit_scores(first, asked, rows if fitting is None else fitting, progress=silent)
    if draw is not None:
        fitted.notes.append(drawn_words(len(rows.inside), sum(map(len, drawn))))
    return fitted, draw


def _counted(
    engine: Engine, work: SketchTask, portions: list[Portion], cache: CountsCache | None, progress: Progress | None
) -> Iterator[PortionCounts]:
    """The counts of every portion, those in the cache first."""
    rest, total = [], sum(portion.rows for portion in portions)
    for portion in portions:
        before = None if cache is None else cache.get(portion)
        if before is None:
            rest.append(portion)
        else:
            yield before
    done = total - sum(portion.rows for portion in rest)
    for portion, counts in zip(rest, engine.map(work, rest), strict=True):
        if cache is not None:
            cache.put(portion, counts)
        done += portion.rows
        if progress is not None:
            progress(done, total)
        yield counts
