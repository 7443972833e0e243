"""`abstain recertify`: a new threshold after an alarm, with as few labels as possible."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.options import Json
from abstain.cli.program import program
from abstain.cli.show import print_json, say

if TYPE_CHECKING:
    from abstain.selector import Selector
    from abstain.selector.recertify import Recertification


def recertify(
    selector: Annotated[Path, typer.Argument(help="The selector file that raised the alarm.")],
    rows: Annotated[
        Path,
        typer.Argument(
            help="With --ask, recent decisions (id, confidence); else the labels asked for (id, error or correct)."
        ),
    ],
    state: Annotated[Path, typer.Option(help="Where the evidence is kept from one call to the next.")],
    ask: Annotated[int | None, typer.Option(min=1, help="Draw this many rows to label.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --ask, the .csv of rows to label; else the new selector."),
    ] = None,
    risk: Annotated[float | None, typer.Option(help="The risk to promise, if not that of the selector.")] = None,
    delta: Annotated[float | None, typer.Option(help="Probability with which the promise may fail.")] = None,
    json: Json = False,
) -> None:
    """Certify a threshold again on new rows, at or above the old one, looking after every batch of labels.

    First draw rows to label from recent decisions, fill in the column error (1 where the answer is wrong) or name it
    correct (1 where it is right), hand them in; repeat until a threshold is certified. Stopping then costs
    nothing. Of rows with the same id one is drawn, whose number is in the column row: such rows are one cluster, which
    counts once.

    Example: abstain recertify s.abstain decisions.csv --state again.json --ask 200 -o to-label.csv
    """
    from abstain.files import check_goal
    from abstain.selector import Selector

    for file in filter(None, (state, output)):
        check_goal(file)
    old = Selector.load(selector)
    found = _begun(old, state, risk, delta)
    if ask is None:
        _answer(found, old, rows, state, output, json)
        return
    if output is None or output.suffix != ".csv":
        raise ValueError("`--output` must name a .csv file for the rows to label, got none.")
    asked = _ask(found, rows, ask, state, output)
    if json:
        print_json({"pending": list(asked.pending), "labels": len(asked.ids)})
        return
    say(f"Label the {len(asked.pending)} rows in {output}: 1 in the column error where the answer is wrong, else 0.")
    say(f"Then: {program()} recertify {selector} {output} --state {state} -o new.abstain", whole=True)


def _begun(old: "Selector", state: Path, risk: float | None, delta: float | None) -> "Recertification":
    """What was kept of this selector and target, or a new beginning."""
    from abstain.files import read_text
    from abstain.records import from_json
    from abstain.selector.recertify import Recertification

    new = Recertification.of(old, risk=risk, delta=delta)
    if not state.exists():
        return new
    found = from_json(read_text(state, "the state of a Recertification"), Recertification, place=str(state))
    if found.of_selector != new.of_selector:
        raise ValueError(f"`--state` must be of this selector, got that of another in {state}. Name a new file.")
    if risk not in (None, found.risk) or delta not in (None, found.delta):
        raise ValueError(
            f"`--state` must be of the target asked for, got risk {found.risk:g}, delta {found.delta:g}. Name a new "
            "file, and bring decisions on new rows: labels that led to the choice of a target cannot certify it."
        )
    return found


def _ask(found: "Recertification", rows: Path, labels: int, state: Path, output: Path) -> "Recertification":
    """Draw rows to label and write them down."""
    from abstain.files import write_text
    from abstain.outputs.table import read_columns

    columns = read_columns(rows, number=("confidence",), text=("id",), if_there=("prediction",))
    asked = found.ask(columns["confidence"], columns["id"], labels=labels)
    predictions = columns.get("prediction")
    shown = None if predictions is None else [str(predictions[row]) for row in asked.pending_rows]
    several = len(set(columns["id"])) < len(columns["id"])
    write_text(output, _to_label(asked, shown, rows=several))
    write_text(state, asked.to_json())
    return asked


def _to_label(asked: "Recertification", predictions: list[str] | None, *, rows: bool) -> str:
    """A table of the rows asked for, with what a person needs who labels them; id and error are read back.

    Where ids repeat, ``rows`` tells which row of an id is asked for, the first of the table being 1.
    """
    columns: dict[str, Sequence[object]] = {"id": asked.pending}
    if rows:
        columns["row"] = [row + 1 for row in asked.pending_rows]
    if predictions is not None:
        columns["prediction"] = predictions
    columns |= {"confidence": asked.pending_confidence, "error": [""] * len(asked.pending)}
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[*columns], *zip(*columns.values(), strict=True)])
    return text.getvalue()


def _answer(
    found: "Recertification", old: "Selector", rows: Path, state: Path, output: Path | None, json: bool
) -> None:
    """Take the labels, and tell what they certify."""
    from abstain.files import write_text
    from abstain.outputs.table import read_errors

    found = found.answer(*read_errors(rows))
    write_text(state, found.to_json())
    threshold = found.threshold
    if threshold is not None and output is not None:
        found.selector(old).save(output)
    if json:
        value = None if threshold is None else threshold.value
        print_json({"labels": len(found.ids), "looks": found.looks, "threshold": value})
    elif threshold is None:
        say(f"Nothing is certified yet after {len(found.ids)} labels: {found.outlook()}.")
        say(f"The next look is at {found.next_look} labels: {_next_step(found)}")
        say(
            "To aim at a higher --risk, begin anew with a new --state file and decisions on new rows: labels that led "
            "to the choice of a risk cannot certify it."
        )
    else:
        written = "" if output is None else f" The new selector is in {output}."
        say(f"Certified after {len(found.ids)} labels: {threshold}{written}")


def _next_step(found: "Recertification") -> str:
    """How to come to the next look."""
    more = found.next_look - len(found.ids)
    if found.left >= more:
        return f"--ask {more}."
    return (
        f"{more} more, but these decisions have {found.left or 'none'} left above the old threshold. Bring decisions "
        f"on new rows (`abstain select`), and --ask {more} of them."
    )
