"""Handwritten digits: a small network that knows 0–7 meets blurred, noisy and tilted digits, and 8 and 9.

The data come with scikit-learn; nothing is downloaded. The same numbers come out every run.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from abstain.draws import generator
from abstain.extras import require
from abstain.outputs import Outputs

Images = NDArray[np.float64]
KNOWN = 8  # the network knows the digits below it
TRAINING_SHARE = 0.4


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


def digits(*, seed: int = 0) -> Outputs:
    """Outputs of a small network on test digits 0–7 as they are, on corrupted copies of them, and on 8 and 9."""
    datasets = require("sklearn.datasets", extra="sklearn", feature="The digits experiment")
    network_module = require("sklearn.neural_network", extra="sklearn", feature="The digits experiment")
    data = datasets.load_digits()
    rng = generator("digits experiment", seed)
    numbers = np.arange(len(data.target))
    known = rng.permutation(numbers[data.target < KNOWN])
    training, test = np.split(known, [int(TRAINING_SHARE * len(known))])
    network = network_module.MLPClassifier(
        hidden_layer_sizes=(64, 32), alpha=1e-3, max_iter=120, tol=0, random_state=seed
    )
    with np.errstate(all="ignore"):
        _fit_quietly(network, data.images[training], data.target[training])

    parts = [_outputs(network, data.images[test], data.target[test], ids=test, shift="none", domain="clean")]
    for name, corrupt in CORRUPTIONS.items():
        corrupted = corrupt(data.images[test], rng)
        parts.append(_outputs(network, corrupted, data.target[test], ids=test, shift="covariate", domain=name))
    unknown = numbers[data.target >= KNOWN]
    labels = np.full(len(unknown), -1)
    parts.append(_outputs(network, data.images[unknown], labels, ids=unknown, shift="label", domain="8 and 9"))
    return Outputs.concat(parts)


def _fit_quietly(network: Any, images: Images, labels: NDArray[np.int64]) -> None:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is chosen, not waited for
        network.fit(images.reshape(len(images), -1) / 16, labels)


def _outputs(
    network: Any,
    images: Images,
    labels: NDArray[np.int64],
    *,
    ids: NDArray[np.int64],
    shift: str,
    domain: str,
) -> Outputs:
    """Run the network by hand, to keep what enters its last layer."""
    features = images.reshape(len(images), -1) / 16
    for weight, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        features = np.maximum(features @ weight + bias, 0)
    weight, bias = network.coefs_[-1].T, network.intercepts_[-1]
    return Outputs(
        logits=features @ weight.T + bias,
        labels=labels,
        features=features,
        weight=weight,
        bias=bias,
        shift=shift,
        domain=domain,
        ids=ids,
        class_names=[str(digit) for digit in range(KNOWN)],
    )
