"""Confidence of rows that a score was not fitted on, and the constants that combined scores take from it."""

import numpy as np
import pytest

from abstain import Outputs
from abstain.scores import KNN, SIRC, DeltaKNN, DeltaMDS, MarginMix, Residual, ViM
from abstain.scores.held_out import dealt, out_of_fold, unfitted_confidence
from abstain.scores.score import CannotFitError

COMBINED = [SIRC(), SIRC((KNN(),)), ViM(), MarginMix(DeltaKNN()), MarginMix(DeltaMDS())]
names = pytest.mark.parametrize("score", COMBINED, ids=["sirc", "sirc_knn", "vim", "delta_knn_mix", "delta_mds_mix"])


def make(n, seed, *, k=4, d=60, ids=None):
    rng = np.random.default_rng(seed)
    weight = np.random.default_rng(7).normal(size=(k, d)) / 2
    x = rng.normal(size=(n, d)) * np.linspace(0.2, 2, d)
    z = x @ weight.T + 1
    labels = np.where(rng.random(n) < 0.75, z.argmax(1), rng.integers(k, size=n))
    return Outputs(logits=z, labels=labels, features=x, weight=weight, bias=np.ones(k), ids=ids)


FEW, MANY = make(40, 1), make(4000, 2)


def test_copies_of_a_sample_are_in_one_fold_and_each_fold_has_its_share_of_every_kind():
    ids = np.repeat(np.arange(100), 2)
    rows = make(200, 3, ids=ids)
    wrong = np.isin(ids, [3, 14, 15, 92, 65, 35])
    fold = dealt(rows, number=3, kinds=wrong)
    assert (fold[::2] == fold[1::2]).all()
    assert np.bincount(fold[::2][wrong[::2]], minlength=3).tolist() == [2, 2, 2]
    assert np.ptp(np.bincount(fold[::2], minlength=3)) <= 1


def test_rounding_moves_no_row_and_equal_rows_stay_together():
    rows = make(300, 4)
    half = Outputs(logits=rows.logits.astype(np.float32), features=rows.features.astype(np.float32))
    np.testing.assert_array_equal(dealt(rows, number=10), dealt(half, number=10))
    twice = rows.select(np.tile(np.arange(300), 2))
    np.testing.assert_array_equal(dealt(twice, number=10), np.tile(dealt(rows, number=10), 2))


def test_a_row_is_scored_by_a_fit_on_the_other_folds():
    fold = np.arange(len(FEW)) % 4
    result = out_of_fold(KNN(k=1), FEW, fold)
    unit = FEW.features / np.linalg.norm(FEW.features, axis=1, keepdims=True)
    for row in range(len(FEW)):
        nearest = np.square(unit[row] - unit[fold != fold[row]]).sum(axis=1).min()
        assert result[row] == pytest.approx(-nearest, rel=1e-6)
    some = out_of_fold(KNN(k=1), FEW, fold, enough=15)
    np.testing.assert_array_equal(np.isnan(some), fold >= 2)
    np.testing.assert_array_equal(some[fold < 2], result[fold < 2])


def test_one_sample_alone_has_no_others():
    with pytest.raises(CannotFitError, match="fewer than 2 distinct rows"):
        unfitted_confidence(Residual(), make(1, 0))


def test_many_rows_take_one_more_fit():
    assert len(unfitted_confidence(Residual(), MANY)) == 800  # two tenths: one has fewer than 500
    assert len(unfitted_confidence(Residual(), FEW)) == len(FEW)


@pytest.mark.parametrize("secondary", [Residual(), KNN()], ids=["residual", "knn"])
def test_the_constants_are_those_of_new_rows(secondary):
    new = secondary.fit(FEW)(MANY)
    fitted = SIRC((secondary,)).fit(FEW)
    spread = 1 / fitted.b[0]
    mean = fitted.a[0] + 3 * spread
    assert mean == pytest.approx(new.mean(), rel=0.1)
    assert spread == pytest.approx(new.std(), rel=0.35)
    naive = secondary.fit(FEW)(FEW).mean()  # on the rows of the fit
    assert abs(naive - new.mean()) > 3 * abs(mean - new.mean())


def test_the_virtual_logit_of_new_rows_is_as_large_as_their_largest_logit():
    fitted = ViM().fit(FEW)
    virtual = -fitted.alpha * fitted.residual(MANY).mean()
    assert virtual == pytest.approx(FEW.logits.max(axis=1).mean(), rel=0.1)


@names
def test_the_order_of_the_fitting_rows_is_irrelevant(score):
    rows = make(300, 5, d=9)
    order = np.random.default_rng(0).permutation(len(rows))
    expected = score.fit(rows)(MANY_NARROW)
    np.testing.assert_allclose(score.fit(rows.select(order))(MANY_NARROW), expected, rtol=1e-6, atol=1e-9)


MANY_NARROW = make(200, 6, d=9)
