import numpy as np
import pytest
from scipy import stats

from abstain.outputs import Outputs
from abstain_reproduction.training.margin_of_loss import margin_of_loss

RNG = np.random.default_rng(1)


def test_numbers_are_those_of_a_loop():
    logits, labels = 3 * RNG.normal(size=(50, 4)), RNG.integers(4, size=50)
    margins, losses, kept, dominated = [], [], [], []
    for z, y in zip(logits, labels, strict=True):
        terms = np.sort(np.exp(np.delete(z, y) - z[y]))
        margins.append(-np.log(terms[-1]))
        losses.append(np.log(1 + terms.sum()))
        kept.append(np.log(1 + terms[-1]))
        dominated.append(terms[-1] > 10 * terms[:-1].sum())
    measured = margin_of_loss(Outputs(logits=logits, labels=labels))
    assert measured.correlation == pytest.approx(stats.spearmanr(margins, losses).statistic * -1, rel=1e-10)
    assert measured.share == pytest.approx(sum(kept) / sum(losses), rel=1e-12)
    assert measured.dominated == np.mean(dominated)


def test_with_a_single_rival_the_loss_is_a_function_of_the_margin():
    measured = margin_of_loss(Outputs(logits=RNG.normal(size=(20, 2)), labels=RNG.integers(2, size=20)))
    assert (measured.correlation, measured.share, measured.dominated) == pytest.approx((1, 1, 1))


def test_with_many_equal_rivals_it_is_not():
    logits = np.zeros((30, 1000))
    logits[:, 0] = np.linspace(0, 5, 30)
    measured = margin_of_loss(Outputs(logits=logits, labels=np.zeros(30, dtype=int)))
    assert measured.share < 0.1
    assert measured.dominated == 0
