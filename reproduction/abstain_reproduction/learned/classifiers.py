"""Small classifiers trained here in minutes: over- and under-confident ones, of several data and architectures."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain.collect.run import Progress
from abstain.collect.sklearn_model import SklearnModel
from abstain.outputs import Outputs
from abstain_reproduction.training.image_tasks import ImageTask, known_classes_task

KNOWN = 8  # classes of ten; the others are unknown
FEATURE = "Training classifiers to judge scores on"


@final
@dataclass(frozen=True, kw_only=True)
class TrainedCNN:
    """A small convolutional network."""

    source: str
    train: int
    epochs: int
    smoothing: float = 0.0
    objective: Literal["cross_entropy", "logit_norm"] = "cross_entropy"
    sharpness: float = 1.0
    """What its head is multiplied by."""
    width: int | None = None
    """Features, 64 of grey images and 128 of coloured ones where it is not given."""
    dropout: float = 0.0

    def outputs(self, folder: Path, /, *, seed: int, limit: int | None, progress: Progress | None) -> Outputs:
        """Train it, or resume, and collect its outputs on all three kinds of images."""
        from abstain_reproduction.train.cross_entropy import CrossEntropy
        from abstain_reproduction.train.logit_norm import LogitNorm
        from abstain_reproduction.train.recipe import Recipe
        from abstain_reproduction.train.training import train

        task = _task(self.source, self.train, limit)
        size = {"channels": 3, "side": 32, "width": 128} if task.images.ndim == 4 else {"width": 64}
        asked = {"width": self.width, "dropout": self.dropout}
        recipe = Recipe(
            body="small_cnn",
            options=size | {name: value for name, value in asked.items() if value},
            objective=LogitNorm() if self.objective == "logit_norm" else CrossEntropy(self.smoothing),
            classes=KNOWN,
            epochs=self.epochs,
        )
        name = f"{self.source}-{self.train}-{self.objective}-{self.smoothing:g}"
        if self.dropout:
            name += f"-dropout-{self.dropout:g}"
        file = folder / f"{name}-{seed}.safetensors"
        outputs = task.outputs(train(recipe, task.images, task.labels, file, seed=seed, progress=progress))
        return _sharpened(outputs, self.sharpness)


@final
@dataclass(frozen=True, kw_only=True)
class TrainedEstimator:
    """A classifier of scikit-learn on pixels, with features and head where its last layer is linear."""

    source: str
    train: int
    kind: str
    """Its module in scikit-learn and its name."""
    options: dict[str, Any]

    def outputs(self, folder: Path, /, *, seed: int, limit: int | None, progress: Progress | None) -> Outputs:  # noqa: ARG002
        """Fit it and ask it of all three kinds of images."""
        task = _task(self.source, self.train, limit)
        module, name = self.kind.split(".")
        library = require(f"sklearn.{module}", extra="sklearn", feature=FEATURE)
        estimator = getattr(library, name)(**self.options, random_state=seed)
        model = SklearnModel(estimator.fit(_pixels(task.images), task.labels))
        clean, few = np.arange(len(task.clean)), len(task.corrupted)
        new = len(clean) + np.arange(len(task.unknown))
        parts = (
            (task.clean, task.truth, "none", "clean", clean),
            (task.corrupted, task.truth[:few], "covariate", task.corruptions, clean[:few]),
            (task.unknown, np.full(len(new), -1), "label", task.unknown_name, new),
        )
        return Outputs.concat(
            [
                Outputs(**_said(model, _pixels(images)), labels=labels, shift=shift, domain=domain, ids=ids)
                for images, labels, shift, domain, ids in parts
            ]
        )


TrainedModel = TrainedCNN | TrainedEstimator
CLASSIFIERS: dict[str, TrainedModel] = {
    "fashion-smooth": TrainedCNN(source="fashion", train=12_000, epochs=4, smoothing=0.2),
    "mnist-norm": TrainedCNN(source="mnist", train=3000, epochs=10, objective="logit_norm"),
    "fashion-few": TrainedCNN(source="fashion", train=600, epochs=40),
    "mnist-few": TrainedCNN(source="mnist", train=500, epochs=40),
    "cifar-sharp": TrainedCNN(source="cifar", train=20_000, epochs=5, sharpness=4.0),
    "cifar-dropout": TrainedCNN(
        source="cifar",
        train=5000,
        epochs=15,
        width=256,
        dropout=0.5,
    ),
    "forest": TrainedEstimator(
        source="fashion",
        train=6000,
        kind="ensemble.RandomForestClassifier",
        options={"n_estimators": 100, "min_samples_leaf": 2},
    ),
    "boosted": TrainedEstimator(
        source="fashion",
        train=3000,
        kind="ensemble.HistGradientBoostingClassifier",
        options={"max_iter": 60, "max_features": 0.3},
    ),
    "mlp": TrainedEstimator(
        source="mnist",
        train=5000,
        kind="neural_network.MLPClassifier",
        options={"hidden_layer_sizes": (256,), "max_iter": 60, "tol": 1e-3},
    ),
}


@cache
def _task(source: str, train: int, limit: int | None) -> ImageTask:
    return known_classes_task(source, known=KNOWN, train=train, limit=limit)


def _said(model: SklearnModel, pixels: NDArray[np.float64]) -> dict[str, Any]:
    """Logits, or probabilities of a classifier without logits, with features and head if there are any."""
    if model.linear is None and not hasattr(model.estimator, "decision_function"):
        return {"probabilities": model.estimator.predict_proba(pixels)}
    logits, features = model.on(pixels)
    weight, bias = model.head()
    return {"logits": logits, "features": features, "weight": weight, "bias": bias}


def _pixels(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    return images.reshape(len(images), -1) / 255.0


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
