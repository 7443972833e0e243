"""Sketches of small data."""

import numpy as np
import pytest

from abstain.outputs import Outputs
from abstain.scores.given_confidence import Given
from abstain.sketch import Bins, Plan
from abstain.sketch.plan import BinnedScore


def draw(n, seed, classes=4):
    """Logits with errors, unknown classes and two domains."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, classes, size=n)
    logits = rng.normal(size=(n, classes)) + 2.5 * np.eye(classes)[np.maximum(labels, 0)]
    domain = np.where(rng.random(n) < 0.3, "fog", "clear")
    return Outputs(logits=logits.astype(np.float32), labels=labels, domain=domain)


@pytest.fixture(scope="session")
def outputs():
    return draw(3000, 0)


@pytest.fixture(scope="session")
def more_outputs():
    return draw(2000, 1)


@pytest.fixture
def pair_plan():
    """A plan for two confidences that are given, a and b."""

    def plan(bins=None, **options):
        used = bins or Bins(20)
        return Plan(scores={name: BinnedScore(Given(name), Given(name), used) for name in "ab"}, by=(), **options)

    return plan
