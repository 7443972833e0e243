"""The originals that are altered."""

import numpy as np

from abstain import Outputs

N, CLASSES, WIDTH = 40, 3, 4


def outputs(n: int = N, *, seed: int = 0) -> Outputs:
    """Outputs with all that they can have."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=n)
    features = rng.normal(size=(n, WIDTH)) + 2 * np.eye(CLASSES, WIDTH)[labels]
    weight = 2 * np.eye(CLASSES, WIDTH)
    return Outputs(
        logits=features @ weight.T,
        labels=labels,
        features=features,
        weight=weight,
        bias=np.zeros(CLASSES),
        shift=np.where(np.arange(n) % 5 == 0, "covariate", "none"),
        domain=np.where(np.arange(n) % 2 == 0, "here", "there"),
        ids=np.arange(n),
        class_names=("cat", "dog", "eel"),
    )
