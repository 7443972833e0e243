"""`abstain recertify`: a new threshold after an alarm, with as few labels as possible."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from abstain._errors import InvalidInputError
from abstain.cli.options import Json
from abstain.cli.printing import command_line, print_json, say

if TYPE_CHECKING:
    from abstain.selector import Selector
    from abstain.selector.recertify import Recertification


@final
@dataclass(frozen=True, kw_only=True)
class RecertifiedTarget:
    """What the new threshold is to guarantee, if not what the old one did."""

    risk: Annotated[float | None, typer.Option(help="The risk to guarantee. [that of the selector]")] = None
    delta: Annotated[
        float | None, typer.Option(help="Probability that the guarantee fails. [that of the selector]")
    ] = None

    def resume(self, old: "Selector", state: Path, /) -> "Recertification":
        """The recertification in the state file, or a new one."""
        from abstain._io.files import read_text
        from abstain._io.records import from_json
        from abstain.selector.recertify import Recertification

        new = Recertification.of(old, risk=self.risk, delta=self.delta)
        if not state.exists():
            return new
        saved = from_json(read_text(state, "the state of a Recertification"), Recertification, where=str(state))
        if saved.of_selector != new.of_selector:
            raise InvalidInputError(
                f"`--state` must be of this selector, got that of another in {state}. Name a new file."
            )
        if self.risk not in (None, saved.risk) or self.delta not in (None, saved.delta):
            raise InvalidInputError(
                f"`--state` must have the same target, got risk {saved.risk:g} and delta {saved.delta:g}. For another "
                "target name a new file and use decisions on new rows: labels that led to a target cannot certify it."
            )
        return saved


def recertify(
    selector: Annotated[Path, typer.Argument(help="The selector file that raised the alarm.")],
    rows: Annotated[
        Path,
        typer.Argument(
            help="With --ask, recent decisions (id, confidence); else the requested labels (id, error or correct)."
        ),
    ],
    state: Annotated[Path, typer.Option(help="The file that keeps the evidence between calls.")],
    target: RecertifiedTarget,
    ask: Annotated[int | None, typer.Option(min=1, help="Draw this many rows to label.")] = None,
    audited: Annotated[
        bool, typer.Option("--audited", help="ROWS are decisions with an audit: take the labels of its rows.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --ask, the .csv of rows to label; else the new selector."),
    ] = None,
    json: Json = False,
) -> None:
    """Certify a new threshold after an alarm. It is at or above the old one, and tested after every batch of labels.

    First draw rows to label from recent decisions (--ask). Fill in the column error (1 where the answer is wrong), or
    rename it to correct (1 where the answer is right), and give the file back. Repeat until a threshold is certified;
    stopping early does not weaken the guarantee. Rows with the same id are one cluster, of which a single row is drawn;
    the column row has its number. Decisions of `abstain select --audit` need no --ask: give them with --audited.

    Example: abstain recertify s.abstain decisions.csv --state again.json --ask 200 -o to-label.csv
    """
    from abstain._io.files import check_output_path
    from abstain.selector import Selector

    for file in filter(None, (state, output)):
        check_output_path(file)
    old = Selector.load(selector)
    saved = target.resume(old, state)
    if audited and ask is not None:
        raise InvalidInputError(f"`--ask` must come without --audited, whose rows have their labels, got {ask}.")
    if ask is None:
        answered = (_audited if audited else _answer)(saved, rows, state)
        _print(answered, old, output, json=json)
        return
    if output is None or output.suffix != ".csv":
        raise InvalidInputError(f"`--output` must name a .csv file for the rows to label, got {output or 'none'}.")
    asked = _ask(saved, rows, ask, state, output)
    if json:
        print_json({"pending": list(asked.pending), "labels": len(asked.ids)})
        return
    say(f"Label the {len(asked.pending)} rows in {output}: 1 in the column error where the answer is wrong, else 0.")
    then = command_line("recertify", selector, output, "--state", state, "-o", "new.abstain")
    say(f"Then: {then}", whole=True)


def _ask(saved: "Recertification", rows: Path, labels: int, state: Path, output: Path) -> "Recertification":
    """Draw rows to label and write them."""
    from abstain._io.files import write_text
    from abstain.outputs.table import read_columns

    columns = read_columns(rows, number=("confidence",), text=("id",), if_there=("prediction",))
    asked = saved.ask(columns["confidence"], columns["id"], labels=labels)
    predictions = columns.get("prediction")
    chosen = None if predictions is None else [str(predictions[row]) for row in asked.pending_rows]
    several = len(set(columns["id"])) < len(columns["id"])
    write_text(output, _to_label(asked, chosen, rows=several))
    write_text(state, asked.to_json())
    return asked


def _to_label(asked: "Recertification", predictions: list[str] | None, *, rows: bool) -> str:
    """A table of the rows to label; id and error are read back.

    Where ids repeat, the column row is the number of the row in the decisions, the first being 1.
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


def _answer(saved: "Recertification", rows: Path, state: Path) -> "Recertification":
    """Read the labels, and save what they show."""
    from abstain._io.files import write_text
    from abstain.outputs.table import read_errors

    answered = saved.answer(*read_errors(rows))
    write_text(state, answered.to_json())
    return answered


def _audited(saved: "Recertification", rows: Path, state: Path) -> "Recertification":
    """Read the labels of an audit, and save what they show."""
    from abstain._io.files import write_text
    from abstain.outputs.table import read_decisions
    from abstain.selector.audited_decisions import AuditedDecisions

    answered = saved.take(AuditedDecisions.of(*read_decisions(rows).values()))
    write_text(state, answered.to_json())
    return answered


def _print(answered: "Recertification", old: "Selector", output: Path | None, *, json: bool) -> None:
    """What the labels certify; the new selector is written if there is one."""
    threshold, labels = answered.threshold, len(answered.ids)
    if threshold is not None and output is not None:
        answered.selector(old).save(output)
    if json:
        value = None if threshold is None else threshold.value
        print_json({"labels": labels, "looks": answered.looks, "threshold": value})
    elif threshold is None:
        say(f"Nothing is certified after {labels} labels: {answered.outlook()}.")
        say(f"- The next test is at {answered.next_look} labels: {_next_step(answered)}")
        say(
            "- For a higher --risk start again with a new --state file and decisions on new rows: labels that led to "
            "a target cannot certify it."
        )
    else:
        say(f"Certified after {labels} labels: {threshold}")
        if output is not None:
            say(f"New selector: {output}")


def _next_step(answered: "Recertification") -> str:
    """How to get the labels for the next test."""
    more = answered.next_look - len(answered.ids)
    if answered.left >= more:
        return f"--ask {more}."
    return (
        f"{more} more, but these decisions have {answered.left or 'none'} left above the old threshold. Make decisions "
        f"on new rows (`abstain select`), and --ask {more} of them."
    )
