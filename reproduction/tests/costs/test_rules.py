import numpy as np
import pytest

from abstain.scores.expected_cost import Costs
from abstain_reproduction.costs.cost_tables import Predicted, cost_tables, predicted
from abstain_reproduction.costs.rules import RULES, cost_per_row

COSTS = Costs.of(3, rejection=[0.1, 0.15, 0.25], matrix=[[0.0, 0.5, 1.0], [0.15, 0.0, 0.5], [0.3, 0.15, 0.0]])


def drawn(n, seed=0):
    """Probabilities that are true."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.4] * 3, size=n)
    labels = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    return Predicted(p, labels)


def test_what_is_paid_is_read_from_the_costs():
    answers, labels = np.array([0, 0, 2, -1, -1]), np.array([0, 2, 1, 0, 2])
    assert cost_per_row(answers, labels, COSTS).tolist() == [0.0, 1.0, 0.15, 0.1, 0.25]


def test_chows_rule_is_the_cheapest_for_true_probabilities():
    choose, test = drawn(3000), drawn(20_000, seed=1)
    cost = {name: cost_per_row(rule(choose, test, COSTS, 0), test.labels, COSTS).mean() for name, rule in RULES.items()}
    assert min(cost, key=cost.get) == "Chow, plug-in"
    assert cost["empirical minimiser"] == pytest.approx(cost["Chow, plug-in"], abs=0.002)
    assert cost["one threshold, in hindsight"] <= cost["one threshold"]
    expected = np.column_stack([test.probabilities @ COSTS.matrix.T, test.probabilities @ COSTS.rejection]).min(axis=1)
    assert cost["Chow, plug-in"] == pytest.approx(expected.mean(), abs=0.004)


def test_the_hindsight_threshold_is_the_best_of_all():
    test = drawn(300)
    top = test.probabilities.max(axis=1)
    own = test.probabilities.argmax(axis=1)
    every = [cost_per_row(np.where(top > t, own, -1), test.labels, COSTS).mean() for t in np.linspace(0.3, 1.0, 3001)]
    answers = RULES["one threshold, in hindsight"](test, test, COSTS, 0)
    assert cost_per_row(answers, test.labels, COSTS).mean() <= min(every) + 1e-12


def test_a_class_that_was_hardly_predicted_is_rejected():
    choose = Predicted(np.tile([0.8, 0.1, 0.1], (50, 1)), np.zeros(50, dtype=int))
    test = Predicted(np.array([[0.1, 0.8, 0.1], [0.8, 0.1, 0.1]]), np.array([1, 0]))
    assert RULES["threshold per class"](choose, test, COSTS, 0).tolist() == [-1, 0]


@pytest.mark.parametrize("table", cost_tables(), ids=lambda table: table.name)
def test_rows_to_choose_on_and_to_test_on_were_not_learned_from(table):
    choose, test = predicted(table, seed=0)
    n = len(table.labels)
    assert len(choose.labels) == pytest.approx(0.35 * n, abs=3)
    assert len(test.labels) == pytest.approx(0.35 * n, abs=3)
    wrong = np.mean(test.probabilities.argmax(axis=1) != test.labels)
    assert wrong < 0.1 if table.name == "breast cancer" else 0.3 < wrong < 0.6
