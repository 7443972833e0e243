"""The training runs of an experiment, each resumed where an earlier call stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from abstain.collect.run import Progress
from abstain_reproduction.experiment import Setting

if TYPE_CHECKING:
    from abstain_reproduction.train.network import Network
    from abstain_reproduction.train.recipe import Recipe

PARTS = 1000  # of the bar, for each run


@final
class TrainingRuns:
    """Runs in one folder, with one bar over all of them."""

    def __init__(self, setting: Setting, count: int) -> None:
        kind = "long" if setting.long else "short"
        self.folder: Path = setting.folder / f"networks-{kind}-{setting.limit or 'all'}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.progress: Progress | None = setting.progress
        self.count, self.finished = count, 0

    def train(self, name: str, recipe: "Recipe", images: Any, labels: Any, *, seed: int, threads: int = 1) -> "Network":
        """The trained network, in a file of that name and seed."""
        from abstain_reproduction.train.training import train

        file = self.folder / f"{name.replace(' ', '-')}-{seed}.safetensors"
        try:
            return train(recipe, images, labels, file, seed=seed, threads=threads, progress=self._report_progress)
        finally:
            self.finished += 1
            self._report_progress(0, 1)

    def _report_progress(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(int(PARTS * (self.finished + done / total)), PARTS * self.count)
