"""`abstain monitor`: does the guarantee still hold?"""

import signal
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain._errors import InvalidInputError, MissingFileError
from abstain._io.files import write_text
from abstain._io.locks import alone_with
from abstain.cli.commands import Json
from abstain.cli.printing import Result, warn
from abstain.cli.watch_options import WatchOptions
from abstain.cli.watch_view import (
    acknowledged_lines,
    as_document,
    show_raised,
    show_standing,
    warn_unused_columns,
    watch_lines,
)

if TYPE_CHECKING:
    from abstain.monitor.stream import StreamBatch
    from abstain.monitor.watch import Watch

EVERY_SECONDS = 1.0
ALARM = 3
"""The exit code."""


def monitor(
    options: WatchOptions,
    stream: Annotated[
        str | None, typer.Argument(help="A .csv, .parquet or .jsonl file, or - for JSON lines on standard input.")
    ] = None,
    state: Annotated[Path | None, typer.Option(help="The file that keeps the evidence between calls.")] = None,
    acknowledge: Annotated[
        bool, typer.Option("--acknowledge", help="End the alarms in --state; their evidence starts again from zero.")
    ] = False,
    json: Json = False,
) -> Result:
    """Raise an alarm when a deployed selector's risk rises.

    The risk is tested as labels arrive. Without labels, changes in the share accepted and in confidence are.

    Exit code 3 means alarm. An alarm stands until --acknowledge; each restart may raise a false alarm with probability
    delta again.

    Give rows in the order of the decisions; sorted rows look like a change.

    A label is a row with `error` (true or false; empty while it is unknown), `correct`, `loss`, or with `label` and
    `prediction`. It counts towards the risk if `accepted` is true or missing. A decision is a row with `confidence`, or
    without a label. It counts towards the share accepted if it has `accepted`, and towards the distribution of
    confidence. With --selector, its threshold decides rows that have a confidence but no `accepted`.

    Groups are monitored one by one if the selector has a threshold for each, or with --per; the stages of a cascade if
    it has a guarantee for each. They are read from the column that --per names, else from `group` or `domain`. A false
    alarm of a kind, in all rows or in any group, has probability at most delta; groups may appear later. Recent rows
    (--recent) are observed, without a guarantee.

    With `id`, the sample's own name, a decision and its label count once each, however often they are given; 7 and 7.0
    are the same id. Rows of one file with equal `id`, `confidence`, `accepted` and group are separate decisions, and a
    later file with their labels has them in the same order. Rows without an `id` always count: give a decision once,
    with its label or before it, and a later label without `confidence`.

    A label with an `id` waits until the labels of all earlier accepted decisions have come, or until --label-window
    rows have been accepted since; so errors may be reported sooner than correct answers. Whether a label arrives in
    time must not depend on whether it is an error.

    If the selector was calibrated with ids, rows with the same `id` are one cluster: give all of them in one file, or
    one after the other on standard input.

    Example: abstain monitor decisions.csv --selector selector.abstain --state watch.json
    """
    if state is not None and not state.absolute().parent.is_dir():
        raise InvalidInputError(f"`--state` must be in a folder that exists, got {state}.")
    if acknowledge:
        return _acknowledge(options, stream, state)
    if stream is None:
        raise InvalidInputError("`STREAM` must be a file, or - for standard input, got none.")
    with nullcontext() if state is None else alone_with(state):
        watch = options.resume(state)
        before = watch.rows
        is_new = state is not None and not state.exists()
        _observe(watch, stream, state, quiet=json)
    if is_new:
        warn(f"started a new state, {state}, which did not exist.")
    return Result(as_document(watch, before), watch_lines(watch), ALARM if watch.standing else 0)


