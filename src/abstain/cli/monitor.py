"""`abstain monitor`: is the promise still true?"""

import csv
import json as json_module
import math
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.show import print_json
from abstain.files import alone_with, write_text

if TYPE_CHECKING:
    from abstain.monitor import AcceptanceMonitor, DeploymentMonitor

BATCH = 10_000
EVERY_SECONDS = 1.0
COLUMNS = {"accepted", "confidence", "error", "correct", "label"}
MEANING = {
    "risk": "the risk is above what was promised",
    "acceptance": "the share accepted has left what calibration allows",
    "scores": "the confidences are no longer those of calibration",
}


def monitor(
    stream: Annotated[
        str, typer.Argument(help="A .csv, .parquet or .jsonl file, or - for JSON lines on standard input.")
    ],
    selector: Annotated[
        Path | None, typer.Option(help="The selector file: its risk, share accepted and confidences are watched.")
    ] = None,
    risk: Annotated[float | None, typer.Option(help="The risk that was promised, if not that of the selector.")] = None,
    calibration: Annotated[
        str | None, typer.Option(help="ACCEPTED/N of the calibration sample, to watch the share accepted.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability of a false alarm of each kind, over all time.")] = 0.05,
    state: Annotated[Path | None, typer.Option(help="Where the monitor is kept from one call to the next.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Watch a deployed selector, and raise the alarm when what was promised is no longer true.

    Rows are to be in the order the samples came: a stream sorted by kind is one that changes.

    A row with `error` (true or false; empty while the label is not known), with `correct`, or with `label` and
    `prediction`, is a label: it counts towards the risk if `accepted` is true or not given. A row with `confidence`, or
    without a label, is a decision: it counts towards the share accepted, if it has `accepted`, and to the distribution
    of confidence. Give a decision once, with its label or before it; rows that bring the label later have no
    `confidence`. Exit code 3 means alarm.

    Example: abstain monitor decisions.csv --selector selector.abstain --state watch.json
    """
    if state is not None and not state.absolute().parent.is_dir():
        raise ValueError(f"`--state` must be in a folder that exists, got {state}.")
    with nullcontext() if state is None else alone_with(state):
        watch = _watch(_start(selector, risk, calibration, delta, state), stream, state, json)
    if json:
        print_json(_found(watch))
    else:
        _tell(watch)
    if watch.alarms:
        raise typer.Exit(3)


def _watch(watch: "DeploymentMonitor", stream: str, state: Path | None, json: bool) -> "DeploymentMonitor":
    """The monitor after the stream, its state kept; alarms are told as they come."""
    told: set[str] = set()
    rows, saved = 0, time.monotonic()
    live = stream == "-"
    if live:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the state is kept
    try:
        for batch in _batches(stream, _watched(watch)):
            rows += len(batch)
            watch = _observed(watch, batch, rows - len(batch))
            new = [name for name in watch.alarms if name not in told]
            if live and state is not None and (new or time.monotonic() - saved > EVERY_SECONDS):
                write_text(state, watch.to_json())
                saved = time.monotonic()
            for name in new if not json else ():
                print(f"ALARM by row {rows}: {MEANING[name]}.", flush=True)
            told.update(new)
    except BaseException:
        if live and state is not None:  # what was read of a stream is gone; a file can be read again
            with suppress(OSError):
                write_text(state, watch.to_json())
        raise
    if not rows:
        raise ValueError(f"`stream` must have rows, got none in {stream}.")
    if state is not None:
        write_text(state, watch.to_json())
    return watch


def _start(
    selector: Path | None, risk: float | None, calibration: str | None, delta: float, state: Path | None
) -> "DeploymentMonitor":
    """The monitor that was kept, or a new one of what is known."""
    from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, ScoreMonitor

    if not 0 < delta < 1:
        raise ValueError(f"`--delta` must be between 0 and 1, got {delta}.")
    acceptance = scores = None
    if selector is not None:
        from abstain import Selector
        from abstain.thresholds.promise import RISK

        chosen = Selector.load(selector)
        t = chosen.threshold
        if risk is None and t.promise.quantity == RISK:
            risk = t.promise.target
        acceptance = AcceptanceMonitor.from_calibration(
            accepted=t.accepted, n=t.n, delta=delta, threshold_chosen_there=True
        )
        scores = ScoreMonitor(chosen.law, delta)
    if calibration is not None:
        acceptance = _acceptance(calibration, delta)
    new = DeploymentMonitor(None if risk is None else RiskMonitor(risk=risk, delta=delta), acceptance, scores)
    if state is None or not state.exists():
        if new == DeploymentMonitor():
            raise ValueError("`--selector`, `--risk` or `--calibration` must say what to watch, got none.")
        return new
    kept = DeploymentMonitor.from_json(state.read_text(encoding="utf-8"))
    if new != DeploymentMonitor() and _begun(kept) != new:
        raise ValueError(
            f"`--state` must be of what the other options ask for, got another monitor in {state.name}. Leave them out "
            "to go on with it, or name a new file."
        )
    return kept


def _begun(watch: "DeploymentMonitor") -> "DeploymentMonitor":
    """The monitor as it was before its first sample."""
    from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, ScoreMonitor

    r, a, s = watch.risk, watch.acceptance, watch.scores
    return DeploymentMonitor(
        None if r is None else RiskMonitor(risk=r.risk, delta=r.delta),
        None if a is None else AcceptanceMonitor(a.low, a.high, a.delta),
        None if s is None else ScoreMonitor(s.law, s.delta, s.seed),
    )


def _acceptance(calibration: str, delta: float) -> "AcceptanceMonitor":
    from abstain.monitor import AcceptanceMonitor

    accepted, _, n = calibration.partition("/")
    if not (calibration.isascii() and accepted.isdigit() and n.isdigit()):
        raise ValueError(f"`--calibration` must be ACCEPTED/N, such as 800/1000, got {calibration!r}.")
    return AcceptanceMonitor.from_calibration(accepted=int(accepted), n=int(n), delta=delta)


def _observed(watch: "DeploymentMonitor", rows: list[dict[str, Any]], before: int) -> "DeploymentMonitor":
    accepted, confidence, errors, presumed = [], [], [], 0
    for place, row in enumerate(rows, start=before + 1):
        try:
            error, taken = _error(row), _truth(row.get("accepted"))
            number = _number(row.get("confidence"))
        except ValueError as problem:
            raise ValueError(f"Row {place}: {problem}") from None
        if error is not None and taken is not False:
            errors.append(error)
            presumed += taken is None
        if taken is not None and (number is not None or error is None):
            accepted.append(taken)
        if number is not None:
            confidence.append(number)
    watch = watch.observe_accepted(accepted).observe_confidence(confidence).observe_errors(errors)
    r, a = watch.risk, watch.acceptance
    if presumed and r is not None and a is not None and 0 < a.accepted < r.n:
        raise ValueError(
            f"`stream` must have the column accepted where it has labels of rejected samples too, got {r.n} labels for "
            f"{a.accepted} accepted samples."
        )
    return watch


def _found(watch: "DeploymentMonitor") -> dict[str, Any]:
    found: dict[str, Any] = {"alarms": list(watch.alarms)}
    if (r := watch.risk) is not None:
        low, high = r.interval()
        found["risk"] = {
            "promised": r.risk,
            "n": r.n,
            "errors": r.errors,
            "low": low,
            "high": high,
            "evidence": r.evidence,
            "alarm": r.alarm,
        }
    if (a := watch.acceptance) is not None:
        found["acceptance"] = {"accepted": a.accepted, "n": a.n, "low": a.low, "high": a.high, "alarm": a.alarm}
    if (s := watch.scores) is not None:
        found["scores"] = {"n": s.n, "evidence": s.evidence, "alarm": s.alarm}
    return found


def _tell(watch: "DeploymentMonitor") -> None:
    if (r := watch.risk) is not None:
        low, high = r.interval()
        verdict = "ALARM: the risk is above" if r.alarm else "No alarm: no proof that the risk is above"
        print(f"{verdict} {r.risk:g}. {r.errors} errors in {r.n} accepted and labelled samples.")
        print(f"The risk is between {low:.4f} and {high:.4f}, at all times with probability {1 - r.delta:g}.")
    if (a := watch.acceptance) is not None:
        word = "ALARM: the share accepted has left" if a.alarm else "The share accepted is within"
        print(f"{word} what calibration allows ({a.low:.3f}–{a.high:.3f}): {a.accepted} of {a.n}.")
    if (s := watch.scores) is not None:
        word = "ALARM: the confidences are not" if s.alarm else "No proof that the confidences are not"
        reached = math.exp(min(s.highest, 700.0))
        print(f"{word} distributed as in calibration ({s.n} seen; evidence reached {reached:.3g} of {1 / s.delta:g}).")
    if watch.acceptance is not None or watch.scores is not None:
        print("Shares and confidences certify nothing about the risk: only labels do.")


def _watched(watch: "DeploymentMonitor") -> set[str]:
    """The columns that something counts."""
    parts = {"error": watch.risk, "accepted": watch.acceptance, "confidence": watch.scores}
    return {name for name, part in parts.items() if part is not None}


def _batches(stream: str, columns: set[str]) -> Iterator[list[dict[str, Any]]]:
    """Rows in batches: by line from standard input, so that an alarm is told at once."""
    rows = _rows(stream, columns)
    while batch := list(islice(rows, 1 if stream == "-" else BATCH)):
        yield batch


def _rows(stream: str, columns: set[str]) -> Iterator[dict[str, Any]]:
    if stream == "-":
        yield from _json_lines(sys.stdin)
        return
    path = Path(stream)
    if path.suffix == ".parquet":
        yield from _parquet(path, columns)
    elif path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8-sig") as file:
            yield from _csv(file, columns)
    elif path.suffix in (".jsonl", ".ndjson"):
        with open(path, encoding="utf-8") as file:
            yield from _json_lines(file)
    else:
        raise ValueError(f"`stream` must end in .csv, .parquet or .jsonl, or be -, got {stream}.")


def _parquet(path: Path, columns: set[str]) -> Iterator[dict[str, Any]]:
    from abstain.extras import require

    polars = require("polars", extra="scale", feature="Reading Parquet")
    try:
        frame = polars.read_parquet(path)
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"`stream` must be a Parquet file, got {error} in {path.name}.") from None
    _check_columns(frame.columns, columns)
    yield from frame.iter_rows(named=True)


def _csv(lines: Iterable[str], columns: set[str]) -> Iterator[dict[str, Any]]:
    rows = csv.reader(lines)
    try:
        header = [name.strip() for name in next(rows, [])]
        _check_columns(header, columns)
        for number, row in enumerate(rows, start=1):
            if len(row) == len(header):
                yield dict(zip(header, (cell.strip() for cell in row), strict=True))
            elif row:
                raise ValueError(f"`stream` must have {len(header)} cells a row, got {len(row)} in row {number}.")
    except csv.Error as error:
        raise ValueError(f"`stream` must be a CSV file, got {error}.") from None


def _check_columns(names: Iterable[str], columns: set[str]) -> None:
    """One of the columns must be there, or nothing would ever be counted."""
    if not columns & {"error" if name in ("correct", "label") else name for name in names} and not columns & set(names):
        wanted = f"one of the columns {', '.join(sorted(columns))}" if len(columns) > 1 else f"a column {min(columns)}"
        raise ValueError(f"`stream` must have {wanted}, got {', '.join(names) or 'none'}.")


def _json_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = json_module.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"`stream` must hold JSON lines, got {error} in line {number}.") from None
            if not isinstance(row, dict):
                raise ValueError(f"`stream` must hold one JSON object a line, got {line.strip()[:40]!r}.")
            _check_columns(row, COLUMNS)
            yield row


def _error(row: dict[str, Any]) -> bool | None:
    """Whether the answer was wrong, by ``error``, ``correct``, or ``label`` and ``prediction``; None if not known."""
    if "error" in row:
        return _truth(row["error"])
    if "correct" in row:
        correct = _truth(row["correct"])
        return None if correct is None else not correct
    label, prediction = (str(row.get(name, "")).strip() for name in ("label", "prediction"))
    return None if "" in (label, prediction) or "None" in (label, prediction) else label != prediction


def _truth(value: Any) -> bool | None:
    """True, False, or None where it is not known."""
    if value is None or value == "":
        return None
    words = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    if str(value).lower() not in words:
        raise ValueError(f"`accepted` and `error` must be true, false or empty, got {value!r}.")
    return words[str(value).lower()]


def _number(value: Any) -> float | None:
    """A confidence, NaN where the row was not usable, or None where there is none."""
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"`confidence` must be a number or empty, got {value!r}.") from None
