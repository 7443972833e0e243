import math

import numpy as np
import pytest
from scipy.special import logsumexp

from abstain._kernels import row_sums as module
from abstain._kernels.row_sums import row_sums


def stacked(sums):
    return np.stack([sums.top, sums.second, sums.prediction, sums.tail, sums.ratio, sums.gap])


@pytest.fixture
def logits():
    return np.random.default_rng(0).normal(scale=5, size=(300, 17))


def test_sums_agree_with_scipy(logits):
    sums = row_sums(logits)
    order = np.sort(logits, axis=1)
    d = order[:, :-1] - order[:, -1:]
    np.testing.assert_allclose(sums.top, order[:, -1])
    np.testing.assert_allclose(sums.second, order[:, -2])
    np.testing.assert_allclose(sums.tail, logsumexp(d, axis=1), rtol=1e-13)
    np.testing.assert_allclose(sums.ratio, np.exp(2 * d).sum(1) / np.exp(d).sum(1), rtol=1e-13)
    np.testing.assert_allclose(sums.gap, (np.exp(d) * -d).sum(1) / np.exp(d).sum(1), rtol=1e-12)
    np.testing.assert_array_equal(sums.prediction, logits.argmax(1))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 63, 64, 65, 130])
@pytest.mark.parametrize("n", [1, 15, 16, 33])
def test_every_width_and_number_of_rows_agrees_with_numpy(n, k, kind):
    z = np.random.default_rng(n * k).normal(scale=4, size=(n, k)).astype(kind)
    scale = np.random.default_rng(0).uniform(0.5, 2, size=k)
    sums, order, wide = row_sums(z, scale=scale), np.sort(z, axis=1), z.astype(np.float64)
    np.testing.assert_array_equal(sums.top, order[:, -1])
    np.testing.assert_array_equal(sums.second, order[:, -2])
    np.testing.assert_array_equal(sums.prediction, z.argmax(1))
    rest = np.where(np.arange(k) == z.argmax(1)[:, None], -np.inf, wide)
    rival = (rest * scale).max(1)
    np.testing.assert_array_equal(sums.scaled_margin, (wide * scale)[np.arange(n), z.argmax(1)] - rival)
    np.testing.assert_allclose(sums.tail, logsumexp(rest, axis=1) - wide.max(1), rtol=1e-13, atol=1e-15)


def test_a_class_beyond_what_float32_counts_is_told_exactly():
    z = np.zeros((1, 2**24 + 4), dtype=np.float32)
    z[0, 2**24 + 1] = 1
    assert row_sums(z).prediction[0] == 2**24 + 1


def test_prediction_is_the_first_of_equal_logits():
    assert row_sums(np.array([[1.0, 3.0, 3.0]])).prediction[0] == 1


def test_a_batch_of_one_gives_the_same_bits(logits):
    together = stacked(row_sums(logits.astype(np.float32)))
    alone = np.stack([stacked(row_sums(row[None].astype(np.float32)))[:, 0] for row in logits], axis=1)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda z: np.repeat(z, 2, axis=1)[:, ::2]])
def test_memory_layout_is_irrelevant(logits, layout):
    np.testing.assert_array_equal(stacked(row_sums(layout(logits))), stacked(row_sums(logits)))


def test_many_blocks_in_threads_equal_one_block(logits, monkeypatch):
    whole = stacked(row_sums(logits))
    monkeypatch.setattr("abstain._kernels.blocks.BLOCK_ELEMENTS", 40)
    np.testing.assert_array_equal(stacked(row_sums(logits)), whole)


@pytest.mark.parametrize("bad", [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf]])
def test_unusable_rows_are_nan_and_predict_nothing(bad):
    sums = row_sums(np.array([bad, [1.0, 0.0]]))
    assert sums.prediction.tolist() == [-1, 0]
    assert np.isnan(sums.tail[0])
    assert np.isfinite(sums.tail[1])


def test_temperature_divides_the_logits(logits):
    np.testing.assert_allclose(row_sums(logits, temperature=2.0).tail, row_sums(logits / 2).tail)


