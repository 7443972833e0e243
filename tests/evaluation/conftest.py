import numpy as np
import pytest

from abstain import Outputs


@pytest.fixture(scope="session")
def mixed_outputs():
    """Make outputs: a third of the rows clean, a third shifted copies of them, a third of unknown classes."""

    def made(n=300, seed=0):
        rng = np.random.default_rng(seed)
        labels = rng.integers(4, size=n)
        clean = rng.normal(size=(n, 4)) + 2.5 * np.eye(4)[labels]
        shifted = clean + rng.normal(scale=1.5, size=(n, 4))
        return Outputs(
            logits=np.vstack([clean, shifted, rng.normal(size=(n, 4))]),
            labels=np.concatenate([labels, labels, np.full(n, -1)]),
            shift=np.repeat(["none", "covariate", "label"], n),
            ids=np.concatenate([np.arange(n), np.arange(n), np.arange(n, 2 * n)]),
        )

    return made
