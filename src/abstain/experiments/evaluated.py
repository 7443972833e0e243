"""Experiments whose outputs are compared by all scores, over several draws of the rows that scores are fitted on."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from abstain.collect.run import Progress
from abstain.evaluation.verdict import verdict
from abstain.experiments.experiment import Setting
from abstain.experiments.findings import Findings
from abstain.experiments.repeated import repeat
from abstain.experiments.repeated_table import repeated_table
from abstain.experiments.score_claims import score_claims
from abstain.outputs import Outputs
from abstain.report.figures import risk_coverage_figure


def comparing(title: str, make: Callable[[Path, int, Progress | None], Outputs]) -> Callable[[Setting], Findings]:
    """An experiment that makes outputs in ``folder / "outputs"`` and compares all scores on them."""

    def run(setting: Setting) -> Findings:
        outputs = make(setting.folder / "outputs", setting.seed, setting.progress)
        return compared(title, outputs, seed=setting.seed)

    return run


def compared(title: str, outputs: Outputs, /, *, seed: int) -> Findings:
    """The comparison of all scores: figure and words of the first draw, the table over all draws."""
    repetition = repeat(outputs, seed=seed)
    first = repetition.first
    return Findings(
        words=f"{title}. {verdict(first).words}",
        verdicts=score_claims(first, data=f"{title}; {first.n:,} rows"),
        tables=(repeated_table(repetition, title),),
        numbers=first.to_dict() | {"draws": [asdict(row) for row in repetition.rows]},
        figures={"risk-coverage": lambda: risk_coverage_figure(first)},
        evaluation=first,
    )
