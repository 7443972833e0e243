"""What commands do with many Parquet files: a folder, a pattern, addresses, or several names."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import engine_names
from abstain.cli.options import refuse, score_list
from abstain.cli.show import sample_bar

if TYPE_CHECKING:
    from abstain.engines import Sketched
    from abstain.evaluation import SketchedEvaluation

Engine = Annotated[
    str | None,
    typer.Option(
        help="Read Parquet files part by part, on threads (`local`) or a cluster (`ray`). [local for several files]",
        autocompletion=engine_names,
    ),
]
Workers = Annotated[int | None, typer.Option(help="How many at a time. [one for each core]")]
Address = Annotated[str | None, typer.Option(help="Of the Ray cluster, such as auto. [one of this machine alone]")]
Resume = Annotated[Path | None, typer.Option(help="A folder for finished parts, to go on from after a stop.")]


def is_sharded(places: list[str], engine: str | None) -> bool:
    """Whether Parquet files are to be read part by part."""
    from abstain.engines.places import is_sharded as has_several

    return engine is not None or len(places) > 1 or has_several(places[0])


def check_in_memory(**options: Any) -> None:
    """Options that are of engines alone."""
    rule = "come with Parquet files that an engine reads, got other outputs."
    refuse({f"--{name}": value for name, value in options.items()}, rule)


def sketched(
    places: list[str],
    *,
    scores: Sequence[str] | None,
    fitting: str,
    nonfinite: str,
    engine: str | None,
    refused: dict[str, Any],
    **options: Any,
) -> "Sketched":
    """The counts of all rows, with a bar that tells the rate and the time left."""
    import abstain
    from abstain.engines import sketch

    refuse(refused, "be left out with Parquet files that an engine reads, which are counted.")
    if fitting == "paper":
        raise ValueError("`--fitting` must be outputs, or a draw of a `fifth`, with an engine, got 'paper'.")
    with rows_bar() as progress:
        return sketch(
            places,
            scores=score_list(scores),
            fitting=None if fitting == "fifth" else abstain.Outputs.load(fitting, nonfinite=nonfinite),  # type: ignore[arg-type]
            nonfinite=nonfinite,  # type: ignore[arg-type]
            engine=engine or "local",
            progress=progress,
            **options,
        )


@contextmanager
def rows_bar() -> Iterator[Callable[[int, int], None]]:
    """Counts rows; what an engine prints inside the context, as Ray does of dead workers, goes to standard error."""
    with redirect_stdout(sys.stderr), sample_bar("Rows") as progress:
        yield progress


def compared(found: "Sketched", *, alphas: list[float] | None, level: float) -> "SketchedEvaluation":
    """The scores compared by their counts."""
    from dataclasses import replace

    from abstain.evaluation import evaluate_sketch
    from abstain.metrics.intervals import ALPHAS

    result = evaluate_sketch(found.sketch, alphas=alphas or ALPHAS, level=level)
    return replace(result, left_out=found.left_out, notes=(*found.notes, *result.notes))
