"""Run every experiment that tests claims of the paper, and resume where an earlier run stopped."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from abstain.collect.run import Progress
from abstain_reproduction.cache import findings_key
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.page import key_of, write_findings
from abstain_reproduction.registry import EXPERIMENTS


def claim_experiments() -> list[Experiment]:
    """The experiments that test claims without data of the user; those that read outputs of others come last."""
    experiments = [
        experiment for experiment in EXPERIMENTS.values() if experiment.has_verdicts and "data" not in experiment.takes
    ]
    return sorted(experiments, key=lambda experiment: experiment.reads_others)


def run_all(folder: Path, /, *, long: bool = False, progress: Progress | None = None) -> Iterator[tuple[str, bool]]:
    """Run each experiment, with ``long`` also its long version; yield its name and whether it was run now.

    Findings of the same code, libraries and outputs are kept.
    """
    for experiment in claim_experiments():
        for is_long in (False, True) if long and "long" in experiment.takes else (False,):
            setting = Setting(folder=folder, long=is_long, progress=progress)
            run_folder = experiment.run_folder(setting)
            is_old = key_of(run_folder) != _key(folder, experiment)
            if is_old:
                findings = experiment.run(replace(setting, folder=run_folder))
                assert findings is not None  # nothing is run in parts
                write_findings(findings, experiment.title, run_folder, key=_key(folder, experiment))
            yield run_folder.name, is_old


def _key(folder: Path, experiment: Experiment) -> str:
    """The key includes the outputs of other experiments if this experiment reads them."""
    return findings_key(folder if experiment.reads_others else folder / experiment.name / "alone", seed=0)
