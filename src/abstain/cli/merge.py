"""`abstain merge`: several sketches to one of all their rows."""

import hashlib
from pathlib import Path
from typing import Annotated

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import reading
from abstain.cli.options import Minimum, NewSketch
from abstain.cli.printing import Result
from abstain.cli.sketch import check_sketch_path, written


def merge(
    sketches: Annotated[list[Path], typer.Argument(help="Sketches of different rows, with the same scores and bins.")],
    output: NewSketch,
    minimum: Minimum = None,
) -> Result:
    """Add up sketches. The result is the sketch of all their rows.

    Example: abstain merge a.sketch b.sketch -o ab.sketch
    """
    check_sketch_path(output)
    _check_different(sketches)
    loaded = [abstain.Sketch.load(file) for file in sketches]
    return written(abstain.sketch.merge(loaded, names=[str(file) for file in sketches]), output, minimum=minimum)


def _check_different(files: list[Path]) -> None:
    """Raise an error for files with equal contents, whose rows would count twice."""
    seen: dict[str, Path] = {}
    for file in files:
        with reading(file, "a sketch"), open(file, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest in seen:
            raise InvalidInputError(
                f"`{file}` must hold other rows than {seen[digest]}, got the same contents. Name it once."
            )
        seen[digest] = file
