"""What `abstain monitor` prints of a watch and its alarms."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from abstain.cli.printing import Lines, Paragraph, show, warn

if TYPE_CHECKING:
    from abstain.monitor.history import Alarm
    from abstain.monitor.watch import Watch


def watch_lines(watch: "Watch", /) -> Lines:
    """All that is known, as bullets."""
    parts = watch.monitors.parts.values()
    if not watch.standing:
        yield "No alarm."
    if watch.rule is not None and "risk" not in watch.monitors.parts:
        yield (
            "- Risk: not monitored, and labels are not read, as the selector guarantees no risk among accepted rows. "
            "--risk with a new --state monitors one."
        )
    yield from (f"- {part.words()}" for part in parts)
    yield from (f"- {line}" for line in _recent(watch))
    yield from _group_lines(watch)
    yield from dict.fromkeys(f"- {part.caveat}" for part in parts if part.caveat)
    yield from (f"- {line}" for line in _left_out(watch))
    if watch.standing:
        yield f"Next: {_next_step(watch)}"


def as_document(watch: "Watch", before: int, /) -> dict[str, Any]:
    """The same as plain data; the rows of this input come after the first ``before``."""
    history = [
        asdict(alarm) | {"row_of_input": alarm.row - before if alarm.row > before else None} for alarm in watch.alarms
    ]
    counts = {"rows": watch.rows, "rows_of_input": watch.rows - before, "skipped": watch.skipped}
    counts |= {"forgotten": watch.forgotten, "late_rows": watch.late_rows, "too_large": watch.too_large}
    counts |= {"labels_without_decision": watch.unmatched}
    counts |= {"waiting": watch.turns.waiting, "pending": watch.turns.pending, "late_labels": watch.turns.late}
    parts: dict[str, Any] = {name: part.numbers() for name, part in watch.monitors.parts.items()}
    groups = watch.monitors.groups
    if groups is not None:
        parts |= {"groups": groups.numbers(), "rows_of_unmonitored_groups": groups.unwatched}
    parts |= {"recent": watch.recent.metrics()}
    return {"alarms": list(watch.monitors.alarms), "history": history} | counts | parts


def _recent(watch: "Watch") -> Iterable[str]:
    """The last labelled rows, where there are earlier ones."""
    recent = watch.recent
    if len(recent.errors) == recent.window and (risk := recent.risk) is not None:
        low, high = recent.risk_interval()
        yield (
            f"Last {recent.window:,} labelled accepted rows (observed, not guaranteed): {risk:.2%} wrong; 95% interval "
            f"{low:.2%} to {high:.2%}, for this window alone."
        )


def _group_lines(watch: "Watch") -> Lines:
    """The groups with an alarm, and those closest to one."""
    from abstain.monitor.groups import MOST_NEW
    from abstain.monitor.table import group_lines

    groups = watch.monitors.groups
    if groups is None or not groups.monitors:
        return
    alarms = dict.fromkeys(name for _, name in groups.alarms)
    number = len(groups.monitors)
    verdict = f"ALARM in {len(alarms)} of {number}" if alarms else f"no alarm in any of {number}"
    yield f"- By {groups.per}: {verdict}. The closest to an alarm (all time and recent are observed, not guaranteed):"
    yield from (Paragraph(f"  {line}", whole=True) for line in group_lines(groups))
    if groups.unwatched:
        yield (f"- {groups.unwatched} rows belong to groups beyond the first {MOST_NEW:,}; they count only overall.")


def _left_out(watch: "Watch") -> Iterable[str]:
    """Labels and rows that do not count, or not yet, and what would help."""
    turns = watch.turns
    if turns.waiting:
        yield (
            f"{turns.waiting} labels are waiting for those of {turns.pending} earlier accepted decisions, each for at "
            f"most {turns.window} accepted decisions (--label-window)."
        )
    if turns.pending >= turns.window > 0:
        yield (
            f"Only the last {turns.window:,} accepted decisions can still be labelled. For later labels start a new "
            "state with a larger --label-window, and give all files again."
        )
    if turns.late:
        yield (
            f"Dropped {turns.late} labels that arrived too late. If errors and correct answers are late at different "
            "rates, the risk alarm is invalid: start a new state with a larger --label-window."
        )
    if watch.too_large:
        yield (
            f"Left out {watch.too_large} ids with more rows than any id in calibration, for which no risk is "
            "guaranteed. Calibrate again on rows like these, or with --largest-cluster."
        )
    if watch.late_rows:
        yield (
            f"Left out {watch.late_rows} rows that came after the cluster of their id was closed. Give all rows of an "
            "id in one file, or one after the other on standard input."
        )
    if watch.unmatched:
        yield (
            f"Labels whose ids belong to no decision known here: {watch.unmatched}. They count as labels of accepted "
            "rows. If their decisions are in another --state, this is the wrong file."
        )
    if watch.skipped:
        yield f"Skipped {watch.skipped} rows that were given before."
    if watch.forgotten:
        yield f"The ids of {watch.forgotten} early rows are forgotten: if given again, these rows would count again."


def _next_step(watch: "Watch") -> str:
    """What to do about the alarms; `recertify` is named only where it is possible."""
    can_recertify = watch.rule is not None and watch.rule.recertifiable
    if "risk" not in {alarm.name for alarm in watch.standing}:
        then = "run `abstain recertify`" if can_recertify else "calibrate again on them"
        return f"label accepted rows, which shows whether the risk has changed too. If it has, {then}."
    if can_recertify:
        alone = [alarm.group for alarm in watch.standing if alarm.name == "risk" and watch.rule and watch.rule.per]
        if alone and None not in alone:
            chosen = " ".join(f"--group {name}" for name in alone[:5])
            return f"run `abstain recertify … {chosen}`, which seeks new thresholds there with few labels."
        return (
            "run `abstain recertify`, which seeks a new threshold with few labels; or calibrate again on recent rows."
        )
    groups = "" if watch.rule is None or watch.rule.per is None else f", with --per {watch.rule.per} as before"
    return f"label recent rows and calibrate again on them (`abstain calibrate`{groups})."


def show_standing(watch: "Watch", /) -> None:
    """The alarms of earlier rows that nobody has acknowledged."""
    for alarm in watch.standing:
        show(f"ALARM {since(alarm)}: {meaning(watch, alarm)}. End it with --acknowledge.", flush=True)


def show_raised(watch: "Watch", alarms: "Iterable[Alarm]", before: int, /) -> None:
    """New alarms, by their rows in this input, and of all rows if there were ``before`` it."""
    for alarm in alarms:
        row = f"{alarm.row - before} (row {alarm.row} of all)" if before else str(alarm.row)
        show(f"ALARM at row {row}: {meaning(watch, alarm)}.", flush=True)


def acknowledged_lines(watch: "Watch", alarms: "Iterable[Alarm]", /) -> Lines:
    """The alarms that have just been ended."""
    for alarm in alarms:
        yield f"Acknowledged at row {watch.rows}, {since(alarm)}: {meaning(watch, alarm)}."
    yield "Evidence starts again from zero; from here a false alarm has probability delta again."


def since(alarm: "Alarm", /) -> str:
    """From which row an alarm stands."""
    return f"standing since row {alarm.row}" if alarm.row else "standing since before rows were counted"


def meaning(watch: "Watch", alarm: "Alarm", /) -> str:
    """What an alarm means."""
    groups = watch.monitors.groups
    if alarm.group is None or groups is None:
        return watch.monitors.parts[alarm.name].meaning
    part = groups.monitors[alarm.group].parts[alarm.name]
    is_guaranteed = watch.rule is None or watch.rule.per == groups.per
    of_all = "the risk is above the risk guaranteed for all rows together"
    return f"in {groups.per} {alarm.group}, {part.meaning if is_guaranteed or alarm.name != 'risk' else of_all}"


def warn_unused_columns(watch: "Watch", names: Iterable[str], /) -> bool:
    """Name the columns that no monitor reads on standard error; whether there were any."""
    from abstain.monitor.row import unused

    group = watch.group_column
    left = unused(names, {column for part in watch.monitors.parts.values() for column in part.columns}, group=group)
    if left:
        warn(f"no monitor reads these columns: {', '.join(left)}.")
    return bool(left)
