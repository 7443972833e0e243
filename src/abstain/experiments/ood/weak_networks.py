"""Networks that learned nine digits from a few images each, and meet the tenth: real ones that make real mistakes."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.draws import generator
from abstain.extras import require
from abstain.outputs import Outputs

IMAGES = 100
FEATURE = "The experiment on OOD metrics"


def weak_network(unknown: int, /, *, seed: int = 0) -> Outputs:
    """Outputs of a network trained on 100 images of all digits but one, on all other images."""
    datasets = require("sklearn.datasets", extra="sklearn", feature=FEATURE)
    data = datasets.load_digits()
    pixels, digits = data.images.reshape(len(data.images), -1) / 16, data.target
    rng = generator("digits without one", seed, np.array([unknown]))
    known = rng.permutation(np.flatnonzero(digits != unknown))
    training, test = known[:IMAGES], known[IMAGES:]
    labels = np.where(digits > unknown, digits - 1, digits)
    network = _trained(pixels[training], labels[training], seed)
    other = np.flatnonzero(digits == unknown)
    return Outputs.concat(
        [
            _outputs(network, pixels[test], labels[test], test, "none"),
            _outputs(network, pixels[other], np.full(len(other), -1), other, "label"),
        ]
    )


def _trained(x: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Any:
    network_module = require("sklearn.neural_network", extra="sklearn", feature=FEATURE)
    from sklearn.exceptions import ConvergenceWarning

    network = network_module.MLPClassifier((64, 32), alpha=1e-3, max_iter=100, tol=0, random_state=seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is chosen, not waited for
        return network.fit(x, y)


def _outputs(
    network: Any, x: NDArray[np.float64], labels: NDArray[np.int64], ids: NDArray[np.int64], shift: str
) -> Outputs:
    for weight, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        x = np.maximum(x @ weight + bias, 0)
    weight, bias = network.coefs_[-1].T, network.intercepts_[-1]
    return Outputs(
        logits=x @ weight.T + bias, labels=labels, features=x, weight=weight, bias=bias, shift=shift, ids=ids
    )
