"""The inputs of commands: outputs in memory, sketches or many Parquet files; and notes on columns that are not read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import abstain
from abstain._errors import InvalidInputError
from abstain.cli.options import EngineOptions, FittingOptions, given, refuse, score_list
from abstain.cli.printing import warn
from abstain.cli.progress import rows_bar

OF_ENGINE = "be left out where Parquet files are read in parts, which keeps counts only"
OF_SKETCH = "be left out with a sketch, which holds counts only. Use the outputs themselves."


def is_sharded(locations: list[str], engine: EngineOptions, /, **in_parts: Any) -> bool:
    """Whether Parquet files are to be read in parts; if not, the options for that must not be given."""
    from abstain.scale.locations import is_sharded as has_several

    if engine.engine is not None:
        engine.execution()  # refuses an unknown one
    if engine.engine is not None or len(locations) > 1 or has_several(locations[0]):
        return True
    refuse(given(engine) | in_parts, "come with several Parquet files or --engine")
    return False


def sketch_files(
    locations: list[str],
    engine: EngineOptions,
    options: FittingOptions,
    /,
    *,
    scores: Sequence[str] | None,
    resume: Path | None,
    **settings: Any,
) -> "abstain.scale.SketchResult":
    """The counts of all rows of Parquet files, with a progress bar."""
    if options.fitting == "paper":
        raise InvalidInputError(
            "`--fitting` must be outputs or `fifth` where Parquet files are read in parts, got `paper`."
        )
    settings |= {"nonfinite": options.nonfinite, "seed": options.seed}
    if options.fitting != "fifth":
        settings["fitting"] = options.load(options.fitting)
    chosen, execution = abstain.scale.SketchSettings(**settings), engine.execution()
    with rows_bar() as progress:
        return abstain.scale.sketch(
            locations,
            scores=score_list(scores),
            settings=chosen,
            execution=execution,
            resume=resume,
            progress=progress,
        )


def decided_rows(
    decider: "abstain.Selector | abstain.Cascade | None",
    locations: Sequence[Path],
    /,
    *,
    what: str = "OUTPUTS",
    group: str | None = None,
    nonfinite: str = "reject",
) -> "abstain.Outputs":
    """The rows of one file, or of one for each model of a cascade, combined.

    A ``group`` column of the first file takes the place of the stages.
    """
    if isinstance(decider, abstain.Cascade):
        rows = stage_outputs(decider, locations, what=what)
        named = None if group is None else abstain.Outputs.load(locations[0], nonfinite="reject", group=group).domain
        return decider.combined(rows, domain=named)
    if len(locations) > 1:
        raise InvalidInputError(f"`{what}` must be given once without a cascade, got {len(locations)} of them.")
    return abstain.Outputs.load(locations[0], nonfinite=nonfinite, group=group)  # type: ignore[arg-type]


def stage_outputs(
    cascade: "abstain.Cascade", locations: Sequence[str | Path], /, *, what: str = "OUTPUTS"
) -> "list[abstain.Outputs]":
    """The outputs of each model of a cascade, in its order."""
    if len(locations) != len(cascade.names):
        raise InvalidInputError(
            f"`{what}` must be given for each model of the cascade ({', '.join(cascade.names)}), got "
            f"{len(locations)} for {len(cascade.names)}."
        )
    return [abstain.Outputs.load(location, nonfinite="reject") for location in locations]


def table_columns(outputs: Path, /) -> list[str]:
    """The names of the columns of a table or a log of decisions; none of other outputs."""
    from abstain.decision_log import is_log
    from abstain.outputs.columns import SUFFIXES, names_of

    is_table = outputs.suffix.lower() in SUFFIXES and (outputs.is_file() or is_log(outputs))
    return names_of(outputs) if is_table else []


def unused_notes(outputs: Path, /, *, group: str | None = None) -> list[str]:
    """A note on the columns of a table that no command reads; none for other outputs."""
    from abstain.outputs.column_names import unused_words

    note = unused_words(table_columns(outputs), group=group)
    return [] if note is None else [note]


def warn_unused(*outputs: Path, group: str | None = None) -> None:
    """The same on standard error, for commands without notes."""
    for file in outputs:
        for note in unused_notes(file, group=group):
            warn(note)
