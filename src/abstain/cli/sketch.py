"""`abstain sketch`: outputs to counts that merge."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from abstain.cli.complete import score_names
from abstain.cli.letters import shown
from abstain.cli.options import FittingOn, Json, Minimum, Nonfinite, fitting_of, refuse, score_list
from abstain.cli.sharded import Address, Engine, Resume, Workers, check_in_memory, is_sharded, sketched
from abstain.cli.show import progress_bar
from abstain.cli.sketched import keep_sketch
from abstain.cli.unused_columns import tell_unused


def sketch(
    outputs: Annotated[
        list[str],
        typer.Argument(help="A folder of outputs, an .npz, .csv or .parquet file, or many Parquet files."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .sketch file to write.")],
    score: Annotated[
        list[str] | None,
        typer.Option(help="A score to count; repeat. By default all that need no fitting.", autocompletion=score_names),
    ] = None,
    bits: Annotated[
        int | None, typer.Option(help="Bits of the confidence that are kept, 9 to 32; 32 is exact. [20]")
    ] = None,
    equal_mass: Annotated[
        int | None, typer.Option(help="So many bins of as many rows each instead, chosen on these rows.")
    ] = None,
    edges: Annotated[Path | None, typer.Option(help="Another sketch, whose scores and bins are taken.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Keep rows apart by domain or predicted class, beside the shift; repeat."),
    ] = None,
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="No id repeats, here or in sketches to merge with: every row is independent."),
    ] = False,
    minimum: Minimum = None,
    fitting: FittingOn = "fifth",
    nonfinite: Nonfinite = "error",
    seed: Annotated[int, typer.Option(help="Seed of the draw of rows to fit on.")] = 0,
    engine: Engine = None,
    workers: Workers = None,
    address: Address = None,
    resume: Resume = None,
    json: Json = False,
) -> None:
    """Count rows and errors by bin of confidence: a small file that merges with others and holds no row.

    With --edges the scores of another sketch are counted in its bins, and fitted as they are there, so that both merge.
    Rows with ids may show a sample twice, so that a threshold from the counts has no proof, unless --distinct is said.

    Example: abstain sketch run/ -o a.sketch
    """
    from abstain.evaluation import sketch_outputs
    from abstain.files import check_goal
    from abstain.outputs import Outputs
    from abstain.sketch import Bins, Sketch
    from abstain.sketch.bins import BITS

    check_goal(output)
    if edges is not None:
        settled = {"--score": score, "--bits": bits, "--equal-mass": equal_mass, "--by": by}
        refuse(settled, "be left out with --edges, whose sketch settles it.")
    if equal_mass is not None:
        refuse({"--bits": bits}, "be left out with --equal-mass, which makes bins of its own.")
    kept = BITS if bits is None else bits
    populations: tuple[Any, ...] = ("shift", *dict.fromkeys(by or ()))
    if is_sharded(outputs, engine):
        counted = sketched(
            outputs,
            scores=score,
            fitting=fitting,
            nonfinite=nonfinite,
            bits=kept,
            by=populations,
            distinct=distinct,
            plan=None if edges is None else Sketch.load(edges).plan,
            seed=seed,
            engine=engine,
            workers=workers,
            address=address,
            resume=resume,
            refused={"--equal-mass": equal_mass},
        )
        for note in counted.notes:
            print(shown(f"abstain: {note}"), file=sys.stderr)
        keep_sketch(counted.sketch, output, minimum=minimum, json=json)
        return
    check_in_memory(workers=workers, address=address, resume=resume)
    run = Outputs.load(outputs[0], nonfinite=nonfinite)  # type: ignore[arg-type]
    tell_unused(Path(outputs[0]))
    if edges is not None:
        found = Sketch.of_outputs(Sketch.load(edges).plan.matching(run, distinct=distinct), run)
    else:
        with progress_bar() as progress:
            found = sketch_outputs(
                run,
                scores=score_list(score),
                bins=Bins(kept),
                equal_mass=equal_mass,
                by=populations,
                distinct=distinct,
                fitting=fitting_of(fitting, nonfinite),
                seed=seed,
                progress=progress,
            )
    keep_sketch(found, output, minimum=minimum, json=json)
