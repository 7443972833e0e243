import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.networks.small import small_cnn  # noqa: E402
from abstain_reproduction.train.selective_net import Selective, SelectiveNet  # noqa: E402

LOSSES, SELECTION, AUXILIARY = ([0.2, 1.5, 0.1, 0.7], [0.9, 0.2, 0.8, 0.4], [0.3, 1.2, 0.2, 0.6])


def combined(objective, selection=SELECTION):
    auxiliary = torch.tensor(AUXILIARY, dtype=torch.float64).mean()
    values = torch.tensor(LOSSES, dtype=torch.float64), torch.tensor(selection, dtype=torch.float64)
    return objective.combined(*values, auxiliary).item()


def test_the_loss_is_that_of_the_example():
    assert combined(Selective(coverage=0.7)) == pytest.approx(0.7201086957, abs=1e-10)


def test_without_the_auxiliary_head_it_is_risk_and_penalty():
    assert combined(Selective(coverage=0.7, alpha=1.0)) == pytest.approx(0.8652173913, abs=1e-10)


def test_more_coverage_than_asked_for_costs_nothing():
    assert combined(Selective(coverage=0.5, alpha=1.0)) == pytest.approx(0.3652173913, abs=1e-10)


def test_a_batch_of_which_nothing_is_selected_has_a_finite_loss_and_gradient():
    selection = torch.full((4,), -200.0, requires_grad=True)
    logits = torch.zeros(4, 3)
    loss = Selective().loss((logits, selection, logits), torch.tensor([0, 1, 2, 0]), None, 0.0)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(selection.grad).all()


def test_the_loss_is_of_the_heads_each_in_its_place():
    logits, auxiliary = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    selection, labels = torch.tensor([3.0, -1, 0, 2, 1], dtype=torch.float64), torch.tensor([0, 1, 2, 0, 1])
    cross_entropy = torch.nn.functional.cross_entropy
    g = 1 / (1 + torch.exp(-selection))
    each = torch.stack([cross_entropy(z[None], y[None]) for z, y in zip(logits, labels, strict=True)])
    risk = (each * g).sum() / g.sum()
    expected = 0.5 * (risk + 32 * max(0.0, 0.7 - g.mean()) ** 2) + 0.5 * cross_entropy(auxiliary, labels)
    loss = Selective().loss((logits, selection, auxiliary), labels, None, 0.0)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-12)


def test_the_confidence_is_the_logit_before_the_sigmoid():
    network = SelectiveNet(small_cnn(side=8), 3).eval()
    images = torch.rand(4, 1, 8, 8)
    logits, selection, auxiliary = network(images)
    features = network.features(images)
    weight, bias = network.classifier()
    torch.testing.assert_close(network.own_confidence(features), selection)
    torch.testing.assert_close(features @ weight.T + bias, logits)
    assert selection.shape == (4,)
    assert not torch.equal(logits, auxiliary)
    assert [type(layer).__name__ for layer in network.selector] == ["Linear", "ReLU", "BatchNorm1d", "Linear"]


def test_the_heads_begin_narrow_and_undecided():
    torch.manual_seed(0)
    network = SelectiveNet(small_cnn(side=8), 50)
    dense = [layer for head in (network.head, network.selector, network.auxiliary) for layer in head.modules()]
    for layer in dense:
        if isinstance(layer, torch.nn.Linear):
            assert layer.weight.std().item() == pytest.approx(0.01, rel=0.3)
            assert not layer.bias.any()
    g = torch.sigmoid(network.eval()(torch.rand(20, 1, 8, 8))[1])
    assert ((g > 0.4) & (g < 0.6)).all()
