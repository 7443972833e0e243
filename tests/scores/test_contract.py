"""What holds for every score in the registry."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import abstain
from abstain.outputs import Outputs
from abstain.scores import KNN, SCORES, ViM, confidences, from_state, to_state
from abstain.scores.geometric_margin import GeometricMargin
from abstain.scores.learned import Learned
from abstain.scores.logit_scores import Energy, MaxSoftmax

FEW = Learned((MaxSoftmax(), Energy(), GeometricMargin(), KNN(), ViM()))  # or it would take minutes
FORM = GeometricMargin("top_two")  # not in the registry, so that reports are without it
EVERY = SCORES | {"learned": FEW, FORM.name: FORM}
every_score = pytest.mark.parametrize("score", EVERY.values(), ids=EVERY)


def make_outputs(n=60, k=5, d=7, seed=0, dtype=np.float64, labels=True):
    rng = np.random.default_rng(seed)
    features, weight, bias = rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.normal(size=k)
    logits = features @ weight.T + bias
    y = np.where(rng.random(n) < 0.7, logits.argmax(1), rng.integers(k, size=n))
    arrays = {"logits": logits, "features": features, "weight": weight, "bias": bias}
    return Outputs(**{name: a.astype(dtype) for name, a in arrays.items()}, labels=y if labels else None)


CALIBRATION = make_outputs(n=80, seed=1)
OUTPUTS = make_outputs(n=60, seed=2)


@every_score
def test_finite_in_finite_out(score):
    confidence = score.fit(CALIBRATION)(OUTPUTS)
    assert confidence.shape == (len(OUTPUTS),)
    assert confidence.dtype == np.float64
    assert np.isfinite(confidence).all()


@every_score
@pytest.mark.filterwarnings("ignore:`logits` look like probabilities")
@settings(max_examples=20)
@given(z=arrays(np.float32, (9, 4), elements=st.floats(-1000, 1000, width=32)))
def test_any_finite_logits_give_finite_confidence(score, z):
    small = make_outputs(k=4)
    fitted = score.fit(small)
    if set(score.needs_of(fitted)) <= {"logits", "fitting", "labels"}:
        assert np.isfinite(fitted(Outputs(logits=z))).all()
    else:  # features and head as they are, any logits
        rows = small.select(np.arange(9))
        any_logits = Outputs(logits=z, features=rows.features, weight=rows.weight, bias=rows.bias)
        assert np.isfinite(fitted(any_logits)).all()


@every_score
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_class_order_is_irrelevant(score, seed):
    p = np.random.default_rng(seed).permutation(OUTPUTS.n_classes)

    def permuted(o):
        where = np.argsort(p)
        return Outputs(
            logits=o.logits[:, p], labels=where[o.labels], features=o.features, weight=o.weight[p], bias=o.bias[p]
        )

    expected = score.fit(CALIBRATION)(OUTPUTS)
    fitted = score.fit(permuted(CALIBRATION))(permuted(OUTPUTS))
    np.testing.assert_allclose(fitted, expected, rtol=1e-6, atol=1e-9)


@every_score
def test_row_order_and_batching_are_irrelevant(score):
    fitted = score.fit(CALIBRATION)
    expected = fitted(OUTPUTS)
    order = np.random.default_rng(0).permutation(len(OUTPUTS))
    np.testing.assert_array_equal(fitted(OUTPUTS.select(order)), expected[order])
    singles = [fitted(OUTPUTS.select([row]))[0] for row in range(len(OUTPUTS))]
    np.testing.assert_array_equal(singles, expected)


@every_score
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_smaller_floats_give_nearly_the_same(score, dtype):
    small = score.fit(make_outputs(n=80, seed=1, dtype=dtype))(make_outputs(n=60, seed=2, dtype=dtype))
    full = score.fit(CALIBRATION)(OUTPUTS)
    agreement = np.corrcoef(small, full)[0, 1]
    assert agreement > (0.999 if dtype is np.float16 else 0.999999)


@every_score
def test_the_same_call_gives_the_same_bytes(score):
    assert score.fit(CALIBRATION)(OUTPUTS).tobytes() == score.fit(CALIBRATION)(OUTPUTS).tobytes()


@every_score
def test_saved_and_loaded_gives_the_same_bits(score, tmp_path):
    fitted = score.fit(CALIBRATION)
    header, arrays = to_state(fitted)
    (tmp_path / "header.json").write_text(json.dumps(header))
    np.savez(tmp_path / "arrays.npz", **arrays)
    with np.load(tmp_path / "arrays.npz") as stored:
        again = from_state(json.loads((tmp_path / "header.json").read_text()), dict(stored))
    assert type(again) is type(fitted)
    assert again(OUTPUTS).tobytes() == fitted(OUTPUTS).tobytes()


def test_the_registry_and_the_functions_agree():
    for name, confidence in abstain.scores.logit_scores(OUTPUTS.logits, OUTPUTS.weight).items():
        np.testing.assert_array_equal(SCORES[name].fit(CALIBRATION)(OUTPUTS), confidence)


def test_names_are_keys():
    assert all(name == score.name for name, score in SCORES.items())


@every_score
def test_unusable_rows_get_nan_and_spoil_nothing(score):
    z, x = OUTPUTS.logits.copy(), OUTPUTS.features.copy()
    z[3, 1], x[5, 2] = np.nan, np.inf
    outputs = Outputs(logits=z, features=x, weight=OUTPUTS.weight, bias=OUTPUTS.bias, nonfinite="reject")
    fitted = score.fit(CALIBRATION)
    result = fitted(outputs)
    assert np.flatnonzero(np.isnan(result)).tolist() == [3, 5]
    fine = outputs.usable
    np.testing.assert_array_equal(result[fine], fitted(OUTPUTS)[fine])
    np.testing.assert_array_equal(confidences(outputs, {score.name: fitted})[score.name], result)


@every_score
@pytest.mark.parametrize(("k", "d", "what"), [(5, 9, "features"), (9, 7, "classes")])
def test_outputs_of_another_size_are_refused_or_do_not_matter(score, k, d, what):
    other = make_outputs(n=6, k=k, d=d)
    try:
        fitted = score.fit(CALIBRATION)(other)
    except ValueError as error:
        reason = str(error)
    else:
        assert np.isfinite(fitted).all()
        return
    assert what in reason
    assert "must have" in reason
