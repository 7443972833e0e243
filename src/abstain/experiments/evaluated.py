"""Experiments whose outputs are compared by all scores, as `abstain evaluate` does."""

from collections.abc import Callable
from pathlib import Path

from abstain.collect.run import Progress
from abstain.evaluation import evaluate
from abstain.evaluation.verdict import verdict
from abstain.experiments.experiment import Setting
from abstain.experiments.findings import Findings
from abstain.outputs import Outputs
from abstain.report.figures import risk_coverage_figure


def comparing(title: str, make: Callable[[Path, int, Progress | None], Outputs]) -> Callable[[Setting], Findings]:
    """An experiment that makes outputs in ``folder / "outputs"`` and compares all scores on them."""

    def run(setting: Setting) -> Findings:
        outputs = make(setting.folder / "outputs", setting.seed, setting.progress)
        evaluation = evaluate(outputs, fitting="paper", seed=setting.seed)
        return Findings(
            words=f"{title}. {verdict(evaluation).words}",
            numbers=evaluation.to_dict(),
            figures={"risk-coverage": lambda: risk_coverage_figure(evaluation)},
            evaluation=evaluation,
        )

    return run
