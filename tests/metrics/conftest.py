"""Samples with everything a metric may need."""

import numpy as np
import pytest


@pytest.fixture
def softmax_sample():
    """Logits of three classes, one of them masked in places, and labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=400)
    logits = rng.normal(size=(400, 3)) + 2 * np.eye(3)[labels]
    logits[rng.random(400) < 0.2, 2] = -20.0
    return logits, labels
