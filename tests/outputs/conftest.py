"""Outputs with every array, to write and to read."""

import numpy as np
import pytest

from abstain import Outputs


@pytest.fixture
def make():
    """Outputs by their size and seed."""
    return outputs_of


def outputs_of(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return Outputs(
        logits=rng.normal(size=(n, 3)).astype(np.float32),
        labels=rng.integers(-1, 3, size=n),
        features=rng.normal(size=(n, 4)),
        weight=rng.normal(size=(3, 4)),
        bias=rng.normal(size=3),
        domain=[f"domain-{i % 3}" for i in range(n)],
        ids=[f"é{i}" for i in range(n)],
        class_names=["cat", "dog", "gnu"],
    )
