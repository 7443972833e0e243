"""Two models whose errors depend strongly on each other."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from abstain import Outputs

Pair = tuple[NDArray[np.float64], NDArray[np.bool_]]


def draw_pair(rng: np.random.Generator, n: int, dependence: float = 1.0) -> Pair:
    """(n, 2) confidences and errors: what the large model gets wrong, the small one nearly always does."""
    hardness, common = rng.normal(size=n), rng.random(n)
    own = np.where(rng.random(n) < dependence, common, rng.random(n))
    noise = rng.normal(size=(n, 2)) * 0.8
    confidence = np.column_stack([2.0 - 1.6 * hardness, 3.2 - 1.3 * hardness]) + noise
    return confidence, np.column_stack([common < expit(-1.3 * confidence[:, 0]), own < expit(-1.5 * confidence[:, 1])])


def as_outputs(confidence: NDArray[np.float64], errors: NDArray[np.bool_], ids: object = None) -> list[Outputs]:
    """Two classes: the logit difference is the confidence, the label is 0, and an error predicts 1."""
    both = []
    for stage in range(confidence.shape[1]):
        size = np.logaddexp(0.0, confidence[:, stage]) + 0.01  # rising, above 0
        logits = np.zeros((len(size), 2))
        logits[np.arange(len(size)), errors[:, stage].astype(int)] = size
        both.append(Outputs(logits=logits, labels=np.zeros(len(size), dtype=int), ids=ids))
    return both


@pytest.fixture(name="draw_pair", scope="session")
def _draw_pair():
    return draw_pair


@pytest.fixture(name="as_outputs", scope="session")
def _as_outputs():
    return as_outputs


@pytest.fixture
def pair():
    return lambda seed=0, n=1500, **options: as_outputs(*draw_pair(np.random.default_rng(seed), n), **options)
