"""What `abstain monitor` prints of a watch and its alarms."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from abstain.cli.letters import shown
from abstain.cli.show import say

if TYPE_CHECKING:
    from abstain.monitor.watch import Alarm, Watch


def found(watch: "Watch", before: int, /) -> dict[str, Any]:
    """All that is known, as plain data; rows of this input come after the first ``before``."""
    history = [
        asdict(alarm) | {"row_of_input": alarm.row - before if alarm.row > before else None} for alarm in watch.alarms
    ]
    counts = {"rows": watch.rows, "rows_of_input": watch.rows - before, "skipped": watch.skipped}
    counts |= {"forgotten": watch.forgotten, "late_rows": watch.late_rows, "too_large": watch.too_large}
    counts |= {"waiting": watch.turns.waiting, "pending": watch.turns.pending, "late_labels": watch.turns.late}
    parts = {name: part.numbers() for name, part in watch.monitors.parts.items()}
    return {"alarms": list(watch.monitors.alarms), "history": history} | counts | parts


def tell(watch: "Watch", /) -> None:
    """The verdict of every monitor, and what was left out."""
    parts = watch.monitors.parts.values()
    if not watch.standing:
        say("No alarm.")
    for part in parts:
        say(part.words())
    for caveat in dict.fromkeys(part.caveat for part in parts if part.caveat):
        say(caveat)
    if watch.standing:
        say(_next_step(watch))
    for line in _left_out(watch):
        say(line)
    if watch.skipped:
        say(f"Skipped {watch.skipped} rows that were counted before, by their ids.")
    if watch.forgotten:
        say(f"The ids of {watch.forgotten} early rows are forgotten: given again, these rows would count again.")


def _left_out(watch: "Watch") -> Iterator[str]:
    """Labels and rows that do not count, or not yet, and what would help."""
    turns = watch.turns
    if turns.waiting:
        yield (
            f"{turns.waiting} labels are waiting: {turns.pending} accepted decisions are still unlabelled. Each is "
            f"dropped after {turns.window} more accepted decisions (--label-window)."
        )
    if turns.pending >= turns.window > 0:
        yield (
            f"Labels are awaited for the last {turns.window:,} accepted decisions alone; earlier ones are given up. "
            "For labels that come later start a new state with a larger --label-window, and give all files again."
        )
    if turns.late:
        yield (
            f"Dropped {turns.late} labels that arrived too late. If errors and right answers are late at different "
            "rates, the risk alarm is invalid: start a new state with a larger --label-window."
        )
    if watch.too_large:
        yield (
            f"Left out {watch.too_large} ids with more rows than those of calibration: nothing is guaranteed of their "
            "risk. Calibrate again, on rows like these or with --largest-cluster."
        )
    if watch.late_rows:
        yield (
            f"Left out {watch.late_rows} rows of ids that had been counted. Give all rows of an id in one file, or on "
            "standard input one after the other."
        )


def _next_step(watch: "Watch") -> str:
    """What to do about the alarms; `recertify` is named only where it will not refuse."""
    can = watch.rule is not None and watch.rule.recertifiable
    if "risk" not in {alarm.name for alarm in watch.standing}:
        then = "`abstain recertify`" if can else "calibrate again on them"
        return f"Next: labels of accepted rows tell whether the risk has changed too; if it has, {then}."
    if can:
        return "Next: `abstain recertify` seeks a new threshold with few labels; or calibrate again on recent rows."
    groups = "" if watch.rule is None or watch.rule.per is None else f", with --per {watch.rule.per} as before"
    return f"Next: label recent rows and calibrate again on them (`abstain calibrate`{groups})."


def tell_standing(watch: "Watch", /) -> None:
    """The alarms of earlier rows that nobody has acknowledged."""
    for alarm in watch.standing:
        say(f"ALARM {since(alarm)}: {meaning(watch, alarm)}. `--acknowledge` ends it.", flush=True)


def since(alarm: "Alarm", /) -> str:
    """From which row an alarm stands."""
    return f"standing since row {alarm.row}" if alarm.row else "standing since before rows were counted"


def place(alarm: "Alarm", before: int, /) -> str:
    """The row of an alarm in this input, and of all rows if there were ``before`` it."""
    return f"{alarm.row - before} (row {alarm.row} of all)" if before else str(alarm.row)


def meaning(watch: "Watch", alarm: "Alarm", /) -> str:
    """What an alarm says."""
    return watch.monitors.parts[alarm.name].meaning


def warn_unused(watch: "Watch", names: Iterable[str], /) -> bool:
    """Name the columns that no monitor reads on standard error; whether there were any."""
    from abstain.monitor.row import unused

    group = None if watch.rule is None else watch.rule.column
    left = unused(names, {column for part in watch.monitors.parts.values() for column in part.columns}, group=group)
    if left:
        print(shown(f"abstain: these columns are not used by what is watched: {', '.join(left)}."), file=sys.stderr)
    return bool(left)
