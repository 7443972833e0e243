"""Open question (i) of the paper: does an objective that promotes margins improve selection by margins?

One body, one data set, six objectives, five seeds. All runs of a seed begin with the same body and see the same
batches, so that differences to cross-entropy are paired by seed. The learning rate of each objective is the best of
five by the errors on images held out of training.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from abstain.evaluation import Evaluation, evaluate
from abstain.outputs import Outputs
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings
from abstain_reproduction.training.image_tasks import CLASSES, PACKAGES, ImageTask, fashion_task
from abstain_reproduction.training.margin_gains import BASE, POST_HOC, TrainedRun, findings
from abstain_reproduction.training.margin_of_loss import margin_of_loss
from abstain_reproduction.training.testing_error import Influences, errors_of_testing, influences
from abstain_reproduction.training.training_runs import TrainingRuns

if TYPE_CHECKING:
    from abstain_reproduction.train.objective import Objective
    from abstain_reproduction.train.recipe import Recipe

TITLE = "Objectives that promote margins against cross-entropy, on Fashion-MNIST"
EPOCHS, LONG_EPOCHS, SEEDS = 4, 15, 5
IMAGES = 20_000  # to train on in the short version
RATES = (0.5, 0.1, 0.02, 0.004, 0.0008)
TUNING, HELD_OUT = 6_000, 5_000


def objectives() -> "dict[str, Objective]":
    """Each with the constants of its authors, but for the scale of the additive margin, which was for many faces."""
    from abstain_reproduction.train.additive_margin import AdditiveMargin
    from abstain_reproduction.train.cross_entropy import CrossEntropy
    from abstain_reproduction.train.deep_gamblers import DeepGamblers
    from abstain_reproduction.train.hinge import Hinge
    from abstain_reproduction.train.logit_norm import LogitNorm
    from abstain_reproduction.train.self_adaptive import SelfAdaptive

    return {
        BASE: CrossEntropy(),
        "hinge": Hinge(),
        "additive margin": AdditiveMargin(),
        "LogitNorm": LogitNorm(),
        "Deep Gamblers": DeepGamblers(),
        "self-adaptive": SelfAdaptive(),
    }


def run(setting: Setting) -> Findings:
    """Train every objective with every seed, and compare with cross-entropy."""
    task = fashion_task(train=None if setting.long else IMAGES, limit=setting.limit, seed=setting.seed)
    epochs = LONG_EPOCHS if setting.long else EPOCHS
    seeds = range(setting.seed, setting.seed + (setting.seeds or SEEDS))
    runs = TrainingRuns(setting, len(objectives()) * (len(RATES) + len(seeds)))
    rates = {name: _rate(name, objective, task, runs, setting.seed) for name, objective in objectives().items()}
    results, margins = [], []
    for seed in seeds:
        base: Influences = {}
        for name, objective in objectives().items():
            rate = rates[name]
            network = runs.train(f"{name} {rate}", recipe(objective, rate, epochs), task.images, task.labels, seed=seed)
            evaluation = _evaluation(task.outputs(network))
            clean = evaluation.outputs.select(evaluation.outputs.shift == "none")
            if name == BASE:
                base = influences(evaluation)
                margins.append(margin_of_loss(clean))
            testing = errors_of_testing(influences(evaluation), base)
            results.append(TrainedRun(name, seed, rate, float(clean.errors.mean()), _areas(evaluation), testing))
    return findings(results, margins, f"{task.words}; a small CNN, {epochs} epochs, {len(seeds)} seeds")


def recipe(objective: "Objective", rate: float, epochs: int) -> "Recipe":
    """The small network, the same for all objectives but for its head."""
    from abstain_reproduction.train.recipe import Recipe

    return Recipe(body="small_cnn", objective=objective, classes=CLASSES, epochs=epochs, batch_size=256, lr=rate)


def _rate(name: str, objective: "Objective", task: ImageTask, runs: TrainingRuns, seed: int) -> float:
    """The learning rate with the fewest errors on the last images, after training on some of the others."""
    from abstain_reproduction.train.predict import predict

    held = min(HELD_OUT, len(task.images) // 3)
    some = slice(min(TUNING, len(task.images) - held))
    wrong = dict.fromkeys(RATES, 1.0)
    for rate in RATES:
        tried = recipe(objective, rate, EPOCHS)
        with suppress(FloatingPointError):  # a rate too large for the loss to stay finite is as bad as can be
            network = runs.train(f"{name} {rate} tuning", tried, task.images[some], task.labels[some], seed=seed)
            wrong[rate] = float(predict(network, task.images[-held:], task.labels[-held:]).errors.mean())
    return min(RATES, key=lambda rate: wrong[rate])


def _evaluation(outputs: Outputs) -> Evaluation:
    return evaluate(outputs, scores=[*POST_HOC, *outputs.confidence_names], alphas=(1.0,))


def _areas(evaluation: Evaluation) -> dict[str, float]:
    return {f"{row['score']} {row['mix']}": row["aurc"] for row in evaluation.rows}


MARGIN_TRAINING = Experiment("margin-training", TITLE, run, frozenset({"seeds", "limit", "long"}), needs=PACKAGES)
