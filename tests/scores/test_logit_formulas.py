"""Which arrays of other libraries the kernels may look at."""

import numpy as np
import pytest

from abstain.scores import confidence_margin, logit_scores, max_softmax
from abstain.scores.logit_formulas import host_view

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

LOGITS = np.random.default_rng(0).normal(scale=4, size=(40, 9)).astype(np.float32)


@pytest.mark.parametrize("make", [torch.as_tensor, jnp.asarray], ids=["torch", "jax"])
def test_an_array_on_the_cpu_is_viewed_without_a_copy(make):
    array = make(LOGITS)
    view, give = host_view(array)
    np.testing.assert_array_equal(view, LOGITS)
    assert np.shares_memory(view, host_view(array)[0])
    assert type(give(np.zeros(3))) is type(array)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_tensor_gives_the_kernels_numbers_in_its_own_type(dtype):
    z = torch.as_tensor(LOGITS).to(dtype)
    expected = max_softmax(z.double().numpy())
    result = max_softmax(z)
    assert result.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    np.testing.assert_array_equal(result, expected.astype(result.numpy().dtype))


def test_a_gradient_that_is_asked_for_is_kept():
    z = torch.as_tensor(LOGITS).requires_grad_()
    assert host_view(z) is None
    assert max_softmax(z).requires_grad
    with torch.no_grad():
        assert host_view(z) is not None


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_transforms_of_torch_see_every_operation():
    z = torch.as_tensor(LOGITS)
    expected = torch.autograd.grad(max_softmax(tracked := z.clone().requires_grad_()).sum(), tracked)[0]
    torch.testing.assert_close(torch.func.grad(lambda z: max_softmax(z).sum())(z), expected)
    each = torch.func.vmap(lambda row: max_softmax(row[None])[0])(z)
    torch.testing.assert_close(each, max_softmax(z))
    _, tangent = torch.func.jvp(max_softmax, (z,), (torch.ones_like(z),))
    assert tangent.abs().max() < 1e-4  # a shift of all logits changes nothing


def test_a_recorded_graph_holds_the_score_and_not_its_numbers():
    recorded = torch.fx.experimental.proxy_tensor.make_fx(confidence_margin)(torch.as_tensor(LOGITS))
    other = torch.as_tensor(LOGITS[:, ::-1].copy() + 1)
    torch.testing.assert_close(recorded(other), confidence_margin(other))


def test_a_traced_function_of_jax_is_not_viewed():
    result = jax.jit(max_softmax)(jnp.asarray(LOGITS))
    np.testing.assert_allclose(result, max_softmax(LOGITS), rtol=1e-5, atol=1e-5)


def test_an_unusable_row_of_a_tensor_is_nan_for_every_score():
    z = torch.as_tensor(LOGITS).clone()
    z[3, 2] = torch.inf
    for confidence in logit_scores(z).values():
        assert torch.isnan(confidence).nonzero().ravel().tolist() == [3]
