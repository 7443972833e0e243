"""Streams of decisions that repeat ids, rows and labels, cut and interrupted anywhere."""

import sys
from pathlib import Path

import numpy as np
from kind import Kind, expect, taken

from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, Row, ScoreMonitor, Watch


class Interrupted(BaseException):
    """As a signal raises it, anywhere."""


class Watches(Kind):
    """Wrong: counts that depend on batches, on a state saved between inputs, on rows given again or interruptions."""

    name = "watch"
    share = 0.5

    def __init__(self, _: Path) -> None:
        sample = np.random.default_rng(0).normal(size=200).round(1)
        scores = ScoreMonitor.from_calibration(sample)
        self.kinds = [
            DeploymentMonitor(
                RiskMonitor(0.2, 0.05, largest=largest),
                AcceptanceMonitor(0.5, 0.8, 0.05, clustered=largest is not None),
                ScoreMonitor(scores.distribution, clustered=largest is not None),
            )
            for largest in (None, 1, 4)
        ]

    def attempt(self, rng: np.random.Generator) -> str:
        """Give the same files whole, in pieces with the state saved after each file, and with an interruption."""
        start, window = self.kinds[int(rng.integers(3))], int(rng.choice([0, 3, 100]))
        files = [_rows(rng) for _ in range(int(rng.integers(1, 4)))]
        whole = Watch(start, label_window=window)
        if taken(lambda: [(whole.observe(rows), whole.close()) for rows in files] or True) is None:
            return "refused"  # a label alone of several decisions
        pieces, broken = Watch(start, label_window=window), Watch(start, label_window=window)
        for rows in files:
            for row in range(0, len(rows), 3):
                pieces.observe(rows[row : row + 3])
            pieces.close()
            pieces = Watch.from_json(pieces.to_json())
            _interrupt(broken, rows, int(rng.integers(200)))
            broken.observe(rows)
            broken.close()
        expect(pieces.to_json() == whole.to_json(), "other counts in pieces")
        expect(broken.to_json() == whole.to_json(), "other counts after an interruption")
        if all(row.id is not None for rows in files for row in rows):
            before = whole.monitors
            again = taken(lambda: [(whole.observe(files[k]), whole.close()) for k in rng.permutation(len(files))])
            expect(again is not None, "rows that were given again are refused")
            expect(whole.monitors == before, "rows that were given again count again")
        return "taken"


def _rows(rng: np.random.Generator) -> list[Row]:
    """Few ids, confidences and forms, so that all that can coincide does."""
    ids = ["1", "1.0", "2", "\u00e9\udc80", "x" * 300] + [None] * int(rng.integers(2))
    rows = []
    for _ in range(int(rng.integers(1, 12))):
        verdict = [True, True, False, None][int(rng.integers(4))]
        confidence = [0.5, 0.5, -0.0, float("nan"), None][int(rng.integers(5))]
        error = [None, True, False][int(rng.integers(3))]
        rows.append(Row(verdict, confidence, error, ids[int(rng.integers(len(ids)))]))
    return rows


def _interrupt(watch: Watch, rows: list[Row], left: int) -> None:
    """Begin to observe rows, and stop after so many lines of our own; nothing of it may stay, unless it was done."""
    kept = watch.to_json()

    def trace(frame, event, _):  # type: ignore[no-untyped-def]
        nonlocal left
        if "abstain" not in frame.f_code.co_filename:
            return None
        left -= event == "line"
        if left < 0:
            raise Interrupted
        return trace

    sys.settrace(trace)
    try:
        watch.observe(rows)
    except Interrupted:
        sys.settrace(None)
        expect(watch.to_json() == kept, "a step that was interrupted left something behind")
    finally:
        sys.settrace(None)
        if watch.to_json() != kept:  # it came to its end
            watch.__dict__.update(Watch.from_json(kept).__dict__)
