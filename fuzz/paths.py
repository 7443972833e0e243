"""Names and kinds of files to read and to write: long, odd, links, pipes."""

import os
import shutil
from pathlib import Path

import numpy as np
from kind import Kind, command, expect
from samples import outputs

from abstain import calibrate

NAMES = (
    "d",
    "é" * 60,
    "\x1b[31mred",
    "a\nb",
    "x" * 200,
    "x" * 247,
    "x" * 251,
    "-o",
    "a b",
    "…\u202e",
    "[red]",
    ".hidden",
)
LONGEST = 255  # bytes of a name


class Paths(Kind):
    """Wrong: a link that is replaced, a mode that is widened, a file left by a failure, a wait at a pipe."""

    name = "path"
    share = 0.2

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        outputs().save(folder / "run")
        calibrate(outputs(400), coverage=0.5).save(folder / "s.abstain")

    def attempt(self, rng: np.random.Generator) -> str:
        """Write decisions under a name that is new, a file, a link or a pipe, or read from one."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        goal = self.out / f"{rng.choice(NAMES)}{rng.choice(['.csv', '.parquet', '.CSV', ''])}"
        file, way = self.out / "file", str(rng.choice(["new", "file", "link", "pipe", "read"]))
        way = "new" if len(os.fsencode(goal.name)) > LONGEST else way
        if way in ("file", "link"):
            target = goal if way == "file" else file
            target.write_text("before")
            target.chmod(0o600)
        if way == "link":
            goal.symlink_to(file)
        if way in ("pipe", "read"):
            os.mkfifo(goal)
        before = sorted(os.listdir(self.out))
        source = str(goal) if way == "read" else "run"
        run = command("select", "s.abstain", source, "-o", self.out / "d.csv" if way == "read" else goal)
        expect(run.code in (0, 1, 2), f"exit code {run.code}")
        after = sorted(os.listdir(self.out))
        wanted = sorted({*before, goal.name}) if run.code == 0 else before
        expect(after == wanted, f"{after} where {wanted} should be")
        if way in ("file", "link"):
            expect(goal.is_symlink() == (way == "link"), "a link replaced")
            expect(goal.stat().st_mode & 0o777 == 0o600, f"the mode {goal.stat().st_mode:o}")
        return "taken" if run.code == 0 else "refused"
