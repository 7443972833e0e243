"""`abstain merge`: sketches of several places to one of all rows."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.options import Json, Minimum
from abstain.cli.sketched import keep_sketch


def merge(
    sketches: Annotated[list[Path], typer.Argument(help="Sketches of different rows, with the same scores and bins.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .sketch file to write.")],
    minimum: Minimum = None,
    json: Json = False,
) -> None:
    """Add up sketches: the same as a sketch of all their rows, in whatever order.

    Example: abstain merge a.sketch b.sketch -o ab.sketch
    """
    from abstain.files import check_goal
    from abstain.sketch import Sketch
    from abstain.sketch import merge as merged

    check_goal(output)
    _check_different(sketches)
    found = merged([Sketch.load(file) for file in sketches], names=[str(file) for file in sketches])
    keep_sketch(found, output, minimum=minimum, json=json)


def _check_different(files: list[Path]) -> None:
    """The same contents twice are the same rows twice, which would count double."""
    import hashlib

    from abstain.files import reading

    seen: dict[str, Path] = {}
    for file in files:
        with reading(file, "a sketch"), open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest in seen:
            raise ValueError(f"`{file}` must hold other rows than {seen[digest]}, got the same contents. Name it once.")
        seen[digest] = file
