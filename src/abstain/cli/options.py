"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.complete import nonfinite_words

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Figure = Annotated[Path | None, typer.Option(help="Write the curves here (.png, .pdf, .svg).")]
Nonfinite = Annotated[
    str,
    typer.Option(help="'error', or 'reject' to count NaN rows as rejected errors.", autocompletion=nonfinite_words),
]
