"""`abstain merge`: sketches of several places to one of all rows."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.options import Json
from abstain.cli.show import print_json


def merge(
    sketches: Annotated[list[Path], typer.Argument(help="Sketches of different rows, with the same scores and bins.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .sketch file to write.")],
    minimum: Annotated[
        int | None, typer.Option(help="Join bins until each has none or so many rows of every population.")
    ] = None,
    json: Json = False,
) -> None:
    """Add up sketches: the same as a sketch of all their rows, in whatever order.

    Example: abstain merge a.sketch b.sketch -o ab.sketch
    """
    from abstain.files import check_goal
    from abstain.sketch import Sketch
    from abstain.sketch import merge as merged
    from abstain.sketch.coarse import coarsened

    check_goal(output)
    found = merged([Sketch.load(file) for file in sketches], names=[str(file) for file in sketches])
    if minimum is not None:
        found = coarsened(found, minimum=minimum)
    found.save(output)
    if json:
        print_json({"sketch": str(output)} | found.to_dict())
        return
    print(f"Wrote {output}: {found.summary()}")
