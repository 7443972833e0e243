"""`abstain recertify`: a new threshold after an alarm, with as few labels as possible."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import check_output_path, read_text, write_text
from abstain._io.records import from_json
from abstain.cli.printing import Result, command_line
from abstain.cli.recertify_view import answered_result, asked_result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from abstain.selector import Recertification


@final
@dataclass(frozen=True, kw_only=True)
class RecertifiedTarget:
    """What the new threshold is to guarantee, if not what the old one did."""

    risk: Annotated[float | None, typer.Option(help="The risk to guarantee. [that of the selector]")] = None
    delta: Annotated[
        float | None, typer.Option(help="Probability that the guarantee fails. [that of the selector]")
    ] = None
    group: Annotated[
        list[str] | None,
        typer.Option(help="Certify only this group again; repeat for several. The others keep their thresholds."),
    ] = None

    def resume(self, old: "abstain.Selector", state: Path, /) -> "Recertification":
        """The recertification in the state file, or a new one."""
        from abstain.selector import Recertification

        new = Recertification.of(old, risk=self.risk, delta=self.delta, only=self.group or ())
        if not state.exists():
            return new
        try:
            saved = from_json(read_text(state, "the state of a Recertification"), Recertification, where=str(state))
        except InvalidInputError as error:
            raise InvalidInputError(f"{error} Use a copy of it, or name a new file to start again.") from None
        if saved.of_selector != new.of_selector:
            raise InvalidInputError(
                f"`--state` must be of this selector, got that of another in {state}. Name a new file."
            )
        if self.risk not in (None, saved.risk) or self.delta not in (None, saved.delta):
            raise InvalidInputError(
                f"`--state` must have the same target, got risk {saved.risk:g} and delta {saved.delta:g}. For another "
                "target name a new file and use decisions on new rows: labels that led to a target cannot certify it."
            )
        if self.group and set(self.group) != set(saved.searches):
            raise InvalidInputError(
                f"`--group` must name the groups of {state}, got different groups. Leave it out, or name a new file."
            )
        return saved


@final
@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """Where labels come from."""

    ask: Annotated[int | None, typer.Option(min=1, help="Draw this many rows to label.")] = None
    audited: Annotated[
        bool, typer.Option("--audited", help="ROWS are decisions with an audit: take the labels of its rows.")
    ] = False

    def check(self, output: Path | None, /) -> None:
        """Refuse options that do not go together."""
        if self.audited and self.ask is not None:
            raise InvalidInputError(
                f"`--ask` must come without --audited, whose rows have their labels, got {self.ask}."
            )
        if self.ask is not None and (output is None or output.suffix != ".csv"):
            raise InvalidInputError(f"`--output` must name a .csv file for the rows to label, got {output or 'none'}.")


def recertify(
    selector: Annotated[Path, typer.Argument(help="The selector or cascade file that raised the alarm.")],
    rows: Annotated[
        Path,
        typer.Argument(
            help="With --ask, recent decisions (id, confidence); else the labels (id; error, correct or loss)."
        ),
    ],
    state: Annotated[Path, typer.Option(help="The file that keeps the evidence between calls.")],
    target: RecertifiedTarget,
    labels: LabelOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --ask, the .csv of rows to label; else the new selector."),
    ] = None,
) -> Result:
    """Certify a new threshold after an alarm. It is at or above the old one, and tested after every batch of labels.

    First draw rows to label from recent decisions (--ask). Fill in the column error (1 where the answer is wrong), or
    rename it to correct (1 where the answer is right), and give the file back; of graded answers the column is loss.
    Repeat until a threshold is certified; stopping early does not weaken the guarantee. Rows with the same id are one
    cluster, of which a single row is drawn; the column row has its number. If the selector has a threshold for each
    group, labels are drawn evenly from the groups, which are certified one by one; a group that is not certified is
    rejected by the new selector. Decisions of `abstain select --audit` need no --ask: give them with --audited.

    Exit code 1 where --output names a new selector: nothing is certified yet, and it is not written.

    Example: abstain recertify s.abstain decisions.csv --state again.json --ask 200 -o to-label.csv
    """
    from abstain.selector.cascades.loading import certifying_selector, load_selector

    for file in filter(None, (state, output)):
        check_output_path(file)
    loaded = load_selector(selector)
    old = certifying_selector(loaded)
    saved = target.resume(old, state)
    labels.check(output)
    if labels.ask is not None and output is not None:
        column = "loss" if old.threshold.guarantee.quantity.event == "loss" else "error"
        asked = _ask(saved, rows, labels.ask, state, output, column=column)
        then = command_line("recertify", selector, output, "--state", state, "-o", "new.abstain")
        return asked_result(asked, output, column, then)
    answered = _answer(saved, rows, state, audited=labels.audited)
    if output is not None and answered.certified:
        _renewed(answered, loaded).save(output)
    return answered_result(answered, output)


def _ask(
    saved: "Recertification", rows: Path, labels: int, state: Path, output: Path, *, column: str
) -> "Recertification":
    """Draw rows to label and write them."""
    from abstain.outputs.table import read_columns

    columns = read_columns(rows, number=("confidence",), text=("id",), if_there=("prediction",))
    extra = {name: columns[name] for name in ("prediction",) if name in columns}
    groups = _read_groups(saved.per, rows)
    asked = saved.ask(columns["confidence"], columns["id"], groups, labels=labels)
    if groups is not None and saved.per not in (None, "class"):
        extra[saved.per] = groups
    several = len(set(columns["id"])) < len(columns["id"])
    write_text(output, _to_label(asked, extra, column, rows=several))
    write_text(state, asked.to_json())
    return asked


def _read_groups(per: str | None, rows: Path) -> "NDArray[np.str_] | None":
    """The group of each row, from the prediction, or the column that the selector was calibrated with."""
    from abstain.outputs.table import read_columns

    if per is None:
        return None
    if per == "class":
        return cast("NDArray[np.str_]", read_columns(rows, text=("prediction",))["prediction"])
    given = read_columns(rows, if_there=(per, "group", "domain"))
    if not given:
        raise InvalidInputError(f"`{rows}` must have a column {per}, whose values have a threshold each.")
    return cast("NDArray[np.str_]", next(iter(given.values())))


def _to_label(asked: "Recertification", extra: "dict[str, NDArray[np.str_]]", column: str, *, rows: bool) -> str:
    """A table of the rows to label; id and the column of errors or losses are read back.

    Where ids repeat, the column row is the number of the row in the decisions, the first being 1.
    """
    columns: dict[str, Sequence[object]] = {"id": asked.pending}
    if rows:
        columns["row"] = [row + 1 for row in asked.pending_rows]
    columns |= {name: [str(values[row]) for row in asked.pending_rows] for name, values in extra.items()}
    columns |= {"confidence": asked.pending_confidence, column: [""] * len(asked.pending)}
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[*columns], *zip(*columns.values(), strict=True)])
    return text.getvalue()


def _answer(saved: "Recertification", rows: Path, state: Path, *, audited: bool) -> "Recertification":
    """Read the labels, of an audit or of rows that were asked for, and save what they show."""
    from abstain.outputs.table import read_decisions, read_errors
    from abstain.selector import AuditedDecisions

    if audited:
        decisions = AuditedDecisions.of(*read_decisions(rows).values())
        answered = saved.take(decisions, _read_groups(saved.per, rows))
    else:
        answered = saved.answer(*read_errors(rows))
    write_text(state, answered.to_json())
    return answered


def _renewed(
    answered: "Recertification", old: "abstain.Selector | abstain.Cascade"
) -> "abstain.Selector | abstain.Cascade":
    """The old selector or cascade with the new threshold."""
    if isinstance(old, abstain.Cascade):
        return replace(old, selector=answered.selector(old.selector))
    return answered.selector(old)
