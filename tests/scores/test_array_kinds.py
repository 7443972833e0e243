"""NumPy, torch and JAX give the same numbers, and the same kind comes out."""

import numpy as np
import pytest

from abstain.scores import SCORES, binary_logits, energy, geometric_margin, logit_scores, max_softmax

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(scale=6, size=(200, 12)).astype(np.float32)
WEIGHT = RNG.normal(size=(12, 5)).astype(np.float32)
EXPECTED = logit_scores(LOGITS, WEIGHT)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("make", [torch.as_tensor, jnp.asarray], ids=["torch", "jax"])
def test_scores_agree_across_libraries(make, name):
    given = make(LOGITS)
    result = logit_scores(given, make(WEIGHT))[name]
    assert type(result) is type(given)
    np.testing.assert_allclose(np.asarray(result), EXPECTED[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numpy_confidence_is_float64_for_any_input(dtype):
    z = LOGITS.astype(dtype)
    for name, confidence in logit_scores(z, WEIGHT).items():
        assert confidence.dtype == np.float64
        np.testing.assert_allclose(confidence, logit_scores(z.astype(np.float64), WEIGHT)[name], rtol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_tensors_are_worked_in_float32(dtype):
    result = max_softmax(torch.as_tensor(LOGITS).to(dtype))
    assert result.dtype == torch.float32


@pytest.mark.parametrize("name", EXPECTED)
def test_gradients_are_right(name):
    z = torch.tensor(RNG.normal(size=(3, 4)), requires_grad=True)
    weight = torch.tensor(RNG.normal(size=(4, 2)))
    assert torch.autograd.gradcheck(lambda z: logit_scores(z, weight)[name], z)


def test_gradients_stay_finite_on_ties_and_saturated_rows():
    z = torch.tensor([[0.0, 0.0, 0.0], [200.0, 0.0, -1.0]], requires_grad=True)
    for confidence in logit_scores(z).values():
        (gradient,) = torch.autograd.grad(confidence.sum(), z, retain_graph=True)
        assert torch.isfinite(gradient).all()


def test_half_precision_is_widened_before_the_temperature_divides():
    z = torch.tensor([[100.0, 50.0]], dtype=torch.float16)
    assert energy(z, temperature=0.001)[0] == 100


def test_gradients_stay_finite_where_one_class_is_left():
    z = torch.tensor([[1.0, -np.inf, -np.inf]], requires_grad=True)
    for name, confidence in logit_scores(z).items():
        (gradient,) = torch.autograd.grad(confidence.sum(), z, retain_graph=True)
        assert not torch.isnan(gradient).any(), name


def test_the_gradient_of_energy_is_the_softmax_even_on_ties():
    z = torch.zeros((1, 4), requires_grad=True)
    (gradient,) = torch.autograd.grad(logit_scores(z)["energy"].sum(), z)
    np.testing.assert_allclose(gradient, 0.25)


@pytest.mark.parametrize("make", [torch.as_tensor, jnp.asarray], ids=["torch", "jax"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_unusable_row_on_a_device_becomes_nan(make, bad):
    z = make(np.array([[bad, 0.0, 1.0], [1.0, 0.0, 0.5]]))
    for confidence in logit_scores(z).values():
        assert np.isnan(np.asarray(confidence)).tolist() == [True, False]


def test_jax_can_trace_and_differentiate():
    result = jax.jit(jax.grad(lambda z: max_softmax(z).sum()))(jnp.asarray(LOGITS[:5]))
    assert np.isfinite(result).all()


def test_binary_logits_make_the_sigmoid():
    z = torch.tensor([[0.3], [-2.0]])
    p = SCORES["max_softmax"].literal(max_softmax(binary_logits(z)))
    np.testing.assert_allclose(p, torch.maximum(torch.sigmoid(z), torch.sigmoid(-z))[:, 0], rtol=1e-6)


def test_paper_code_margin_agrees_across_libraries():
    bias = RNG.normal(size=12).astype(np.float32)
    expected = geometric_margin(LOGITS, WEIGHT, bias=bias, form="top_two")
    result = geometric_margin(
        torch.as_tensor(LOGITS), torch.as_tensor(WEIGHT), bias=torch.as_tensor(bias), form="top_two"
    )
    assert result.dtype == torch.float32
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
