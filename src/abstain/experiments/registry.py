"""Every experiment by name; `abstain reproduce` reads it."""

from pathlib import Path

from abstain.collect.run import Progress
from abstain.experiments.digits import digits
from abstain.experiments.efficientnet import EFFICIENTNET
from abstain.experiments.evaluated import comparing
from abstain.experiments.experiment import Experiment
from abstain.experiments.fashion import FASHION_MNIST
from abstain.experiments.magika import MAGIKA
from abstain.experiments.margin_training import MARGIN_TRAINING
from abstain.experiments.scnet import SCNET
from abstain.experiments.sentiment import SENTIMENT
from abstain.outputs import Outputs

TITLE = "A small network on handwritten digits, the demo"


def _digits(folder: Path, seed: int, progress: Progress | None) -> Outputs:  # noqa: ARG001
    outputs = digits(seed=seed)
    outputs.save(folder)
    return outputs


DIGITS = Experiment("digits", TITLE, comparing(TITLE, _digits))
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (DIGITS, MAGIKA, SENTIMENT, FASHION_MNIST, EFFICIENTNET, SCNET, MARGIN_TRAINING)
}
