"""What an experiment is: a name, what it shows, and a function that runs it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from abstain.collect.run import Progress
from abstain.experiments.findings import Findings
from abstain.experiments.packages import Package

Option = Literal[
    "data", "limit", "model", "seeds", "paper_code", "long", "batch_size", "workers", "device", "amp", "part"
]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where and how an experiment runs; what an experiment does not take is refused before it begins."""

    folder: Path
    """For what it writes; going on where an earlier run of the same setting stopped."""
    seed: int = 0
    progress: Progress | None = None
    """Called with how much is done, and of how much."""
    data: Path | None = None
    """A folder with data that cannot come from a package."""
    limit: int | None = None
    """At most this many samples of each part."""
    model: str | None = None
    """One of the models it knows, or a model of one's own as `abstain collect` takes it."""
    seeds: int | None = None
    """How many times it is repeated, each with a seed of its own."""
    paper_code: bool = False
    """Whether the conventions are those of the authors' code instead of those of their text."""
    long: bool = False
    """Whether to run the long version, in a folder beside the short one."""
    batch_size: int | None = None
    """Samples per batch of the model."""
    workers: int = 0
    """Processes that read and prepare samples while the model runs."""
    device: str | None = None
    """Where the model runs; by default a graphics card where there is one."""
    amp: bool = False
    """Whether it runs in half precision, the last layer excepted."""
    part: str | None = None
    """One part of the samples, such as 2/4, for processes that share a folder."""


@dataclass(frozen=True)
class Experiment:
    """One experiment."""

    name: str
    title: str
    run: Callable[[Setting], Findings | None]
    """What it found; None while other parts of its samples are missing."""
    takes: frozenset[Option] = frozenset()
    """The options it takes beside the folder and the seed."""
    needs: tuple[Package, ...] = ()
    """Packages that it reads data or weights from; `scripts/reproduce` fetches them."""
    reads_others: bool = False
    """Whether it looks at outputs that other experiments collected in the same folder."""
    has_verdicts: bool = True
    """Whether it tests claims of the paper."""
    variant: Callable[[Setting], str] | None = None
    """What tells the folder of one setting from that of another; by default all settings share one."""
    about: str = ""
    """What the data and the model are, what is shifted, and what a reader should know; for the documentation."""

    def place(self, setting: Setting, /) -> Path:
        """The folder of a setting, inside the setting's own."""
        parts = [self.name, *([self.variant(setting)] if self.variant else []), *(["long"] if setting.long else [])]
        return setting.folder / "-".join(parts)
