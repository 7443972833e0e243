"""Every objective against an independent formula in NumPy, and its gradient against finite differences."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.additive_margin import AdditiveMargin  # noqa: E402
from abstain_reproduction.train.cross_entropy import CrossEntropy  # noqa: E402
from abstain_reproduction.train.deep_gamblers import DeepGamblers  # noqa: E402
from abstain_reproduction.train.hinge import Hinge  # noqa: E402
from abstain_reproduction.train.logit_norm import LogitNorm  # noqa: E402
from abstain_reproduction.train.self_adaptive import SelfAdaptive  # noqa: E402

RNG = np.random.default_rng(3)
LOGITS = RNG.normal(scale=3, size=(6, 5))
LABELS = np.array([0, 3, 1, 0, 2, 3])  # the last output is abstention where there is one
TRUST = RNG.uniform(size=6)


def softmax(z):
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


def at(values):
    return values[np.arange(6), LABELS]


def cross_entropy(z):
    return -np.log(at(softmax(z)))


def hinge(z):
    return [max(0.0, 1.5 - (row[y] - max(np.delete(row, y)))) for row, y in zip(z, LABELS, strict=True)]


def additive_margin(z):
    lowered = z.copy()
    lowered[np.arange(6), LABELS] -= 4 * 0.3
    return cross_entropy(lowered)


def logit_norm(z):
    return cross_entropy(z / (0.5 * np.sqrt((z**2).sum(axis=1, keepdims=True))))


def gamblers(z):
    p = softmax(z)
    return -np.log(at(p) + p[:, -1] / 2.5)


def self_adaptive(z):
    p = softmax(z)
    return -(TRUST * np.log(at(p)) + (1 - TRUST) * np.log(p[:, -1]))


def smoothed(z):
    p = softmax(z)
    return -(0.8 * np.log(at(p)) + 0.2 * np.log(p).mean(axis=1))


FORMULAS = [
    (CrossEntropy(), cross_entropy),
    (CrossEntropy(smoothing=0.2), smoothed),
    (Hinge(margin=1.5), hinge),
    (AdditiveMargin(scale=4, margin=0.3), additive_margin),
    (LogitNorm(temperature=0.5), logit_norm),
    (DeepGamblers(reward=2.5), gamblers),
    (SelfAdaptive(), self_adaptive),
]
NAMES = [type(objective).__name__ for objective, _ in FORMULAS]


def loss(objective, logits, done=0.5):
    return objective.loss(logits, torch.as_tensor(LABELS), torch.as_tensor(TRUST), done)


@pytest.mark.parametrize(("objective", "formula"), FORMULAS, ids=NAMES)
def test_the_loss_is_its_formula(objective, formula):
    assert loss(objective, torch.as_tensor(LOGITS)).item() == pytest.approx(np.mean(formula(LOGITS)), rel=1e-12)


@pytest.mark.parametrize(("objective", "formula"), FORMULAS, ids=NAMES)
def test_the_gradient_is_that_of_the_formula(objective, formula):
    logits = torch.tensor(LOGITS, requires_grad=True)
    loss(objective, logits).backward()
    for index in np.ndindex(LOGITS.shape):
        step = np.zeros_like(LOGITS)
        step[index] = 1e-6
        slope = (np.mean(formula(LOGITS + step)) - np.mean(formula(LOGITS - step))) / 2e-6
        assert logits.grad[index].item() == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("objective", [DeepGamblers(warm_up=0.2), SelfAdaptive(warm_up=0.2)])
def test_before_the_warm_up_is_over_the_classes_alone_are_learned(objective):
    expected = np.mean(cross_entropy(LOGITS[:, :-1]))
    assert loss(objective, torch.as_tensor(LOGITS), done=0.19).item() == pytest.approx(expected, rel=1e-12)


def test_trust_in_a_label_follows_the_probability_that_the_network_gives_it():
    objective = SelfAdaptive(momentum=0.9)
    arguments = torch.as_tensor(LOGITS), torch.as_tensor(LABELS), torch.as_tensor(TRUST)
    np.testing.assert_allclose(
        objective.trusted(*arguments, 0.5).numpy(), 0.9 * TRUST + 0.1 * at(softmax(LOGITS)), rtol=1e-12
    )
    np.testing.assert_array_equal(objective.trusted(*arguments, 0.0).numpy(), TRUST)


def test_huge_logits_have_finite_losses():
    for objective, _ in FORMULAS:
        assert torch.isfinite(loss(objective, torch.as_tensor(1e4 * LOGITS)))


def test_logits_that_are_all_zero_have_a_gradient_in_logit_norm():
    logits = torch.zeros(6, 5, requires_grad=True)
    loss(LogitNorm(), logits).backward()
    assert torch.isfinite(logits.grad).all()
