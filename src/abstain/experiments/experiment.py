"""What an experiment is: a name, what it shows, and a function that makes its outputs in a folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from abstain.collect.run import Progress
from abstain.outputs import Outputs


@dataclass(frozen=True)
class Experiment:
    """One experiment; ``run`` writes its outputs to a folder, going on where it stopped, and returns them."""

    name: str
    title: str
    run: Callable[[Path, int, Progress | None], Outputs]
