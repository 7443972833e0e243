"""`sketch`: the counts of all rows of Parquet files, on any engine, in memory that does not depend on how many."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

from abstain.engines.data import ParquetData, Portion
from abstain.engines.draw import Draw, Gathering, fitting_rows
from abstain.engines.engine import Engine
from abstain.engines.kept import Kept
from abstain.engines.places import Place
from abstain.engines.reading import Reader, told_once
from abstain.engines.registry import started
from abstain.engines.sketching import Counting, Sketching
from abstain.evaluation.fitting import FittedScores, drawn_words, fit_scores
from abstain.evaluation.progress import silent
from abstain.evaluation.sketching import plain_scores
from abstain.outputs import Outputs
from abstain.outputs.table import check_some_known
from abstain.outputs.validation import Nonfinite
from abstain.scores.fitting_draw import FittingRows
from abstain.scores.registry import AnyScore, as_scores
from abstain.sketch import Bins, Plan, Sketch
from abstain.sketch.bins import BITS
from abstain.sketch.plan import By
from abstain.sketch.tally import Tally

Progress = Callable[[int, int], None]


@final
@dataclass(frozen=True)
class Sketched:
    """The counts, and what a reader should know of them."""

    sketch: Sketch
    left_out: dict[str, str]
    """Scores that could not be computed, and why."""
    notes: tuple[str, ...]


def sketch(
    places: Place | Iterable[Place],
    /,
    *,
    scores: AnyScore | Iterable[AnyScore] | None = None,
    fitting: Outputs | None = None,
    bits: int = BITS,
    by: tuple[By, ...] = ("shift",),
    plan: Plan | None = None,
    distinct: bool = False,
    nonfinite: Nonfinite = "error",
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    resume: str | PathLike[str] | None = None,
    filesystem: Any = None,
    progress: Progress | None = None,
) -> Sketched:
    """Count rows and errors in bins of each score over Parquet files: a folder, a pattern, addresses or several.

    Columns are those of `abstain.outputs.table`. ``scores`` are by default all with nothing to fit. Those that are
    fitted get the outputs ``fitting``, whose head, if they have one, is that of all rows; or else a draw of samples,
    about 20,000, by a hash of their ids, which takes a further pass over the files and is left out of the counts for
    all scores alike. A ``plan``, that of another sketch, settles scores, bins and populations, so that both merge.
    Rows with ids may show a sample twice, here or there, unless ``distinct`` says that no id repeats.

    With ``resume``, a folder, counts of finished parts are kept there and found again; parts of other files, scores or
    settings are not touched. The same rows give the same counts in whatever files, row groups, order and number of
    workers; rows without ids are told apart by their number in the order of the files' names. ``progress`` is called
    with the number of rows done and in all.
    """
    data = ParquetData.open(places, filesystem=filesystem)
    reader = Reader.of(data, nonfinite=nonfinite, head=_head(fitting))
    first = reader.first(data)
    if not first.is_labelled:
        raise ValueError(f"`{reader.model}` must have labels to be evaluated, got no column label.")
    with started(engine, workers=workers, address=address) as chosen, told_once():
        found, draw = FittedScores(first), None
        if plan is None:
            found, draw = _fitted(data, reader, first, scores, fitting, seed, chosen)
            pairs = {name: (found.entries[name], found.fitted[name]) for name in found.fitted}
            plan = Plan.of(pairs, first, bins=Bins(bits), by=by)
        work = Sketching(reader, plan.matching(first, distinct=distinct), draw)
        kept = None if resume is None else Kept(Path(resume), work.fingerprint)
        tally, unusable = Tally(work.plan), 0
        for counting in _counted(chosen, work, data.portions(), kept, progress):
            tally.add(Sketch(work.plan, *counting.counted))
            unusable += counting.unusable
    _check_labels(tally.sketch(), data, reader)
    notes = found.notes + ([f"{unusable} rows are not finite: they count as rejected errors."] if unusable else [])
    notes += filter(None, [data.shards[0].unused])
    return Sketched(tally.sketch(), found.left_out, tuple(notes))


def _check_labels(counted: Sketch, data: ParquetData, reader: Reader) -> None:
    """Not all rows may be of unknown classes, as in a table that is read whole."""
    if "shift" in counted.plan.by and counted.names("shift") == ["label"]:
        check_some_known(data.shards[0].name, reader.class_names, f"none in {data.rows:,} rows")


def _head(fitting: Outputs | None) -> dict[str, Any]:
    known = {} if fitting is None else {"weight": fitting.weight, "bias": fitting.bias}
    return {name: array for name, array in known.items() if array is not None}


def _fitted(
    data: ParquetData,
    reader: Reader,
    first: Outputs,
    scores: AnyScore | Iterable[AnyScore] | None,
    fitting: Outputs | None,
    seed: int,
    engine: Engine,
) -> tuple[FittedScores, Draw | None]:
    """The scores, and the draw that they were fitted on, None where there was none."""
    asked = plain_scores(first) if scores is None else as_scores(scores, first)
    draw, drawn, rows = None, list[Outputs](), FittingRows.all_alike(first)
    if fitting is None and any(score.needs_fitting and not score.objection(first) for score in asked):
        draw = Draw.of(data.rows, first.n_classes, seed=seed)
        drawn = [part for part in engine.map(Gathering(reader, draw), data.portions()) if part is not None]
        rows = fitting_rows(drawn)
    found = fit_scores(first, asked, rows if fitting is None else fitting, seed=seed, progress=silent)
    if draw is not None:
        found.notes.append(drawn_words(len(rows.inside), sum(map(len, drawn))))
    return found, draw


def _counted(
    engine: Engine, work: Sketching, portions: list[Portion], kept: Kept | None, progress: Progress | None
) -> Iterator[Counting]:
    """The counts of every portion, those that were kept first."""
    rest, total = [], sum(portion.rows for portion in portions)
    for portion in portions:
        before = None if kept is None else kept.get(portion)
        if before is None:
            rest.append(portion)
        else:
            yield before
    done = total - sum(portion.rows for portion in rest)
    for portion, found in zip(rest, engine.map(work, rest), strict=True):
        if kept is not None:
            kept.put(portion, found)
        done += portion.rows
        if progress is not None:
            progress(done, total)
        yield found
