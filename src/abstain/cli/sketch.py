"""`abstain sketch`: outputs to counts that merge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import score_names
from abstain.cli.options import Json, Nonfinite
from abstain.cli.sharded import Address, Engine, Resume, Workers, check_in_memory, is_sharded, sketched
from abstain.cli.show import print_json, progress_bar

if TYPE_CHECKING:
    from abstain.sketch import Sketch


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
    bits: Annotated[int, typer.Option(help="Bits of the confidence that are kept, 9 to 32; 32 is exact.")] = 20,
    equal_mass: Annotated[
        int | None, typer.Option(help="So many bins of as many rows each instead, chosen on these rows.")
    ] = None,
    edges: Annotated[Path | None, typer.Option(help="Another sketch, whose scores and bins are taken.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Keep rows apart by domain or predicted class, beside the shift; repeat."),
    ] = None,
    minimum: Annotated[
        int | None, typer.Option(help="Join bins until each has none or so many rows of every population.")
    ] = None,
    fitting: Annotated[
        str, typer.Option(help="Outputs to fit scores on; or draw a `fifth`, or as the `paper` five per class.")
    ] = "fifth",
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

    Example: abstain sketch run/ -o a.sketch
    """
    from dataclasses import replace

    import abstain
    from abstain.evaluation import sketch_outputs
    from abstain.files import check_goal
    from abstain.scores.registry import split_names
    from abstain.sketch import Bins, Sketch

    check_goal(output)
    if edges is not None and (score or equal_mass is not None or by):
        raise ValueError("`--edges` must come without --score, --equal-mass and --by, which that sketch settles.")
    populations: tuple[Any, ...] = ("shift", *dict.fromkeys(by or ()))
    if is_sharded(outputs, engine):
        found = sketched(
            outputs,
            scores=score,
            fitting=fitting,
            nonfinite=nonfinite,
            bits=bits,
            by=populations,
            plan=None if edges is None else Sketch.load(edges).plan,
            seed=seed,
            engine=engine,
            workers=workers,
            address=address,
            resume=resume,
            refused={"--equal-mass": equal_mass},
        ).sketch
        _keep(found, output, minimum, json=json)
        return
    check_in_memory(workers=workers, address=address, resume=resume)
    run = abstain.Outputs.load(outputs[0], nonfinite=nonfinite)  # type: ignore[arg-type]
    if edges is not None:
        plan = replace(Sketch.load(edges).plan, has_ids=run.samples[1] < len(run))
        found = Sketch.of_outputs(plan, run)
    else:
        with progress_bar() as progress:
            found = sketch_outputs(
                run,
                scores=[name for names in score for name in split_names(names)] if score else None,
                bins=Bins(bits),
                equal_mass=equal_mass,
                by=populations,
                fitting=fitting
                if fitting in ("fifth", "paper")
                else abstain.Outputs.load(fitting, nonfinite=nonfinite),  # type: ignore[arg-type]
                seed=seed,
                progress=progress,
            )
    _keep(found, output, minimum, json=json)


def _keep(found: "Sketch", output: Path, minimum: int | None, *, json: bool) -> None:
    """Write the sketch, and what is in it."""
    from abstain.sketch.coarse import coarsened

    if minimum is not None:
        found = coarsened(found, minimum=minimum)
    found.save(output)
    if json:
        print_json({"sketch": str(output)} | found.to_dict())
        return
    print(f"Wrote {output}: {found.summary()}")
    print(f"Go on with: abstain evaluate {output}, or abstain merge {output} … -o all.sketch")
