"""Every experiment by name; `abstain reproduce` reads it."""

from abstain_reproduction.benchmarks.imagenet_o import IMAGENET_O
from abstain_reproduction.benchmarks.tasks import BENCHMARKS
from abstain_reproduction.costs.class_costs import COSTS
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.gaussians.scale import SCALE
from abstain_reproduction.gaussians.toy import TOY
from abstain_reproduction.knn.knn_ablation import KNN_ABLATION
from abstain_reproduction.label_free.label_free import LABEL_FREE
from abstain_reproduction.learned.learned_score import LEARNED_SCORE
from abstain_reproduction.ood.ood_metrics import OOD_METRICS
from abstain_reproduction.paper.assembly import ASSEMBLY
from abstain_reproduction.paper.tables import TABLES
from abstain_reproduction.real_models.cifar10_nets import CIFAR10_NETS
from abstain_reproduction.real_models.digits_network import DIGITS
from abstain_reproduction.real_models.fashion import FASHION_MNIST
from abstain_reproduction.real_models.imagenet_few import IMAGENET_FEW
from abstain_reproduction.real_models.languages import LANGUAGES
from abstain_reproduction.real_models.magika import MAGIKA
from abstain_reproduction.real_models.reviews import REVIEWS
from abstain_reproduction.real_models.sentiment import SENTIMENT
from abstain_reproduction.svm.svm import SVM
from abstain_reproduction.training.margin_training import MARGIN_TRAINING
from abstain_reproduction.training.scnet import SCNET

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
        LABEL_FREE,
        TABLES,
        *BENCHMARKS,
        IMAGENET_O,
        ASSEMBLY,
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