@pytest.mark.parametrize("classes", [2, 5, 16, 63, 64, 65, 1000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_any_number_of_classes_and_type(classes, dtype):
    z = np.random.default_rng(classes).normal(scale=4, size=(37, classes)).astype(dtype)
    sums, scale = row_sums(z, scale=np.linspace(1, 2, classes)), np.linspace(1, 2, classes)
    z = z.astype(np.float64)
    rest = np.array([np.delete(row, row.argmax()) for row in z])
    rivals = np.array([np.delete(row * scale, row.argmax()) for row in z]).max(1)
    np.testing.assert_array_equal(sums.prediction, z.argmax(1))
    np.testing.assert_array_equal(sums.second, rest.max(1))
    np.testing.assert_allclose(sums.tail, logsumexp(rest, axis=1) - z.max(1), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sums.log_total, logsumexp(z, axis=1) - z.max(1), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(sums.scaled_margin, (z * scale)[np.arange(37), z.argmax(1)] - rivals, atol=1e-13)


def test_many_classes_are_summed_to_the_last_digits():
    z = np.random.default_rng(1).normal(size=(2, 20_000))
    exact = [math.log(math.fsum(math.exp(v - row.max()) for v in row) - 1) for row in z]
    np.testing.assert_allclose(row_sums(z).tail, exact, rtol=2e-15)


def test_margins_and_predictions_need_no_exponentials(logits, monkeypatch):
    asked = []
    gathered = module.gathered
    monkeypatch.setattr(module, "gathered", lambda *a: asked.append(a[-1]) or gathered(*a))
    sums = row_sums(logits)
    assert (sums.margin == sums.top - sums.second).all()
    assert sums.prediction.shape == (300,)
    assert asked == [module.EXTREMES]


def test_all_is_gathered_in_one_read_once_exponentials_are_asked_for(logits, monkeypatch):
    asked = []
    gathered = module.gathered
    monkeypatch.setattr(module, "gathered", lambda *a: asked.append(a[-1]) or gathered(*a))
    sums = row_sums(logits, scale=np.ones(17))
    assert sums.tail.shape == (300,)
    np.testing.assert_array_equal(sums.scaled_margin, sums.margin)
    stacked(sums)
    assert asked == [module.EVERYTHING]


def test_a_memory_mapped_array_is_read_as_any_other(logits, tmp_path):
    np.save(tmp_path / "z.npy", logits)
    np.testing.assert_array_equal(
        stacked(row_sums(np.load(tmp_path / "z.npy", mmap_mode="r"))), stacked(row_sums(logits))
    )


def test_equal_largest_probabilities_are_equal_whatever_the_others_are():
    rng = np.random.default_rng(0)
    votes = rng.multinomial(100, rng.dirichlet(np.full(7, 0.3), size=3000))
    p = votes / 100
    with np.errstate(divide="ignore"):
        tail = row_sums(np.log(p)).tail
    top = p.max(1)
    is_decided = votes.max(1) < 100
    assert len(np.unique(tail[is_decided])) == len(np.unique(top[is_decided]))
    np.testing.assert_allclose(tail[is_decided], np.log(1 / top[is_decided] - 1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("least", [1e-3, 1e-4, 1e-5, 1e-20])
def test_probabilities_near_one_are_told_apart_by_the_others(least):
    rest = least * (1 + np.arange(5) * 1e-9)
    tail = row_sums(np.log(np.stack([1 - rest, rest], axis=1))).tail
    assert (np.diff(tail) > 0).all()
    np.testing.assert_allclose(tail, np.log(rest / (1 - rest)), rtol=1e-12)


def test_the_hottest_temperature_makes_all_classes_alike_but_masked_ones():
    sums = row_sums(np.array([[3.0, 1.0, 0.0], [2.0, -np.inf, 0.0]]), temperature=1e300)
    np.testing.assert_allclose(sums.tail, [np.log(2), 0], atol=1e-12)
