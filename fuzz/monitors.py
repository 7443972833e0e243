"""States of a monitor, altered between two calls of the command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes, altered_json
from kind import Kind, command, expect
from samples import outputs

from abstain import calibrate
from abstain.monitor.saved_watch import sealed


class Monitors(Kind):
    """Wrong: impossible counts, bounds or alarms, a state changed by a failure or altered in spite of its digest."""

    name = "monitor"

    def __init__(self, folder: Path) -> None:
        self.stream, self.state, self.selector = folder / "s.csv", folder / "state.json", folder / "s.abstain"
        calibrate(outputs(400), risk=0.3).save(self.selector)
        rng = np.random.default_rng(0)
        lines = [f"{rng.normal():.6f},{int(rng.random() < 0.8)},{int(rng.random() < 0.2)}" for _ in range(30)]
        self.stream.write_text("\n".join(["confidence,accepted,error", *lines]) + "\n")
        self.states = []
        for options in (["--selector", self.selector], ["--risk", "0.1"], ["--calibration", "80/100"]):
            self.state.unlink(missing_ok=True)
            command("monitor", self.stream, *options, "--state", self.state)
            self.states.append(self.state.read_bytes())

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the values of a state and sign, or its bytes without signing."""
        before = self.states[int(rng.integers(len(self.states)))]
        kept = json.loads(before) if rng.random() < 0.7 else None
        content = altered_bytes(rng, before) if kept is None else _signed(altered_json(rng, kept)).encode()
        self.state.write_bytes(content)
        run = command("monitor", self.stream, "--state", self.state, "--json")
        expect(run.code in (0, 1, 3), f"exit code {run.code}: {run.errors[:200]}")
        if run.code == 1:
            expect(self.state.read_bytes() == content, "a state changed by a failure")
            expect(not run.output, "output of a failure")
            return "refused"
        if kept is None:
            expect(json.loads(content) == json.loads(before), "an altered state in spite of its digest")
        _check(json.loads(run.output), run.code)
        return "taken"


def _signed(state: Any) -> str:
    """A state with a digest that fits; what is no state has none."""
    if not isinstance(state, dict):
        return json.dumps(state)
    return sealed({name: value for name, value in state.items() if name != "sha256"})


def _check(result: dict[str, Any], code: int) -> None:
    parts = {name: part for name, part in result.items() if isinstance(part, dict) and "alarm" in part}
    expect(parts, "a monitor of nothing")
    expect(bool(result["alarms"]) == (code == 3), f"alarms {result['alarms']} with exit code {code}")
    for name, part in parts.items():
        expect(part["alarm"] == (name in result["alarms"]), f"the alarm of {name} not among {result['alarms']}")
        expect(part["n"] >= 0, f"{part['n']} samples")
        for count in ("errors", "accepted"):
            expect(0 <= part.get(count, 0) <= part["n"], f"{part.get(count)} {count} of {part['n']}")
        if "low" in part:
            expect(0 <= part["low"] <= part["high"] <= 1, f"bounds {part['low']} and {part['high']}")
