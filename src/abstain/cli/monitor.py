"""`abstain monitor`: is the promise still true?"""

import csv
import json as json_module
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.show import print_json

if TYPE_CHECKING:
    from abstain.monitor import AcceptanceMonitor


def monitor(
    stream: Annotated[
        str, typer.Argument(help="A .csv, .parquet or .jsonl file, or - for JSON lines on standard input.")
    ],
    risk: Annotated[float, typer.Option(help="The risk that was promised.")],
    calibration: Annotated[
        str | None, typer.Option(help="ACCEPTED/N of the calibration sample, to watch the share accepted too.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability of a false alarm, over all time.")] = 0.05,
    state: Annotated[Path | None, typer.Option(help="Where the monitor is kept from one call to the next.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Count errors among accepted samples as their labels arrive, and raise the alarm when the risk is too high.

    Rows have `accepted` and `error` (true or false; empty while the label is not known). Exit code 3 means alarm.
    """
    from abstain.monitor import RiskMonitor

    watch = RiskMonitor(risk=risk, delta=delta)
    if state is not None and state.exists():
        watch = RiskMonitor.from_json(state.read_text(encoding="utf-8"))
        if (watch.risk, watch.delta) != (risk, delta):
            raise ValueError(f"`--state` must be of the same risk and delta, got {watch.risk} and {watch.delta}.")
    accepted = n = 0
    for row in _rows(stream):
        error, taken = _truth(row.get("error")), _truth(row.get("accepted", True))
        n, accepted = n + 1, accepted + bool(taken)
        if taken and error is not None:
            watch = watch.update(errors=int(error), n=1)
    if state is not None:
        partial = state.with_name(f".{state.name}.partial")
        partial.write_text(watch.to_json(), encoding="utf-8")
        partial.replace(state)
    low, high = watch.interval()
    found = {
        "n": watch.n,
        "errors": watch.errors,
        "low": low,
        "high": high,
        "evidence": watch.evidence,
        "alarm": watch.alarm,
    }
    shares = None if calibration is None else _acceptance(calibration, delta).update(accepted=accepted, n=n)
    if shares is not None:
        found |= {"accepted": accepted, "rows": n, "acceptance_alarm": shares.alarm}
    if json:
        print_json(found)
    else:
        verdict = "ALARM: the risk is above" if watch.alarm else "No alarm: no proof that the risk is above"
        print(f"{verdict} {risk:g}. {watch.errors} errors in {watch.n} accepted and labelled samples.")
        print(f"The risk is between {low:.4f} and {high:.4f}, at all times with probability {1 - delta:g}.")
        if shares is not None:
            word = "ALARM: the share accepted has left" if shares.alarm else "The share accepted is within"
            print(f"{word} what calibration allows ({shares.low:.3f}–{shares.high:.3f}): {accepted} of {n}.")
            print("Without labels nothing is certified about the risk.")
    if watch.alarm or (shares is not None and shares.alarm):
        raise typer.Exit(3)


def _acceptance(calibration: str, delta: float) -> "AcceptanceMonitor":
    from abstain.monitor import AcceptanceMonitor

    accepted, _, n = calibration.partition("/")
    if not (accepted.isdigit() and n.isdigit()):
        raise ValueError(f"`--calibration` must be ACCEPTED/N, such as 800/1000, got {calibration!r}.")
    return AcceptanceMonitor.from_calibration(accepted=int(accepted), n=int(n), delta=delta)


def _rows(stream: str) -> Iterator[dict[str, Any]]:
    if stream == "-":
        yield from (json_module.loads(line) for line in sys.stdin if line.strip())
        return
    path = Path(stream)
    if path.suffix == ".parquet":
        from abstain.extras import require

        yield from require("polars", extra="scale", feature="Reading Parquet").read_parquet(path).iter_rows(named=True)
    elif path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
    elif path.suffix in (".jsonl", ".ndjson"):
        with open(path, encoding="utf-8") as file:
            yield from (json_module.loads(line) for line in file if line.strip())
    else:
        raise ValueError(f"`stream` must end in .csv, .parquet or .jsonl, or be -, got {stream}.")


def _truth(value: Any) -> bool | None:
    """True, False, or None where it is not known."""
    if value is None or value == "":
        return None
    words = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
    if str(value).lower() not in words:
        raise ValueError(f"`accepted` and `error` must be true, false or empty, got {value!r}.")
    return words[str(value).lower()]
