import numpy as np
import pytest

from abstain.scores.expected_cost import Costs
from abstain_reproduction.costs import class_costs, cost_result
from abstain_reproduction.costs.class_costs import pays
from abstain_reproduction.costs.cost_result import measure
from abstain_reproduction.costs.cost_tables import CostTable, Predicted, cost_tables
from abstain_reproduction.experiment import Setting


def table(costs):
    return CostTable("made", np.zeros((10, 1)), np.arange(10) % 2, ("a", "b"), costs, "made costs")


@pytest.fixture
def made(monkeypatch):
    """Splits of true probabilities of two classes."""

    def predicted(_table, *, seed):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.5, 0.5, size=1200)
        labels = (rng.random(1200) < p).astype(int)
        both = np.column_stack([1 - p, p])
        return Predicted(both[:600], labels[:600]), Predicted(both[600:], labels[600:])

    monkeypatch.setattr(cost_result, "predicted", predicted)


@pytest.mark.usefixtures("made")
def test_costs_that_differ_by_class_need_more_than_one_threshold():
    unequal = Costs.of(2, rejection=[0.2, 0.02], matrix=[[0.0, 1.0], [0.05, 0.0]])
    assert pays(measure(table(unequal), splits=20)).outcome == "held"


@pytest.mark.usefixtures("made")
def test_equal_costs_do_not():
    verdict = pays(measure(table(Costs.of(2, rejection=0.2)), splits=20))
    assert verdict.outcome == "undecided"


@pytest.mark.usefixtures("made")
def test_chow_and_one_threshold_at_its_place_agree_where_costs_are_equal():
    result = measure(table(Costs.of(2, rejection=0.2)), splits=5)
    assert abs(result.difference("Chow, plug-in", "empirical minimiser").mean) < 1.0
    assert np.mean(result.coverage["answer all"]) == 1


def test_the_last_bits_of_probabilities_move_no_cost(monkeypatch):
    """Another processor adds in another order."""
    diabetes = cost_tables()[1]
    before = measure(diabetes, splits=3).cost

    def predicted(table, *, seed):
        rng = np.random.default_rng(seed)
        return [
            Predicted(each.probabilities * (1 + 1e-13 * rng.normal(size=each.probabilities.shape)), each.labels)
            for each in original(table, seed=seed)
        ]

    original = cost_result.predicted
    monkeypatch.setattr(cost_result, "predicted", predicted)
    assert {rule: pytest.approx(cost) for rule, cost in measure(diabetes, splits=3).cost.items()} == before


def test_it_measures_real_tables_and_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(class_costs, "cost_tables", lambda: cost_tables()[:1])
    monkeypatch.setattr(class_costs, "measure", lambda table, seed: measure(table, seed=seed, splits=3))
    findings = class_costs.run(Setting(folder=tmp_path))
    assert findings.tables[0].rows[0][0] == "reject all"
    assert len(findings.figures["costs"]().axes) == 2
