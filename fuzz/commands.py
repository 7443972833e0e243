"""Command lines at random: options, files and values that do and do not belong together."""

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes
from kind import NOTES, Kind, Run, command, expect
from samples import outputs

from abstain import calibrate
from abstain.evaluation import sketch_outputs

NUMBERS = (
    "0",
    "1",
    "0.05",
    "0.3",
    "0.5",
    "2",
    "-1",
    "nan",
    "inf",
    "1e-300",
    "1e300",
    "x",
    "",
    "800/1000",
    "0.1,0.5,0.2",
)
WORDS = (
    "energy",
    "knn",
    "best",
    "class",
    "domain",
    "confidence_margin,energy",
    "chow",
    "sgr",
    "error",
    "reject",
    "é",
    "z",
    "p",
)
FILES = (
    "run",
    "run.npz",
    "other.npz",
    "fresh",
    "s.abstain",
    "a.sketch",
    "d.csv",
    "t.csv",
    "net.onnx",
    "c.json",
    "junk",
    "empty",
    "none",
    "run/outputs.json",
    ".",
    "",
)
GOALS = (
    "out/a",
    "out/a.csv",
    "out/a.parquet",
    "out/a.png",
    "out/a.html",
    "out/a.md",
    "out/a.json",
    "out/a.abstain",
    "out/a.onnx",
    "out/no/a",
    "out",
    "/dev/null",
    "",
)
OPTIONS = {
    "scores": (),
    "evaluate": ("--score", "--alpha", "--calibration", "--level", "--figure", "--figures", "-o", "--selector",
                 "--nonfinite", "--seed"),
    "sensitivity": ("--alpha", "--figure", "--nonfinite"),
    "plan": ("--risk", "--delta", "--coverage", "--error-rate", "--n", "--power", "--figure"),
    "calibrate": ("-o", "-o", "--score", "--risk", "--risk", "--coverage", "--cost", "--costs", "--per", "--group-risk",
                  "--each", "--delta", "--method", "--seed", "--review", "--miss-rate", "--label-above",
                  "--largest-cluster"),
    "select": ("-o", "-o", "-o", "--capacity", "--audit", "--seed"),
    "sets": ("-o", "-o", "--coverage", "--delta"),
    "groups": ("--group-column", "--remedies", "--level"),
    "sketch": ("-o", "-o", "--score", "--bits", "--equal-mass", "--edges", "--per", "--minimum", "--seed"),
    "merge": ("-o", "-o", "--minimum"),
    "attach": ("-o", "-o", "--logits"),
    "monitor": ("--selector", "--risk", "--calibration", "--delta", "--label-window", "--state"),
    "recertify": ("--state", "--state", "--ask", "-o", "--risk", "--delta"),
    "certify": ("--on", "--on", "-o", "--check", "--level", "--require"),
    "compare": ("--score", "--score-b", "--alpha", "--coverage", "--risk", "--level", "--nonfinite", "--seed", "--all",
                "--figure", "--report", "-o"),
    "report": ("-o", "-o", "--selector", "--risk", "--delta", "--title", "--score", "--metric", "--group-column",
               "--nonfinite"),
    "reproduce": ("--seed",),
    "cascade": ("-o", "-o", "--risk", "--stage-risk", "--delta", "--costs", "--costs", "--human-cost", "--names",
                "--score", "--seed"),
    "estimate": ("--reference", "--reference", "--method", "--group-column"),
    "demo": ("--folder", "--seed"),
    "collect": ("-o", "-o", "--batch-size", "--on-error", "--corrupt", "--class-names"),
}  # fmt: skip
ARGUMENTS = {
    "evaluate": ("run",),
    "sensitivity": ("other.npz",),
    "calibrate": ("t.csv",),
    "select": ("s.abstain", "run"),
    "sets": ("s.abstain", "run"),
    "groups": ("s.abstain", "t.csv"),
    "sketch": ("run",),
    "merge": ("a.sketch", "a.sketch"),
    "attach": ("net.onnx", "s.abstain"),
    "monitor": ("d.csv",),
    "recertify": ("s.abstain", "d.csv"),
    "certify": ("s.abstain",),
    "compare": ("run", "other.npz"),
    "report": ("t.csv",),
    "collect": ("onnx:net.onnx", "run.npz"),
    "cascade": ("run", "other.npz"),
    "estimate": ("s.abstain", "run"),
}
SENSIBLE = {
    "--score": "energy", "--alpha": "0.5", "--calibration": "run", "--level": "0.9", "--figure": "out/a.png",
    "--figures": "out/figures", "--nonfinite": "reject", "--seed": "1", "--risk": "0.3", "--delta": "0.05",
    "--coverage": "0.5", "--error-rate": "0.05", "--n": "1", "--power": "0.5", "--cost": "0.3", "--per": "class",
    "--group-risk": "0.5", "--method": "sgr", "--selector": "s.abstain", "--state": "out/a.json", "--ask": "2",
    "--batch-size": "2", "--on-error": "skip", "--costs": "none", "--logits": "z", "-o": "out/a.csv",
    "--corrupt": "fog:3", "--class-names": "t.csv", "--bits": "12", "--equal-mass": "7", "--edges": "a.sketch",
    "--minimum": "3", "--on": "fresh", "--check": "c.json", "--require": "confirmed",
    "--score-b": "energy", "--report": "out/a.html", "--title": "<b>", "--metric": "augrc",
    "--review": "0.4", "--miss-rate": "0=0.3", "--label-above": "0.2", "--largest-cluster": "4", "--capacity": "3",
    "--audit": "0.2", "--group-column": "group", "--remedies": "t.csv", "--stage-risk": "0.4", "--human-cost": "99",
    "--names": "a,b", "--reference": "run", "--folder": "out/demo",
}  # fmt: skip
SENSIBLE_IN = {
    ("certify", "-o"): "out/a.json", ("compare", "-o"): "out/a.md", ("report", "-o"): "out/a.html",
    ("cascade", "--costs"): "1,20", ("estimate", "--method"): "atc",
}  # fmt: skip
REQUIRED = {"cascade": ["--costs"], "estimate": ["--reference"]}
WRITTEN_HERE = {"report": ["-o"], "demo": ["--folder"]}  # without it to the current folder
SLOW = ("demo",)
TO_WRITE = ("-o", "--figure", "--figures", "--state", "--report", "--folder")
FLAGS = ("--each", "--all")
TO_READ = (
    "--calibration", "--costs", "--selector", "--class-names", "--edges", "--on", "--check", "--remedies",
    "--reference",
)  # fmt: skip
REFUSAL = {"error", "achievable"}  # what `calibrate --json` prints where nothing can be certified
LINES = '{"confidence": 0.5, "accepted": true, "error": 0}\n'


