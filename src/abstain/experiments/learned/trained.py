"""Small classifiers trained here in minutes: over- and under-confident ones, of several data and architectures."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, final

import numpy as np

from abstain.collect.run import Progress
from abstain.experiments.training.image_tasks import ImageTask, known_classes_task
from abstain.extras import require
from abstain.outputs import Outputs

KNOWN = 8  # classes of ten; the others are unknown
FEATURE = "Training classifiers to judge scores on"


@final
@dataclass(frozen=True, kw_only=True)
class TrainedCNN:
    """A small convolutional network."""

    source: str
    words: str
    train: int
    epochs: int
    smoothing: float = 0.0
    objective: Literal["cross_entropy", "logit_norm"] = "cross_entropy"
    sharpness: float = 1.0
    """What its head is multiplied by."""

    def outputs(self, folder: Path, /, *, seed: int, limit: int | None, progress: Progress | None) -> Outputs:
        """Train it, or go on, and ask it of all three kinds of images."""
        from abstain.train.cross_entropy import CrossEntropy
        from abstain.train.logit_norm import LogitNorm
        from abstain.train.recipe import Recipe
        from abstain.train.training import train

        task = _task(self.source, self.train, limit)
        options = {"channels": 3, "side": 32, "width": 128} if task.images.ndim == 4 else {"width": 64}
        recipe = Recipe(
            body="small_cnn",
            options=options,
            objective=LogitNorm() if self.objective == "logit_norm" else CrossEntropy(self.smoothing),
            classes=KNOWN,
            epochs=self.epochs,
        )
        file = folder / f"{self.source}-{self.train}-{self.objective}-{self.smoothing:g}-{seed}.safetensors"
        found = task.outputs(train(recipe, task.images, task.labels, file, seed=seed, progress=progress))
        return _sharpened(found, self.sharpness)


@final
@dataclass(frozen=True, kw_only=True)
class TrainedForest:
    """A random forest on pixels: probabilities alone, with many ties."""

    source: str
    words: str
    train: int
    trees: int

    def outputs(self, folder: Path, /, *, seed: int, limit: int | None, progress: Progress | None) -> Outputs:  # noqa: ARG002
        """Grow it and ask it of all three kinds of images."""
        ensemble = require("sklearn.ensemble", extra="sklearn", feature=FEATURE)
        task = _task(self.source, self.train, limit)
        forest = ensemble.RandomForestClassifier(self.trees, min_samples_leaf=2, random_state=seed, n_jobs=1)
        forest.fit(task.images.reshape(len(task.images), -1), task.labels)
        clean, few = np.arange(len(task.clean)), len(task.corrupted)
        new = len(clean) + np.arange(len(task.unknown))
        parts = (
            (task.clean, task.truth, "none", "clean", clean),
            (task.corrupted, task.truth[:few], "covariate", task.corruptions, clean[:few]),
            (task.unknown, np.full(len(new), -1), "label", task.unknown_name, new),
        )
        return Outputs.concat(
            [
                Outputs(
                    probabilities=forest.predict_proba(images.reshape(len(images), -1)),
                    labels=labels,
                    shift=shift,
                    domain=domain,
                    ids=ids,
                )
                for images, labels, shift, domain, ids in parts
            ]
        )


TrainedModel = TrainedCNN | TrainedForest
TRAINED: dict[str, TrainedModel] = {
    "fashion-smooth": TrainedCNN(
        source="fashion", words="a CNN of Fashion-MNIST, label smoothing 0.2", train=12_000, epochs=4, smoothing=0.2
    ),
    "mnist-norm": TrainedCNN(
        source="mnist", words="a CNN of 3,000 digits by LogitNorm", train=3000, epochs=10, objective="logit_norm"
    ),
    "fashion-few": TrainedCNN(
        source="fashion", words="a CNN of 600 pieces of clothing, learned by heart", train=600, epochs=40
    ),
    "mnist-few": TrainedCNN(source="mnist", words="a CNN of 500 digits, learned by heart", train=500, epochs=40),
    "cifar-sharp": TrainedCNN(
        source="cifar", words="a CNN of CIFAR-10, its logits times 4", train=20_000, epochs=5, sharpness=4.0
    ),
    "forest": TrainedForest(source="fashion", words="a random forest of Fashion-MNIST", train=6_000, trees=100),
}


@cache
def _task(source: str, train: int, limit: int | None) -> ImageTask:
    return known_classes_task(source, known=KNOWN, train=train, limit=limit)


def _sharpened(outputs: Outputs, sharpness: float) -> Outputs:
    """The same with logits and head multiplied by a number."""
    if sharpness == 1 or outputs.weight is None or outputs.bias is None:
        return outputs
    return Outputs(
        logits=outputs.logits * sharpness,
        labels=outputs.labels,
        features=outputs.features,
        weight=outputs.weight * sharpness,
        bias=outputs.bias * sharpness,
        shift=outputs.shift,
        domain=outputs.domain,
        ids=outputs.ids,
    )
