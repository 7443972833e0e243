"""What scores take from the sample they are fitted on."""

import gc
import weakref

import numpy as np
import pytest

from abstain import Outputs
from abstain.scores import KNN, SIRC, DeltaKNN, DeltaMDS, NNGuide, Residual, ViM, confidences, samples
from abstain.scores.residual import FittedResidual


def make(n=60, k=3, d=5, seed=0):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(n, d)), np.random.default_rng(9).normal(size=(k, d))
    labels = np.where(rng.random(n) < 0.7, (x @ w.T).argmax(1), rng.integers(k, size=n))
    return Outputs(logits=x @ w.T, labels=labels, features=x, weight=w, bias=np.zeros(k))


@pytest.mark.parametrize("score", [KNN(), NNGuide(), DeltaKNN(k=2)], ids=["knn", "nnguide", "delta_knn"])
def test_of_a_large_sample_a_bank_is_drawn_that_is_the_same_each_time(score, monkeypatch):
    monkeypatch.setattr(samples, "LARGEST_BANK", 20)
    fitted, again = score.fit(make()), score.fit(make())
    assert len(fitted.bank) == 20
    np.testing.assert_array_equal(fitted(make(seed=1)), again(make(seed=1)))


def test_the_bank_is_made_of_rows_of_the_sample_each_at_most_once(monkeypatch):
    monkeypatch.setattr(samples, "LARGEST_BANK", 20)
    rows = {tuple(row) for row in samples.bank_of(make()).features}
    assert len(rows) == 20
    assert rows < {tuple(row) for row in make().features}


def test_a_sample_that_is_not_too_large_is_the_bank_right_rows_first():
    sample = make()
    bank = samples.bank_of(sample)
    np.testing.assert_array_equal(bank.errors, np.sort(sample.errors))
    assert {tuple(row) for row in bank.features} == {tuple(row) for row in sample.features}
    assert samples.bank_of(bank) is bank


def test_scores_that_seek_neighbours_share_one_bank():
    sample = make()
    knn, nnguide, delta = (score.fit(sample) for score in (KNN(), NNGuide(), DeltaKNN()))
    assert knn.bank is nnguide.bank is delta.bank
    assert KNN(space="logits").fit(sample).bank is not knn.bank


def test_what_is_found_of_a_sample_does_not_keep_it():
    sample = samples.bank_of(make())
    KNN().fit(sample)
    kept = weakref.ref(sample)
    del sample
    gc.collect()
    assert kept() is None


def test_what_scores_share_is_computed_once_for_a_block(monkeypatch):
    sample, calls = make(), []
    fitted = {score.name: score.fit(sample) for score in (Residual(), ViM(), SIRC())}
    original = FittedResidual.formula

    def counted(self, inputs):
        calls.append(self)
        return original(self, inputs)

    monkeypatch.setattr(FittedResidual, "formula", counted)
    confidences(make(seed=1), fitted)
    assert len(calls) == 1


@pytest.mark.parametrize("score", [DeltaKNN(), DeltaMDS(), Residual()], ids=["delta_knn", "delta_mds", "residual"])
def test_the_same_sample_is_fitted_once(score):
    sample = make()
    assert score.fit(sample) is score.fit(sample)
    assert score.fit(sample) is not score.fit(make())


def test_means_are_those_of_each_class_in_the_order_of_labels():
    x = np.random.default_rng(0).normal(size=(9, 6))
    labels = np.array([7, 2, 2, 7, 0, 7, 2, 0, 0])
    means, centred = samples.class_means(x, labels)
    for mean, label in zip(means, (0, 2, 7), strict=True):
        np.testing.assert_allclose(mean, x[labels == label].mean(0))
        np.testing.assert_allclose(centred[labels == label], x[labels == label] - mean)
