"""SelectiveNet (§4.2): its selection head against post-hoc scores, on the classifier that was trained with it."""

from typing import TYPE_CHECKING

from abstain.evaluation import evaluate
from abstain.metrics.intervals import ALPHAS
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings
from abstain_reproduction.training.image_tasks import CLASSES, PACKAGES, cifar_task, fashion_task
from abstain_reproduction.training.selection_head import SYMBOLS, findings
from abstain_reproduction.training.training_runs import TrainingRuns

if TYPE_CHECKING:
    from abstain_reproduction.train.recipe import Recipe

TITLE = "SelectiveNet: its selection head against post-hoc scores"
SHORT_SEEDS, LONG_SEEDS = 5, 3
IMAGES = 20_000  # to train on in the short version


def recipe(*, long: bool) -> "Recipe":
    """A small network for minutes; for the long version a ResNet-20."""
    from abstain_reproduction.train.augmentation import Augmentation
    from abstain_reproduction.train.recipe import Recipe
    from abstain_reproduction.train.selective_net import Selective

    if not long:
        return Recipe(body="small_cnn", objective=Selective(), classes=CLASSES, epochs=15, batch_size=256, lr=0.05)
    augmentation = Augmentation(pad=4, flip=True)
    return Recipe(body="resnet20", objective=Selective(), classes=CLASSES, epochs=8, augmentation=augmentation)


def run(setting: Setting) -> Findings:
    """Train with every seed, then compare the scores on the fixed classifier, paired."""
    if setting.long:
        task = cifar_task(limit=setting.limit, seed=setting.seed)
    else:
        task = fashion_task(train=IMAGES, limit=setting.limit, seed=setting.seed)
    chosen = recipe(long=setting.long)
    count = setting.seeds or (LONG_SEEDS if setting.long else SHORT_SEEDS)
    runs = TrainingRuns(setting, count)
    evaluations = []
    for seed in range(setting.seed, setting.seed + count):
        network = runs.train("scnet", chosen, task.images, task.labels, seed=seed)
        evaluations.append(evaluate(task.outputs(network), scores=list(SYMBOLS), alphas=ALPHAS, fitting="paper"))
    data = f"{task.words}; {chosen.body}, {chosen.epochs} epochs, {count} seed{'s' * (count > 1)}"
    return findings(evaluations, data)


SCNET = Experiment("scnet", TITLE, run, frozenset({"seeds", "limit", "long"}), needs=PACKAGES)
