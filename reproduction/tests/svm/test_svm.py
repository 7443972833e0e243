import numpy as np
import pytest

from abstain_reproduction.experiment import Setting
from abstain_reproduction.svm import svm
from abstain_reproduction.svm.machine import machine
from abstain_reproduction.svm.machines import Machines


@pytest.fixture(scope="module")
def wine():
    return Machines("wine", tuple(machine("wine", seed=seed) for seed in range(4)))


def equal_norms(machines):
    """The same machines with every w_j of length 1."""
    return Machines(
        machines.table, tuple(each.rescaled(1 / np.linalg.norm(each.weight, axis=1)) for each in machines.all)
    )


def test_the_machine_minimises_crammer_and_singers_objective():
    """No small step from the solution makes ½Σ‖w_j‖² + C Σ max(0, 1 − margin) smaller."""
    from sklearn.datasets import load_wine

    from abstain_reproduction.svm.machine import C, soft_margin

    data = load_wine()
    x = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    ones = np.column_stack([x, np.ones(len(x))])
    best = soft_margin(ones, data.target, 0)
    rows = np.arange(len(x))

    def objective(w):
        z = ones @ w.T
        own = z[rows, data.target]
        z[rows, data.target] = -np.inf
        return np.square(w).sum() / 2 + C * np.maximum(0, 1 - (own - z.max(axis=1))).sum()

    rng = np.random.default_rng(0)
    steps = rng.normal(scale=0.01, size=(200, *best.shape))
    assert min(objective(best + step) for step in steps) > objective(best) - 1e-3


def test_distances_are_those_to_the_hyperplanes(wine):
    first = wine.all[0]
    x, w = np.asarray(first.outputs.features), first.weight
    assert (x[:, -1] == 1).all()  # so that the bias is the last weight, and in the norm as in App. A
    assert np.abs(w[:, -1]).min() > 0.01
    expected = sum(x[3, i] * w[1, i] for i in range(14)) / np.sqrt(sum(w[1, i] ** 2 for i in range(14)))
    assert first.distances[3, 1] == pytest.approx(expected)


def test_the_geometric_rule_with_the_bias_in_the_norm_does_not_fail_on_iris():
    """Without it 37% of the rows are wrong."""
    machines = [machine("iris", seed=seed) for seed in range(6)]
    assert np.mean([each.geometric_errors.mean() for each in machines]) < 0.12
    assert np.mean([each.errors_without_bias.mean() for each in machines]) > 0.3


def test_rules_and_orders_agree_where_norms_are_equal(wine):
    equal = equal_norms(wine)
    assert svm.rules(wine).outcome == "held"
    assert svm.rules(equal).outcome == "undecided"
    assert svm.orders(wine).outcome == "held"
    assert svm.orders(equal).outcome == "undecided"
    assert equal.difference("geometric_margin", "confidence_margin").mean == pytest.approx(0, abs=1e-12)


def test_the_confidence_margin_is_a_proxy_and_exact_for_equal_norms(wine, monkeypatch):
    verdict = svm.proxy(wine)
    assert verdict.outcome == "held"
    monkeypatch.setattr(svm, "_gap_of_equal_norms", lambda _: 0.1)
    assert svm.proxy(wine).outcome == "not held"


def test_rescaling_moves_the_confidence_margin_alone(wine, monkeypatch):
    assert svm.rescaling(wine, 0).outcome == "held"
    monkeypatch.setattr(svm, "FACTORS", (1.0, 1.0))
    assert svm.rescaling(wine, 0).outcome == "not held"


def test_with_two_classes_all_scores_rank_alike():
    """The binary confidence margin is the geometric one times ‖w‖."""
    from abstain.outputs import Outputs
    from abstain_reproduction.svm.machine import Machine

    rng = np.random.default_rng(0)
    w, x = rng.normal(size=5), rng.normal(size=(100, 5))
    z = np.column_stack([-x @ w, x @ w]) / 2
    first = Machine(Outputs(logits=z, labels=rng.integers(2, size=100), weight=np.stack([-w, w]) / 2))
    assert first.agreement == pytest.approx(1)
    assert first.disagreement == 0


def test_it_runs_on_every_table_and_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(svm, "TABLES", ("wine", "iris"))
    monkeypatch.setattr(svm, "SPLITS", 3)
    findings = svm.run(Setting(folder=tmp_path))
    assert [row[0] for row in findings.tables[1].rows] == ["wine", "iris"]
    assert "the same with norms without the bias, %" in findings.tables[1].columns
    assert len(findings.figures["svm"]().axes) == 2 + len(svm.TABLES)
