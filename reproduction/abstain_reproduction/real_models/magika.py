"""Magika on this machine's own files: truncated, noisy, upper-cased and re-encoded ones, and types it does not know."""

import sys
import sysconfig
from functools import partial
from pathlib import Path

import numpy as np

from abstain.collect import Data, collect
from abstain.collect.run import Progress
from abstain.outputs import Outputs
from abstain_reproduction.comparison.score_findings import score_experiment
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.real_models.magika_model import files_by_ending, magika_model
from abstain_reproduction.text_shifts import BYTE_SHIFTS

FOLDERS = (
    sysconfig.get_path("purelib"),
    sysconfig.get_path("stdlib"),
    "/usr/share",
    "/usr/lib/python3",
    "/usr/include",
)
TEXT_ONLY = ("fold_case", "reencode")


def run(folder: Path, seed: int, progress: Progress | None) -> Outputs:
    """Collect Magika's outputs on files whose ending gives their type, on shifted copies, and on unknown types."""
    known, unknown = files_by_ending([root for root in FOLDERS if Path(root).is_dir() and root != sys.prefix])
    text = np.flatnonzero([_is_text(known.inputs[row]) for row in range(len(known))])
    parts: list[Data] = [known]
    for name, shift in BYTE_SHIFTS.items():
        chosen = known.select(text) if name in TEXT_ONLY else known
        parts.append(chosen.shifted(partial(_shifted, shift, seed), domain=name))
    return collect(magika_model(), [*parts, unknown], folder, batch_size=32, progress=progress)


def _shifted(shift, seed, content, row):  # type: ignore[no-untyped-def]
    return shift(content, seed=seed + row)


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


TITLE = "Magika, 214 file types, on this machine's files under byte shifts"
MAGIKA = Experiment(
    "magika",
    TITLE,
    score_experiment(TITLE, run),
    about=(
        "Magika's real graph (Apache-2.0) on the files of one machine, labelled by their endings "
        "(`real_models/magika_model.py` lists them), a file under two names once. Covariate shift: the first tenth of "
        "the file, 5% random bytes, upper case, UTF-16. Unknown: types it has no class for (`.pxd`, `.afm`, `.mo`, …). "
        "Another machine has other files and gives other numbers. They are of few of the 214 classes, and a prediction "
        "of one of the others is always wrong: that is more than half of what the best fitted score gains here, and "
        "the control, which knows nothing else, gains it too."
    ),
)
