"""`abstain merge`: several sketches to one of all their rows."""

from pathlib import Path
from typing import Annotated

import typer

from abstain._errors import InvalidInputError
from abstain.cli.inputs import check_sketch_path, write_sketch
from abstain.cli.options import Json, Minimum


def merge(
    sketches: Annotated[list[Path], typer.Argument(help="Sketches of different rows, with the same scores and bins.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .sketch file to write.")],
    minimum: Minimum = None,
    json: Json = False,
) -> None:
    """Add up sketches. The result is the sketch of all their rows.

    Example: abstain merge a.sketch b.sketch -o ab.sketch
    """
    from abstain.sketch import Sketch
    from abstain.sketch import merge as merge_sketches

    check_sketch_path(output)
    _check_different(sketches)
    merged = merge_sketches([Sketch.load(file) for file in sketches], names=[str(file) for file in sketches])
    write_sketch(merged, output, minimum=minimum, json=json)


def _check_different(files: list[Path]) -> None:
    """Raise an error for files with equal contents, whose rows would count twice."""
    import hashlib

    from abstain._io.files import reading

    seen: dict[str, Path] = {}
    for file in files:
        with reading(file, "a sketch"), open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest in seen:
            raise InvalidInputError(
                f"`{file}` must hold other rows than {seen[digest]}, got the same contents. Name it once."
            )
        seen[digest] = file
