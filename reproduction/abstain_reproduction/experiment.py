"""What an experiment is: a name, what it shows, and a function that runs it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from abstain.collect.run import Progress
from abstain_reproduction.findings import Findings
from abstain_reproduction.packages import Package

Option = Literal[
    "data", "limit", "model", "seeds", "paper_code", "long", "batch_size", "workers", "device", "amp", "part"
]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where and how an experiment runs."""

    folder: Path
    """The output folder; an interrupted run of the same setting is resumed."""
    seed: int = 0
    progress: Progress | None = None
    """Called with the number of steps done and their total."""
    data: Path | None = None
    """A folder with data that cannot come from a package."""
    limit: int | None = None
    """At most this many samples of each part."""
    model: str | None = None
    """The name of a known model, or any model that `abstain collect` takes."""
    seeds: int | None = None
    """The number of repetitions, each with its own seed."""
    paper_code: bool = False
    """Whether the conventions are those of the authors' code instead of those of their text."""
    long: bool = False
    """Whether to run the long version, which has its own folder."""
    batch_size: int | None = None
    """Samples per batch of the model."""
    workers: int = 0
    """Processes that read and prepare samples while the model runs."""
    device: str | None = None
    """Where the model runs; by default a GPU if there is one."""
    amp: bool = False
    """Whether it runs in half precision, the last layer excepted."""
    part: str | None = None
    """The part of the samples to process, such as 2/4, for processes that share a folder."""


@dataclass(frozen=True)
class Experiment:
    """One experiment."""

    name: str
    title: str
    run: Callable[[Setting], Findings | None]
    """Returns the findings, or None while other parts of the samples are missing."""
    takes: frozenset[Option] = frozenset()
    """The options it takes in addition to the folder and the seed."""
    needs: tuple[Package, ...] = ()
    """Packages with its data or weights; `scripts/reproduce` fetches them."""
    reads_others: bool = False
    """Whether it reads outputs that other experiments collected in the same folder."""
    has_verdicts: bool = True
    """Whether it tests claims of the paper."""
    variant: Callable[[Setting], str] | None = None
    """A suffix that separates the folders of different settings; by default all settings share one."""
    about: str = ""
    """Data, model, shifts and caveats, for the documentation."""

    def run_folder(self, setting: Setting, /) -> Path:
        """The output folder of a setting, inside ``setting.folder``."""
        parts = [self.name, *([self.variant(setting)] if self.variant else []), *(["long"] if setting.long else [])]
        return setting.folder / "-".join(parts)
