"""`abstain sets`: a selector with sets of classes for the rows that it rejects."""

from pathlib import Path
from typing import Annotated

import typer

import abstain
from abstain._io.files import check_output_path
from abstain.cli.options import Delta, NewSelector, SelectorFile
from abstain.cli.printing import Result, next_command


def sets(
    selector: SelectorFile,
    held_out: Annotated[Path, typer.Argument(help="Labelled outputs that did not calibrate it.")],
    output: NewSelector,
    coverage: Annotated[
        float, typer.Option(help="Smallest share of rejected samples whose set holds the truth.")
    ] = 0.9,
    delta: Delta = 0.05,
) -> Result:
    """Add sets of classes for rejected samples. A set holds the truth with a stated probability among rejected ones.

    `abstain select` then writes the column candidates: for a rejected sample the classes of its set, the most probable
    first. Samples of classes that the classifier does not know count as misses.

    Example: abstain sets s.abstain held_out/ --coverage 0.9 -o with-sets.abstain
    """
    check_output_path(output)
    loaded = abstain.Selector.load(selector)
    rows = abstain.Outputs.load(held_out, nonfinite="reject", group=loaded.group_column)
    made = abstain.calibrate_sets(loaded, rows, coverage=coverage, delta=delta)
    made.save(output)
    assert made.class_sets is not None
    return Result(
        {"selector": str(output), "class_sets": made.class_sets},
        [made.class_sets.words(), next_command("select", output, "NEW", "-o", "decisions.csv")],
    )