class Commands(Kind):
    """Wrong: an exit code that is not documented, no JSON where it is asked for, an input that is changed."""

    name = "command"
    share = 0.5

    def __init__(self, folder: Path) -> None:
        import onnx
        from graphs import _model

        sample = outputs(120)
        sample.save(folder / "run")
        outputs(120, seed=1).save(folder / "fresh")
        same = {name: getattr(sample, name) for name in ("labels", "ids", "shift", "domain", "class_names")}
        np.savez(folder / "other.npz", logits=sample.logits / 2, **same)
        np.savez(folder / "run.npz", logits=sample.logits, labels=sample.labels, inputs=sample.features)
        calibrate(sample, risk=0.3).save(folder / "s.abstain")
        sketch_outputs(sample, scores=["energy"]).save(folder / "a.sketch")
        onnx.save(_model(onnx), folder / "net.onnx")
        (folder / "junk").write_bytes(np.random.default_rng(0).bytes(300))
        (folder / "empty").write_bytes(b"")
        (folder / "out").mkdir()
        command("select", "s.abstain", "run", "-o", "d.csv")
        command("certify", "s.abstain", "--on", "fresh", "-o", "c.json")
        (folder / "t.csv").write_text("id,confidence,correct\n" + "".join(f"{k},{k / 9},1\n" for k in range(9)))
        self.folder, self.before = folder, _digest(folder)

    def attempt(self, rng: np.random.Generator) -> str:
        """Run one line."""
        line = _line(rng)
        sys.stdin = io.StringIO(LINES if rng.random() < 0.5 else altered_bytes(rng, LINES.encode()).decode("latin-1"))
        try:
            run = command(*line)
            _check(run, line)
            expect(_digest(self.folder) == self.before, f"an input changed by {' '.join(line)}")
        except Exception as error:
            error.args = (f"{error} <- {' '.join(line)}",)
            raise
        finally:
            sys.stdin = sys.__stdin__
        return "taken" if run.code in (0, 3) else "refused"