def _observe(watch: "Watch", stream: str, state: Path | None, *, quiet: bool) -> None:
    """Read the stream and save the state; alarms are printed as they are raised."""
    from abstain.monitor.stream import LIVE

    live, before, late = stream == LIVE, watch.rows, watch.late_rows
    if live:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the state is saved
    if not quiet:
        show_standing(watch)
    try:
        _read(watch, stream, state, quiet=quiet)
    except MissingFileError:  # of labels whose decisions are not known: nothing is saved
        raise
    except BaseException:
        if live and state is not None and watch.rows > before:  # these rows are gone; a file can be read again
            with suppress(OSError):
                write_text(state, watch.to_json())
        raise
    if watch.rows == before:
        raise InvalidInputError(f"`STREAM` must have rows, got none in {stream}.")
    if not live and watch.late_rows - late == watch.rows - before:
        raise InvalidInputError(
            f"`id` must differ between files, got only ids in {stream} that were counted before with other "
            "confidences. Nothing of it counts; give ids that are unique over all files."
        )
    if state is not None:
        write_text(state, watch.to_json())


def _read(watch: "Watch", stream: str, state: Path | None, *, quiet: bool) -> None:
    """Read batch after batch; a live stream saves its ``state`` after an alarm and now and then."""
    from abstain.monitor.stream import LIVE, batches

    live, before, warned = stream == LIVE, watch.rows, False
    has_decisions = state is None or state.exists()
    saved, pause = time.monotonic(), EVERY_SECONDS
    for batch in batches(stream, {part.columns[0] for part in watch.monitors.parts.values()}):
        if state is not None and not has_decisions:
            has_decisions = _find_decision(batch, stream, state)
        rows = batch.read(start=watch.rows - before + 1, rule=watch.rule, group=watch.group_column)
        raised = watch.observe(rows)
        raised += watch.close(last=False) if live else []
        if live and state is not None and (raised or time.monotonic() - saved > pause):
            began = time.monotonic()
            write_text(state, watch.to_json())
            saved = time.monotonic()
            pause = max(EVERY_SECONDS, 10 * (saved - began))
        show_raised(watch, raised if not quiet else (), before)
        warned = warned or warn_unused_columns(watch, batch.names)
    raised = watch.close()
    show_raised(watch, raised if not quiet else (), before)


def _find_decision(batch: "StreamBatch", stream: str, state: Path) -> bool:
    """Whether a decision is in a batch; refuse labels with ids before any, since a new state knows no decisions.

    Those of a decision log are allowed: its first parts may have been removed.
    """
    from abstain.decision_log.record import SEQUENCE
    from abstain.monitor.row import is_scored

    for names in (columns.keys() for _, columns in batch.parts):
        if {"accepted", "confidence"} & names or is_scored(names):
            return True
        if "id" in names and SEQUENCE not in names:
            source = "standard input" if stream == "-" else stream
            state.unlink(missing_ok=True)  # of labels without ids that came before
            raise MissingFileError(
                f"`--state` must know the decisions whose labels are in {source}, got {state}, which does not exist. "
                "Check its name, or give the decisions first; labels of accepted rows alone need no column id."
            )
    return False


def _acknowledge(options: WatchOptions, stream: str | None, state: Path | None) -> Result:
    """End the alarms that stand in a state, and record the time in it."""
    if stream is not None or state is None:
        given = "no `--state`" if state is None else f"the stream {stream}"
        raise InvalidInputError(
            f"`--acknowledge` must come with `--state` and without a stream, got {given}. Give rows afterwards."
        )
    if not state.exists():
        raise MissingFileError(f"`--state` must be an existing file for --acknowledge, got {state}.")
    with alone_with(state):
        watch = replace(options, label_window=None).resume(state)
        ended = watch.acknowledge(datetime.now(UTC).isoformat(timespec="seconds"))
        if not ended:
            raise InvalidInputError(f"`--acknowledge` must have an alarm to end, got none in {state.name}.")
        write_text(state, watch.to_json())
    return Result(as_document(watch, watch.rows), acknowledged_lines(watch, ended))
