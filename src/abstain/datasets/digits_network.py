"""Train the network of the example: it learns the digits 0–7 and meets corrupted digits, 8 and 9.

The images come with scikit-learn; nothing is downloaded. The last digits of a training differ from machine to machine,
with the order in which its linear algebra adds. Examples therefore read the outputs of one training, which
``python -m abstain.datasets.digits_network`` writes to ``digits.npz``.
"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from abstain._draws import generator
from abstain._extras import require
from abstain._io.files import write_whole
from abstain.outputs import Outputs

Images = NDArray[np.float64]
KNOWN = 8  # the network knows the digits below it
TRAINING_SHARE = 0.4
STEPS = 256  # per unit, of shipped features and head
ABOUT = (
    "Made from scikit-learn's digits by `python -m abstain.datasets.digits_network`, read by abstain.datasets.digits."
)


def _noise(images: Images, rng: np.random.Generator) -> Images:
    return np.clip(images + rng.normal(scale=4.0, size=images.shape), 0, 16)


def _blur(images: Images, rng: np.random.Generator) -> Images:
    return ndimage.gaussian_filter(images, sigma=(0, *rng.uniform(0.7, 0.9, size=2)))


def _tilt(images: Images, rng: np.random.Generator) -> Images:
    angles = rng.uniform(20, 35, size=len(images)) * rng.choice([-1, 1], size=len(images))
    turned = [ndimage.rotate(image, angle, reshape=False, order=1) for image, angle in zip(images, angles, strict=True)]
    return np.clip(np.array(turned), 0, 16)


def _fade(images: Images, rng: np.random.Generator) -> Images:
    return images * rng.uniform(0.2, 0.45, size=(len(images), 1, 1))


CORRUPTIONS: Mapping[str, Callable[[Images, np.random.Generator], Images]] = {
    "noise": _noise,
    "blur": _blur,
    "tilt": _tilt,
    "fade": _fade,
}


def train_digits(*, seed: int = 0) -> Outputs:
    """Train a small network on digits 0–7; its outputs on test digits, on corrupted copies of them, and on 8 and 9."""
    data = require("sklearn.datasets", extra="sklearn", feature="Training on digits").load_digits()
    rng = generator("digits experiment", seed)
    numbers = np.arange(len(data.target))
    known = rng.permutation(numbers[data.target < KNOWN])
    training, test = np.split(known, [int(TRAINING_SHARE * len(known))])
    network = fitted_network(data.images[training], data.target[training], epochs=120, seed=seed)

    clean, labels, other = data.images[test], data.target[test], numbers[data.target >= KNOWN]
    met = {"clean": (clean, labels, test, "none")}
    met |= {name: (corrupt(clean, rng), labels, test, "covariate") for name, corrupt in CORRUPTIONS.items()}
    met |= {"8 and 9": (data.images[other], np.full(len(other), -1), other, "label")}
    names = [str(digit) for digit in range(KNOWN)]
    return Outputs.concat(
        outputs_of(network, images, answers, ids=ids, shift=shift, domain=domain, class_names=names)
        for domain, (images, answers, ids, shift) in met.items()
    )


def fitted_network(images: Images, labels: NDArray[np.int64], /, *, epochs: int, seed: int) -> Any:
    """A network of 64 and 32 hidden units, trained on images of 8 × 8 grey levels up to 16."""
    network_module = require("sklearn.neural_network", extra="sklearn", feature="Training on digits")
    from sklearn.exceptions import ConvergenceWarning

    network = network_module.MLPClassifier((64, 32), alpha=1e-3, max_iter=epochs, tol=0, random_state=seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is chosen, not waited for
        return network.fit(_pixels(images), labels)


def outputs_of(network: Any, images: Images, labels: NDArray[np.int64], /, **about: Any) -> Outputs:
    """The network's logits of images, its penultimate features, and its last layer."""
    features = _pixels(images)
    for weight, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        features = np.maximum(features @ weight + bias, 0)
    weight, bias = network.coefs_[-1].T, network.intercepts_[-1]
    logits = features @ weight.T + bias
    return Outputs(logits=logits, labels=labels, features=features, weight=weight, bias=bias, **about)


def _pixels(images: Images) -> NDArray[np.float64]:
    return images.reshape(len(images), -1) / 16


def write(file: Path, /) -> None:
    """Train once and write the outputs as `digits` reads them.

    Features and head are rounded to a grid so coarse that the logits they make are exact sums, whatever the order.
    """
    outputs = train_digits()
    features, weight, bias = (_on_grid(array) for array in (outputs.features, outputs.weight, outputs.bias))
    logits = features.astype(np.float64) @ weight.T.astype(np.float64) + bias
    arrays: dict[str, Any] = {"features": features, "weight": weight, "bias": bias}
    types = {"labels": np.int8, "ids": np.int16, "shift": str, "domain": str, "class_names": str}
    arrays |= {name: np.asarray(getattr(outputs, name)).astype(kind) for name, kind in types.items()}
    write_whole(file, lambda path: np.savez_compressed(path, about=ABOUT, logits=logits.astype(np.float32), **arrays))


def _on_grid(array: Any) -> NDArray[np.float32]:
    return np.round(array * STEPS).astype(np.float32) / np.float32(STEPS)


if __name__ == "__main__":
    write(Path(__file__).with_name("digits.npz"))
