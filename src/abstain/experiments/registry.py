"""Every experiment by name; `abstain reproduce` reads it."""

from pathlib import Path

from abstain.collect.run import Progress
from abstain.experiments.benchmarks import BENCHMARKS
from abstain.experiments.cifar10_nets import CIFAR10_NETS
from abstain.experiments.costs.class_costs import COSTS
from abstain.experiments.digits import digits
from abstain.experiments.evaluated import comparing
from abstain.experiments.experiment import Experiment
from abstain.experiments.fashion import FASHION_MNIST
from abstain.experiments.gaussians.scale import SCALE
from abstain.experiments.gaussians.toy import TOY
from abstain.experiments.imagenet_few import IMAGENET_FEW
from abstain.experiments.knn.knn_ablation import KNN_ABLATION
from abstain.experiments.languages import LANGUAGES
from abstain.experiments.magika import MAGIKA
from abstain.experiments.margin_training import MARGIN_TRAINING
from abstain.experiments.ood.ood_metrics import OOD_METRICS
from abstain.experiments.reviews import REVIEWS
from abstain.experiments.scnet import SCNET
from abstain.experiments.sentiment import SENTIMENT
from abstain.experiments.svm.svm import SVM
from abstain.experiments.tables import TABLES
from abstain.outputs import Outputs

TITLE = "A small network on handwritten digits, the demo"


def _digits(folder: Path, seed: int, progress: Progress | None) -> Outputs:  # noqa: ARG001
    outputs = digits(seed=seed)
    outputs.save(folder)
    return outputs


DIGITS = Experiment(
    "digits",
    TITLE,
    comparing(TITLE, _digits),
    about="scikit-learn's digits: a network that knows 0–7 meets noise, blur, tilt and fading, and 8 and 9.",
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        SCALE,
        TOY,
        OOD_METRICS,
        KNN_ABLATION,
        SVM,
        COSTS,
        SCNET,
        MARGIN_TRAINING,
        TABLES,
        *BENCHMARKS,
        DIGITS,
        MAGIKA,
        SENTIMENT,
        FASHION_MNIST,
        CIFAR10_NETS,
        LANGUAGES,
        REVIEWS,
        IMAGENET_FEW,
    )
}
