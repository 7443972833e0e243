"""Every experiment that tests claims of the paper, one after the other, going on where an earlier run stopped."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from abstain.collect.run import Progress
from abstain.experiments.cache import findings_key
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.page import key_of, write_findings
from abstain.experiments.registry import EXPERIMENTS


def claim_experiments() -> list[Experiment]:
    """Those that test claims and need no data from elsewhere, in an order in which each finds what it reads."""
    found = [each for each in EXPERIMENTS.values() if each.has_verdicts and "data" not in each.takes]
    return sorted(found, key=lambda each: each.reads_others)


def run_all(folder: Path, /, *, long: bool = False, progress: Progress | None = None) -> Iterator[tuple[str, bool]]:
    """Run each, and with ``long`` the long version of those that have one too; the name, and whether it was run now.

    What was found with the same code, libraries and outputs is left as it is.
    """
    for each in claim_experiments():
        for is_long in (False, True) if long and "long" in each.takes else (False,):
            setting = Setting(folder=folder, long=is_long, progress=progress)
            place = each.place(setting)
            is_old = key_of(place) != _key(folder, each)
            if is_old:
                findings = each.run(replace(setting, folder=place))
                assert findings is not None  # nothing is run in parts
                write_findings(findings, each.title, place, key=_key(folder, each))
            yield place.name, is_old


def _key(folder: Path, experiment: Experiment) -> str:
    """Outputs of others count where an experiment reads them."""
    return findings_key(folder if experiment.reads_others else folder / experiment.name / "alone", seed=0)
