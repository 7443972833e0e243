"""`abstain monitor`: is the promise still true?"""

import signal
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.alarms import found, meaning, place, since, tell, tell_standing, warn_unused
from abstain.cli.options import Json
from abstain.cli.show import print_json, say
from abstain.files import alone_with, write_text

if TYPE_CHECKING:
    from abstain.monitor import AcceptanceMonitor
    from abstain.monitor.watch import Alarm, Watch

EVERY_SECONDS = 1.0


def monitor(
    stream: Annotated[
        str | None, typer.Argument(help="A .csv, .parquet or .jsonl file, or - for JSON lines on standard input.")
    ] = None,
    selector: Annotated[
        Path | None, typer.Option(help="The selector file: its risk, share accepted and confidences are watched.")
    ] = None,
    risk: Annotated[float | None, typer.Option(help="The risk that was promised, if not that of the selector.")] = None,
    calibration: Annotated[
        str | None, typer.Option(help="ACCEPTED/N of the calibration sample, to watch the share accepted.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability of a false alarm of each kind, over all time.")] = 0.05,
    label_window: Annotated[
        int | None,
        typer.Option(help="Accepted decisions after which a label that has not come is given up; 1000 if not given."),
    ] = None,
    state: Annotated[Path | None, typer.Option(help="Where the monitor is kept from one call to the next.")] = None,
    acknowledge: Annotated[
        bool, typer.Option("--acknowledge", help="End the alarms in --state; their evidence begins anew.")
    ] = False,
    json: Json = False,
) -> None:
    """Watch a deployed selector, and raise the alarm when what was promised is no longer true.

    Give rows in the order of the decisions; sorting them looks like a change.

    A row with `error` (true or false; empty while the label is not known), with `correct`, or with `label` and
    `prediction`, is a label: it counts towards the risk if `accepted` is true or not given. A row with `confidence`, or
    without a label, is a decision: it counts towards the share accepted, if it has `accepted`, and to the distribution
    of confidence. With --selector, its threshold decides a row that has its confidence but no `accepted`. Exit code 3
    means alarm.

    Of a selector with a threshold for each group, the column that --per named at calibration tells the group, or else
    `group` or `domain`.

    With `id`, the sample's own name, a decision counts once and its label once, whenever and however often they come;
    7 and 7.0 are one id. Rows of one file that are the same in `id`, `confidence`, `accepted` and group are
    decisions of their own, and a later file with their labels has them in the same order. Rows without an `id` are
    always counted: give a decision once, with its label or before it, and a later label without `confidence`.

    A label with an `id` waits until the labels of all accepted decisions before its own have come, or --label-window
    rows have been accepted since: so errors may be reported sooner than right answers. Whether a label arrives in time
    must not depend on whether it is an error.

    Of a selector calibrated with ids, rows with the same `id` are one cluster: give all of them in one file, or, on
    standard input, one after the other.

    An alarm stands, with exit code 3, until --acknowledge; each such restart may raise a false alarm with probability
    delta again.

    Example: abstain monitor decisions.csv --selector selector.abstain --state watch.json
    """
    if state is not None and not state.absolute().parent.is_dir():
        raise ValueError(f"`--state` must be in a folder that exists, got {state}.")
    if acknowledge:
        _acknowledge(_asked(selector, risk, calibration, delta, label_window), stream, state, json)
        return
    if stream is None:
        raise ValueError("`stream` must be a file, or - for standard input, got none.")
    with nullcontext() if state is None else alone_with(state):
        watch = _start(_asked(selector, risk, calibration, delta, label_window), state, label_window)
        before = watch.rows
        _watch(watch, stream, state, quiet=json)
    if json:
        print_json(found(watch, before))
    else:
        tell(watch)
    if watch.standing:
        raise typer.Exit(3)


def _watch(watch: "Watch", stream: str, state: Path | None, *, quiet: bool) -> None:
    """Take the stream, and keep the state; alarms are told as they come."""
    from abstain.monitor.stream import LIVE, batches

    live, before, late, warned = stream == LIVE, watch.rows, watch.late_rows, False
    decided = {} if watch.rule is None else {"decided": watch.rule.decided}
    group = None if watch.rule is None else watch.rule.column
    saved, pause = time.monotonic(), EVERY_SECONDS
    if live:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the state is kept
    if not quiet:
        tell_standing(watch)
    try:
        for batch in batches(stream, {part.columns[0] for part in watch.monitors.parts.values()}):
            raised = watch.observe(batch.read(start=watch.rows - before + 1, group=group, **decided))
            raised += watch.close(last=False) if live else []
            if live and state is not None and (raised or time.monotonic() - saved > pause):
                began = time.monotonic()
                write_text(state, watch.to_json())
                saved = time.monotonic()
                pause = max(EVERY_SECONDS, 10 * (saved - began))
            _tell_raised(watch, raised, before, quiet=quiet)
            warned = warned or warn_unused(watch, batch.names)
        _tell_raised(watch, watch.close(), before, quiet=quiet)
    except BaseException:
        if live and state is not None:  # what was read of a stream is gone; a file can be read again
            with suppress(OSError):
                write_text(state, watch.to_json())
        raise
    if watch.rows == before:
        raise ValueError(f"`stream` must have rows, got none in {stream}.")
    if not live and watch.late_rows - late == watch.rows - before:
        raise ValueError(
            f"`id` must name a row over all files, got rows of {stream} whose ids were all counted before with other "
            "confidences, so that nothing of it counts. Give ids that differ from file to file."
        )
    if state is not None:
        write_text(state, watch.to_json())