def _line(rng: np.random.Generator) -> list[str]:
    def first(values: Any) -> str:
        return str(values[int(rng.integers(len(values)))])

    name = first(list(OPTIONS))
    if name in SLOW and rng.random() < 0.8:
        name = first(list(OPTIONS))
    line = [name]
    line += [file if rng.random() < 0.7 else first(FILES) for file in ARGUMENTS.get(name, ())]
    if name == "collect" and rng.random() < 0.5:
        line[1] = first(["onnx:junk", "torch:os:getcwd", "sklearn:junk", "torch:x", "nope:x", ""])
    if name == "monitor" and rng.random() < 0.3:
        line[1:] = ["-"]
    if rng.random() < 0.05 and len(line) > 1:
        line.pop()
    options = [first(OPTIONS[name]) for _ in range(int(rng.integers(0, 5)) if OPTIONS[name] else 0)]
    options += [option for option in ("-o", "--risk") if option in OPTIONS[name] and rng.random() < 0.7]
    options += REQUIRED.get(name, []) if rng.random() < 0.9 else []
    options += WRITTEN_HERE.get(name, [])
    for option in dict.fromkeys(options) if rng.random() < 0.9 else options:
        pool = GOALS if option in TO_WRITE else FILES if option in TO_READ else (*NUMBERS, *NUMBERS, *WORDS)
        if rng.random() < 0.05 and option not in TO_WRITE:  # what is to be written may be
            pool = (*NUMBERS, *WORDS, *FILES)
        sensible = SENSIBLE_IN.get((name, option), SENSIBLE.get(option))
        value = sensible if sensible is not None and rng.random() < 0.7 else first(pool)
        value = value if name != "demo" or value else "out"  # "" is the current folder
        line += [option] if option in FLAGS else [option, value]
    if rng.random() < 0.4:
        line.append("--json")
    return line


def _check(run: Run, line: list[str]) -> None:
    allowed = (0, 1, 2, 3) if line[0] in ("monitor", "certify") else (0, 1, 2)
    expect(run.code in allowed, f"exit code {run.code}: {run.errors[:200]}")
    expect("Traceback" not in run.errors, f"a traceback: {run.errors[-300:]}")
    if run.code == 2:
        expect(run.errors.strip(), "wrong usage without a word")
    if run.code in (0, 3):
        noted = [line for line in run.errors.splitlines() if not any(words in line for words in NOTES)]
        expect(not noted, f"words on standard error: {run.errors[:300]!r}")
    if "--json" in line and run.code in (0, 3):
        json.loads(run.output, parse_constant=lambda word: expect(False, f"{word} in JSON"))
    if "--json" in line and run.code == 1 and "nothing is certified yet" not in run.errors:
        refusal = json.loads(run.output).keys() if run.output else REFUSAL
        expect(refusal == REFUSAL, f"output of a failure: {run.output[:100]!r}")


def _digest(folder: Path) -> str:
    """Of all that is not written to on purpose."""
    result = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.parts[len(folder.parts)] != "out":
            result.update(f"{file} ".encode() + file.read_bytes())
    return result.hexdigest()
