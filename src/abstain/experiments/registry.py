"""Every experiment by name; `abstain reproduce` reads it."""

from abstain.experiments.benchmarks.imagenet_o import IMAGENET_O
from abstain.experiments.benchmarks.tasks import BENCHMARKS
from abstain.experiments.costs.class_costs import COSTS
from abstain.experiments.experiment import Experiment
from abstain.experiments.gaussians.scale import SCALE
from abstain.experiments.gaussians.toy import TOY
from abstain.experiments.knn.knn_ablation import KNN_ABLATION
from abstain.experiments.learned.learned_score import LEARNED_SCORE
from abstain.experiments.ood.ood_metrics import OOD_METRICS
from abstain.experiments.packaged.cifar10_nets import CIFAR10_NETS
from abstain.experiments.packaged.digits_network import DIGITS
from abstain.experiments.packaged.fashion import FASHION_MNIST
from abstain.experiments.packaged.imagenet_few import IMAGENET_FEW
from abstain.experiments.packaged.languages import LANGUAGES
from abstain.experiments.packaged.magika import MAGIKA
from abstain.experiments.packaged.reviews import REVIEWS
from abstain.experiments.packaged.sentiment import SENTIMENT
from abstain.experiments.paper.assembled import ASSEMBLED
from abstain.experiments.paper.tables import TABLES
from abstain.experiments.svm.svm import SVM
from abstain.experiments.training.margin_training import MARGIN_TRAINING
from abstain.experiments.training.scnet import SCNET

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
        LEARNED_SCORE,
        TABLES,
        *BENCHMARKS,
        IMAGENET_O,
        ASSEMBLED,
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
