"""Options that several commands have, and what they mean."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import nonfinite_words

if TYPE_CHECKING:
    from abstain.evaluation.fitting import Fitting

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Figure = Annotated[Path | None, typer.Option(help="Write the curves here (.png, .pdf, .svg).")]
FittingOn = Annotated[
    str, typer.Option(help="Outputs to fit scores on; or draw a `fifth`, or as the `paper` five per class.")
]
ONE_SCORE = "[confidence_margin, or the only confidence given; `best` chooses on a fifth of the rows]"
ALL_SCORES = "[all that the outputs allow]"
Group = Annotated[
    str | None, typer.Option(help="The column of a table that names groups. [group, or that of the --selector]")
]
Minimum = Annotated[int | None, typer.Option(help="Join bins until each has none or so many rows of every population.")]
Nonfinite = Annotated[
    str,
    typer.Option(help="'error', or 'reject' to count NaN rows as rejected errors.", autocompletion=nonfinite_words),
]


def score_list(scores: Sequence[str] | None, /) -> list[str] | None:
    """The names of scores, each option one or several; None where there is no option."""
    from abstain.scores.registry import split_names

    return [name for names in scores for name in split_names(names)] if scores else None


def fitting_of(fitting: str, nonfinite: str, /) -> "Fitting":
    """The name of a draw, or the outputs in a file."""
    from abstain.outputs import Outputs

    if fitting in ("fifth", "paper"):
        return fitting  # type: ignore[return-value]
    return Outputs.load(fitting, nonfinite=nonfinite)  # type: ignore[arg-type]


def refuse(options: Mapping[str, Any], rule: str, /) -> None:
    """Options that must not be given, by name, and the rule that the first of them breaks."""
    for name, value in options.items():
        if value is not None and value is not False and value != []:
            raise ValueError(f"`{name}` must {rule}")
