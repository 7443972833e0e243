"""`abstain sketch`: outputs to counts that merge."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import check_output_path
from abstain._names import check_name
from abstain.cli.completion import group_kinds, score_names
from abstain.cli.inputs import OF_ENGINE, is_sharded, sketch_files, warn_unused
from abstain.cli.options import EngineOptions, FittingOptions, Minimum, NewSketch, Resume, refuse, score_list
from abstain.cli.printing import Paragraph, Result, command_line, warn
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.sketch import Plan

POPULATIONS = {"class": "class", "group": "domain", "domain": "domain"}
"""What --per may be, and what a sketch calls it; domain is another name of the column group, as in tables."""


@final
@dataclass(frozen=True, kw_only=True)
class SketchOptions:
    """What is counted, and in which bins."""

    score: Annotated[
        list[str] | None,
        typer.Option(help="A score to count; repeat. [all that need no fitting]", autocompletion=score_names),
    ] = None
    bits: Annotated[
        int | None, typer.Option(help="Leading bits of the confidence to keep, 9 to 32; 32 is exact. [20]")
    ] = None
    equal_mass: Annotated[
        int | None, typer.Option(help="Use this many bins with equally many rows instead, chosen on these rows.")
    ] = None
    edges: Annotated[Path | None, typer.Option(help="Another sketch: use its scores and bins.")] = None
    per: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[class|group]",
            help="Also count each predicted class or group separately, for a threshold for each; repeat. [shift]",
            autocompletion=group_kinds,
        ),
    ] = None
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="No id repeats, here or in sketches to merge with: all rows are independent."),
    ] = False

    def check(self) -> None:
        """Options that exclude each other."""
        if self.edges is not None:
            settled = {"--score": self.score, "--bits": self.bits, "--equal-mass": self.equal_mass, "--per": self.per}
            refuse(settled, "be left out with --edges, whose sketch determines it")
        if self.equal_mass is not None:
            refuse({"--bits": self.bits}, "be left out with --equal-mass, which makes its own bins")
        for kind in self.per or ():
            check_name("--per", kind, POPULATIONS, rule="be class or group")

    @property
    def kept_bits(self) -> int:
        """Bits of the confidence."""
        from abstain.sketch.bins import BITS

        return BITS if self.bits is None else self.bits

    @property
    def populations(self) -> tuple[Any, ...]:
        """What rows are counted separately by."""
        return ("shift", *dict.fromkeys(POPULATIONS[kind] for kind in self.per or ()))

    def plan(self) -> "Plan | None":
        """That of the other sketch, if one is named."""
        return None if self.edges is None else abstain.Sketch.load(self.edges).plan


def sketch(
    outputs: Annotated[
        list[str],
        typer.Argument(help="A folder of outputs, an .npz, .csv, .parquet or .jsonl file, or many Parquet files."),
    ],
    output: NewSketch,
    options: SketchOptions,
    fitting: FittingOptions,
    engine: EngineOptions,
    resume: Resume = None,
    minimum: Minimum = None,
) -> Result:
    """Count rows and errors by bins of confidence. The file is small, holds no rows, and merges with others.

    With --edges the scores of another sketch are counted in its bins, fitted as they are there, so that both merge.
    If the rows have ids, several rows may be the same sample, and a threshold from the counts has no proof, unless
    --distinct states that no id repeats.

    Example: abstain sketch run/ -o a.sketch
    """
    check_sketch_path(output)
    options.check()
    if is_sharded(outputs, engine, **{"--resume": resume}):
        return written(_of_files(outputs, options, fitting, engine, resume), output, minimum=minimum)
    result = written(_of_outputs(Path(outputs[0]), options, fitting), output, minimum=minimum)
    warn_unused(Path(outputs[0]))
    return result


def _of_files(
    outputs: list[str], options: SketchOptions, fitting: FittingOptions, engine: EngineOptions, resume: Path | None
) -> "abstain.Sketch":
    refuse({"--equal-mass": options.equal_mass}, OF_ENGINE)
    result = sketch_files(
        outputs,
        engine,
        fitting,
        scores=options.score,
        bits=options.kept_bits,
        by=options.populations,
        distinct=options.distinct,
        plan=options.plan(),
        resume=resume,
    )
    for note in result.notes:
        warn(note)
    return result.sketch


def _of_outputs(outputs: Path, options: SketchOptions, fitting: FittingOptions) -> "abstain.Sketch":
    run = fitting.load(outputs)
    if (plan := options.plan()) is not None:
        return abstain.Sketch.of_outputs(plan.matching(run, distinct=options.distinct), run)
    with progress_bar() as progress:
        return abstain.evaluation.sketch_outputs(
            run,
            scores=score_list(options.score),
            bins=abstain.sketch.Bins(options.kept_bits) if options.equal_mass is None else options.equal_mass,
            by=options.populations,
            distinct=options.distinct,
            fitting=fitting.rows(),
            progress=progress,
        )


def check_sketch_path(output: Path, /) -> None:
    """The file to write must be one that other commands take for a sketch."""
    if output.suffix != ".sketch":
        raise InvalidInputError(f"`--output` must end in .sketch, got {output.name}.")
    check_output_path(output)


def written(sketch: "abstain.Sketch", output: Path, /, *, minimum: int | None) -> Result:
    """Write a sketch, without small counts if there is a minimum: what is in it."""
    from abstain.sketch.suppression import coarsened

    if minimum is not None:
        sketch = coarsened(sketch, minimum=minimum)
    sketch.save(output)
    evaluate, merge = command_line("evaluate", output), command_line("merge", output)
    return Result(
        {"sketch": str(output)} | sketch.to_dict(),
        [
            f"Wrote {output}: {sketch.summary()}",
            Paragraph(f"Next: {evaluate}, or {merge} … -o all.sketch", whole=True),
        ],
    )
