"""The inputs of commands: outputs in memory, sketches or many Parquet files; and notes on columns that are not read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain._errors import InvalidInputError
from abstain.cli.options import EngineOptions, refuse, score_list
from abstain.cli.printing import print_json, say, warn
from abstain.cli.progress import rows_bar
from abstain.cli.terminal import program

if TYPE_CHECKING:
    from abstain.outputs import Outputs
    from abstain.scale import SketchResult
    from abstain.selector import Cascade, Selector
    from abstain.sketch import Sketch

IN_MEMORY = "come with several Parquet files or --engine"
OF_ENGINE = "be left out where Parquet files are read in parts, which keeps counts only"
OF_SKETCH = "be left out with a sketch, which holds counts only. Use the outputs themselves."


def is_sharded(locations: list[str], engine: EngineOptions, /) -> bool:
    """Whether Parquet files are to be read in parts."""
    from abstain.scale.locations import is_sharded as has_several

    if engine.engine is not None:
        engine.execution()  # refuses an unknown one
    return engine.engine is not None or len(locations) > 1 or has_several(locations[0])


def check_in_memory(engine: EngineOptions, /, **options: Any) -> None:
    """Options of engines must not be given for outputs in memory."""
    refuse({"--workers": engine.workers, "--address": engine.address} | options, IN_MEMORY)


def sketch_files(
    locations: list[str],
    engine: EngineOptions,
    /,
    *,
    scores: Sequence[str] | None,
    fitting: str,
    resume: Path | None,
    **settings: Any,
) -> "SketchResult":
    """The counts of all rows of Parquet files, with a progress bar."""
    import abstain
    from abstain.scale import SketchSettings, sketch

    if fitting == "paper":
        raise InvalidInputError(
            "`--fitting` must be outputs or `fifth` where Parquet files are read in parts, got `paper`."
        )
    if fitting != "fifth":
        settings["fitting"] = abstain.Outputs.load(fitting, nonfinite=settings["nonfinite"])
    chosen, execution = SketchSettings(**settings), engine.execution()
    with rows_bar() as progress:
        return sketch(
            locations,
            scores=score_list(scores),
            settings=chosen,
            execution=execution,
            resume=resume,
            progress=progress,
        )


def check_sketch_path(output: Path, /) -> None:
    """The file to write must be one that other commands take for a sketch."""
    from abstain._io.files import check_output_path

    if output.suffix != ".sketch":
        raise InvalidInputError(f"`--output` must end in .sketch, got {output.name}.")
    check_output_path(output)


def write_sketch(sketch: "Sketch", output: Path, /, *, minimum: int | None, json: bool) -> None:
    """Write a sketch, without small counts if there is a minimum, and print what is in it."""
    from abstain.sketch.suppression import coarsened

    if minimum is not None:
        sketch = coarsened(sketch, minimum=minimum)
    sketch.save(output)
    if json:
        print_json({"sketch": str(output)} | sketch.to_dict())
        return
    say(f"Wrote {output}: {sketch.summary()}")
    say(f"Next: {program()} evaluate {output}, or {program()} merge {output} … -o all.sketch", whole=True)


def decided_rows(
    decider: "Selector | Cascade | None",
    locations: Sequence[Path],
    /,
    *,
    what: str = "OUTPUTS",
    group: str | None = None,
    nonfinite: str = "reject",
) -> "Outputs":
    """The rows of one file, or of one for each model of a cascade, combined.

    A ``group`` column of the first file takes the place of the stages.
    """
    from abstain.outputs import Outputs
    from abstain.selector import Cascade

    if isinstance(decider, Cascade):
        rows = stage_outputs(decider, locations, what=what)
        named = None if group is None else Outputs.load(locations[0], nonfinite="reject", group=group).domain
        return decider.combined(rows, domain=named)
    if len(locations) > 1:
        raise InvalidInputError(f"`{what}` must be given once without a cascade, got {len(locations)} of them.")
    return Outputs.load(locations[0], nonfinite=nonfinite, group=group)  # type: ignore[arg-type]


def stage_outputs(cascade: "Cascade", locations: Sequence[str | Path], /, *, what: str = "OUTPUTS") -> "list[Outputs]":
    """The outputs of each model of a cascade, in its order."""
    from abstain.outputs import Outputs

    if len(locations) != len(cascade.names):
        raise InvalidInputError(
            f"`{what}` must be given for each model of the cascade ({', '.join(cascade.names)}), got "
            f"{len(locations)} for {len(cascade.names)}."
        )
    return [Outputs.load(Path(location), nonfinite="reject") for location in locations]


def unused_notes(outputs: Path, /, *, group: str | None = None) -> list[str]:
    """A note on the columns of a table that no command reads; none for other outputs."""
    from abstain.outputs.column_names import unused_words
    from abstain.outputs.columns import SUFFIXES, names_of

    is_table = outputs.suffix.lower() in SUFFIXES and outputs.is_file()
    note = unused_words(names_of(outputs), group=group) if is_table else None
    return [] if note is None else [note]


def warn_unused(outputs: Path, /, *, group: str | None = None) -> None:
    """The same on standard error, for commands without notes."""
    for note in unused_notes(outputs, group=group):
        warn(note)
