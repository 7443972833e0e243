"""`abstain sketch`: outputs to counts that merge."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from abstain.cli.completion import group_kinds, score_names
from abstain.cli.inputs import (
    OF_ENGINE,
    check_in_memory,
    check_sketch_path,
    is_sharded,
    sketch_files,
    warn_unused,
    write_sketch,
)
from abstain.cli.options import (
    EngineOptions,
    FittingOn,
    Json,
    Minimum,
    Nonfinite,
    Resume,
    fitting_of,
    refuse,
    score_list,
)
from abstain.cli.printing import warn
from abstain.cli.progress import progress_bar

if TYPE_CHECKING:
    from abstain.sketch import Plan, Sketch


POPULATIONS = {"class": "class", "group": "domain", "domain": "domain"}
"""What --per may be, and what a sketch calls it; domain is another name of the column group, as in tables."""


@final
@dataclass(frozen=True, kw_only=True)
class SketchOptions:
    """What is counted, in which bins, and on which rows scores are fitted."""

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
    fitting: FittingOn = "fifth"
    nonfinite: Nonfinite = "error"
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0

    def check(self) -> None:
        """Options that exclude each other."""
        from abstain._names import check_name

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
        from abstain.sketch import Sketch

        return None if self.edges is None else Sketch.load(self.edges).plan


def sketch(
    outputs: Annotated[
        list[str],
        typer.Argument(help="A folder of outputs, an .npz, .csv, .parquet or .jsonl file, or many Parquet files."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .sketch file to write.")],
    options: SketchOptions,
    engine: EngineOptions,
    resume: Resume = None,
    minimum: Minimum = None,
    json: Json = False,
) -> None:
    """Count rows and errors by bins of confidence. The file is small, holds no rows, and merges with others.

    With --edges the scores of another sketch are counted in its bins, fitted as they are there, so that both merge.
    If the rows have ids, several rows may be the same sample, and a threshold from the counts has no proof, unless
    --distinct states that no id repeats.

    Example: abstain sketch run/ -o a.sketch
    """
    check_sketch_path(output)
    options.check()
    if is_sharded(outputs, engine):
        counts = _of_files(outputs, options, engine, resume)
    else:
        check_in_memory(engine, **{"--resume": resume})
        counts = _of_outputs(Path(outputs[0]), options)
    write_sketch(counts, output, minimum=minimum, json=json)
    if not is_sharded(outputs, engine):
        warn_unused(Path(outputs[0]))


def _of_files(outputs: list[str], options: SketchOptions, engine: EngineOptions, resume: Path | None) -> "Sketch":
    refuse({"--equal-mass": options.equal_mass}, OF_ENGINE)
    result = sketch_files(
        outputs,
        engine,
        scores=options.score,
        fitting=options.fitting,
        nonfinite=options.nonfinite,
        bits=options.kept_bits,
        by=options.populations,
        distinct=options.distinct,
        plan=options.plan(),
        seed=options.seed,
        resume=resume,
    )
    for note in result.notes:
        warn(note)
    return result.sketch


def _of_outputs(outputs: Path, options: SketchOptions) -> "Sketch":
    from abstain.evaluation import sketch_outputs
    from abstain.evaluation.fitting import seeded
    from abstain.outputs import Outputs
    from abstain.sketch import Bins, Sketch

    run = Outputs.load(outputs, nonfinite=options.nonfinite)
    if (plan := options.plan()) is not None:
        return Sketch.of_outputs(plan.matching(run, distinct=options.distinct), run)
    with progress_bar() as progress:
        return sketch_outputs(
            run,
            scores=score_list(options.score),
            bins=Bins(options.kept_bits) if options.equal_mass is None else options.equal_mass,
            by=options.populations,
            distinct=options.distinct,
            fitting=seeded(fitting_of(options.fitting, options.nonfinite), seed=options.seed),
            progress=progress,
        )
