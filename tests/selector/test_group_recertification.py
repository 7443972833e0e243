from math import sqrt

import numpy as np
import pytest

from abstain import Outputs, Risk, Selector, calibrate
from abstain.monitor import DeploymentMonitor
from abstain.selector import Recertification
from abstain.thresholds.sample import Sample
from abstain.thresholds.step_down import SafeRanks

GROUPS = np.array(["a", "b", "c"])


def rows(rng, n, slopes):
    """Confidence, group and errors; the risk of a group at coverage c is slope·c²/3."""
    u, group = rng.random(n), rng.integers(3, size=n)
    return 1 - u, GROUPS[group], rng.random(n) < np.array(slopes)[group] * u**2


def selector():
    confidence, group, errors = rows(np.random.default_rng(0), 6000, (0.3, 0.3, 0.3))
    outputs = Outputs(confidences={"c": confidence}, errors=errors, domain=group)
    return calibrate(outputs, Risk(0.05, per="domain"))


OLD = selector()


def labelled(state, confidence, group, errors, labels):
    state = state.ask(confidence, np.arange(len(confidence)), group, labels=labels)
    return state.answer(state.pending, errors[np.array(state.pending).astype(int)])


def test_no_group_gets_an_unsafe_threshold_more_often_than_delta_in_any():
    broken = made = 0
    slopes = (0.5, 0.6, 0.45)
    for seed in range(60):
        data = rows(np.random.default_rng([seed, 2]), 9000, slopes)
        state = Recertification.of(OLD)
        for labels in (600, 900, 1200):
            state = labelled(state, *data, labels)
        values = state.certified
        made += len(values)
        risks = {name: slope / 3 * (1 - values.get(name, 1.0)) ** 2 for name, slope in zip("abc", slopes, strict=True)}
        broken += max(risks.values()) > 0.05
    assert made > 120
    assert broken / 60 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 60)


def test_groups_at_the_whole_delta_each_break_it():
    """Ten groups whose risk is just above the target everywhere, one look at δ in each, or at its part of δ."""
    rng = np.random.default_rng(4)
    broken = {0.1: 0, 0.01: 0}
    for _ in range(40):
        samples = [Sample.of(rng.random(400), (rng.random(400) < 0.0501).astype(float)) for _ in range(10)]
        for level in broken:
            broken[level] += any(SafeRanks.of(each, 0.05, level).largest > 0 for each in samples)
    assert broken[0.1] / 40 > 0.3
    assert broken[0.01] / 40 <= 0.1 + 3 * sqrt(0.09 / 40)


def test_labels_go_to_groups_without_a_threshold_first_and_evenly():
    data = rows(np.random.default_rng(5), 6000, (0.0, 0.0, 0.9))
    state = labelled(Recertification.of(OLD), *data, 600)
    assert [len(group.ids) for group in state.searches.values()] == [200, 200, 200]
    assert list(state.certified) == ["a", "b"]
    state = state.ask(data[0], np.arange(6000), data[1], labels=120)
    assert [len(group.pending) for group in state.searches.values()] == [0, 0, 120]
    again = Recertification.from_json(state.to_json())
    assert again == state


def test_the_new_selector_has_new_thresholds_and_keeps_those_of_other_groups(tmp_path):
    data = rows(np.random.default_rng(6), 9000, (0.3, 0.6, 0.3))
    state = labelled(Recertification.of(OLD, only=["b"]), *data, 1400)
    new = state.selector(OLD)
    assert new.groups.thresholds["a"] == OLD.groups.thresholds["a"]
    assert new.groups.thresholds["b"].value == state.certified["b"] > OLD.groups.thresholds["b"].value
    new.save(tmp_path / "s.abstain")
    assert Selector.load(tmp_path / "s.abstain").groups == new.groups
    confidence, group, _ = data
    accepted = sum(int((confidence[group == name] > t.value).sum()) for name, t in new.groups.thresholds.items())
    assert (new.threshold.n, new.threshold.accepted) == (9000, accepted)
    monitors = DeploymentMonitor.of(new, per="domain")
    assert monitors.groups.known == 3
    values = np.array([new.groups.thresholds[name].value for name in group])
    assert monitors.observe_accepted(confidence > values).observe_confidence(confidence).alarms == ()


def test_what_cannot_be_certified_is_refused():
    with pytest.raises(ValueError, match="`only` must name groups that have a threshold, a, b, c, got 'z'"):
        Recertification.of(OLD, only=["z"])
    with pytest.raises(ValueError, match="`only` must come without another risk and delta"):
        Recertification.of(OLD, risk=0.1, only=["a"])
    state = Recertification.of(OLD)
    with pytest.raises(ValueError, match="Rows to label must be asked for first"):
        state.answer([1], [0])
    with pytest.raises(ValueError, match="A threshold must be certified first, got none after 0 labels"):
        state.selector(OLD)
    with pytest.raises(ValueError, match="`groups` must name each row"):
        state.ask([1.0], ["x"], ["a", "b"], labels=1)
    with pytest.raises(ValueError, match="must have rows above the thresholds of their groups"):
        state.ask([0.0, 0.0], ["x", "y"], ["a", "b"], labels=1)
    other = calibrate(Outputs(confidences={"c": np.linspace(0, 1, 500)}, errors=np.zeros(500, dtype=bool)), risk=0.05)
    with pytest.raises(ValueError, match="must have a threshold for each group"):
        Recertification.of(other, only=["a"])
