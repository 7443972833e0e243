"""`learned` and the order of classes."""

import numpy as np
import pytest

from abstain import Outputs
from abstain.scores.registry import as_score


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("n_classes", [6, pytest.param(150, marks=pytest.mark.thorough)])
def test_the_order_of_classes_changes_nothing(copies, n_classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=900)
    logits = rng.normal(size=(900, n_classes)) + 2.5 * np.eye(n_classes)[labels]
    ids, order = np.arange(900) // copies, rng.permutation(n_classes)
    position = np.argsort(order)
    single = as_score("learned").fit(Outputs(logits=logits, labels=labels, ids=ids))
    other = as_score("learned").fit(Outputs(logits=logits[:, order], labels=position[labels], ids=ids))
    result, again = single(Outputs(logits=logits)), other(Outputs(logits=logits[:, order]))
    np.testing.assert_allclose(result, again, atol=1e-6)
