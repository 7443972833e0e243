"""Networks that learned nine digits from a few images each, and meet the tenth: real ones that make real mistakes."""

import numpy as np

from abstain.datasets.digits_network import fitted_network, outputs_of
from abstain.draws import generator
from abstain.extras import require
from abstain.outputs import Outputs

IMAGES = 100
FEATURE = "The experiment on OOD metrics"


def weak_network(unknown: int, /, *, seed: int = 0) -> Outputs:
    """Outputs of a network trained on 100 images of all digits but one, on all other images."""
    data = require("sklearn.datasets", extra="sklearn", feature=FEATURE).load_digits()
    images, digits = data.images, data.target
    rng = generator("digits without one", seed, np.array([unknown]))
    known = rng.permutation(np.flatnonzero(digits != unknown))
    training, test = known[:IMAGES], known[IMAGES:]
    labels = np.where(digits > unknown, digits - 1, digits)
    network = fitted_network(images[training], labels[training], epochs=100, seed=seed)
    other = np.flatnonzero(digits == unknown)
    unlabelled = np.full(len(other), -1)
    return Outputs.concat(
        [
            outputs_of(network, images[test], labels[test], ids=test, shift="none"),
            outputs_of(network, images[other], unlabelled, ids=other, shift="label"),
        ]
    )