def _tell_raised(watch: "Watch", raised: "list[Alarm]", before: int, *, quiet: bool) -> None:
    for alarm in raised if not quiet else ():
        say(f"ALARM by row {place(alarm, before)}: {meaning(watch, alarm)}.", flush=True)


def _acknowledge(new: "Watch | None", stream: str | None, state: Path | None, json: bool) -> None:
    """End the alarms that stand in a state, and keep in it when that was."""
    if stream is not None or state is None:
        raise ValueError("`--acknowledge` must have `--state` and no stream, got another call. Give rows afterwards.")
    if not state.exists():
        raise FileNotFoundError(f"`--state` must exist where alarms are acknowledged, got {state}.")
    with alone_with(state):
        watch = _start(new, state, None)
        heard = watch.acknowledge(datetime.now(UTC).isoformat(timespec="seconds"))
        if not heard:
            raise ValueError(f"`--acknowledge` must have an alarm to end, got none in {state.name}.")
        write_text(state, watch.to_json())
    if json:
        print_json(found(watch, watch.rows))
        return
    for alarm in heard:
        say(f"Acknowledged at row {watch.rows}, {since(alarm)}: {meaning(watch, alarm)}.")
    say("Evidence begins anew; a false alarm after that has probability delta again.")


def _asked(
    selector: Path | None, risk: float | None, calibration: str | None, delta: float, label_window: int | None
) -> "Watch | None":
    """A new watch of what the options ask for; None if of nothing."""
    from abstain import Selector
    from abstain.monitor import DeploymentMonitor, RiskMonitor
    from abstain.monitor.rule import Rule
    from abstain.monitor.turns import WINDOW_ROWS
    from abstain.monitor.watch import Watch
    from abstain.thresholds.sample import check_chance

    rule = None
    if label_window is not None and label_window < 0:
        raise ValueError(f"`--label-window` must be at least 0, got {label_window}.")
    check_chance("--delta", delta)
    if selector is not None:
        chosen = Selector.load(selector)
        new, rule = DeploymentMonitor.of(chosen, risk=risk, delta=delta), Rule.of(chosen)
    else:
        new = DeploymentMonitor(None if risk is None else RiskMonitor(risk=risk, delta=delta))
    if calibration is not None and new.clustered:
        raise ValueError(
            "`--calibration` must be left out where the selector was calibrated with ids, which count once each, got "
            f"{calibration}."
        )
    if calibration is not None:
        new = replace(new, acceptance=_acceptance(calibration, delta))
    window = WINDOW_ROWS if label_window is None else label_window
    return Watch(new, rule=rule, label_window=window) if new.parts else None


def _acceptance(calibration: str, delta: float) -> "AcceptanceMonitor":
    from abstain.monitor import AcceptanceMonitor

    accepted, _, n = calibration.partition("/")
    if not (calibration.isascii() and accepted.isdigit() and n.isdigit()):
        raise ValueError(f"`--calibration` must be ACCEPTED/N, such as 800/1000, got {calibration!r}.")
    return AcceptanceMonitor.from_calibration(accepted=int(accepted), n=int(n), delta=delta)


def _start(new: "Watch | None", state: Path | None, label_window: int | None) -> "Watch":
    """What was kept, or else what is asked for."""
    from abstain.monitor.watch import Watch

    if state is None or not state.exists():
        if new is None:
            raise ValueError("`--selector`, `--risk` or `--calibration` must say what to watch, got none.")
        return new
    kept = Watch.from_json(state.read_text(encoding="utf-8"))
    if label_window not in (None, kept.turns.window):
        raise ValueError(
            f"`--label-window` must be that of the state, {kept.turns.window}, got {label_window}. Leave it out, or "
            "name a new file."
        )
    if new is not None and (kept.monitors.begun() != new.monitors or kept.rule not in (None, new.rule)):
        raise ValueError(
            f"`--state` must be of what the other options ask for, got another monitor in {state.name}. Leave them out "
            "to go on with it, or name a new file."
        )
    kept.rule = kept.rule or (new and new.rule)
    return kept
