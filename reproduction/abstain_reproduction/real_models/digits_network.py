"""The demo as an experiment: a small network on scikit-learn's digits."""

from pathlib import Path

from abstain.collect.run import Progress
from abstain.datasets import digits
from abstain.outputs import Outputs
from abstain_reproduction.comparison.score_findings import score_experiment
from abstain_reproduction.experiment import Experiment

TITLE = "A small network on handwritten digits, the demo"


def run(folder: Path, seed: int, progress: Progress | None) -> Outputs:  # noqa: ARG001
    """The outputs of the demo, kept for experiments that look at those of others."""
    outputs = digits()
    outputs.save(folder)
    return outputs


DIGITS = Experiment(
    "digits",
    TITLE,
    score_experiment(TITLE, run),
    about="scikit-learn's digits: a network that knows 0–7 meets noise, blur, tilt and fading, and 8 and 9.",
)
