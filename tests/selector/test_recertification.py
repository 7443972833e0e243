from math import sqrt

import numpy as np
import pytest

from abstain import Outputs, Risk, Selector, calibrate
from abstain.selector import Recertification


def table(rng, n, slope):
    u = rng.random(n)
    return Outputs(confidences={"c": 1 - u}, errors=rng.random(n) < slope * u**2)


OLD = calibrate(table(np.random.default_rng(0), 3000, 0.3), risk=0.05)


def run(seed, *, slope, batches, floor=None, stop_when_certified=True):
    """The state after labelling batch by batch under a distribution with more errors than before."""
    new = table(np.random.default_rng([seed, 1]), 8000, slope)
    confidence, result = new.confidence("c"), Recertification.of(OLD, floor=floor)
    for labels in batches:
        result = result.ask(confidence, np.arange(8000), labels=labels)
        result = result.answer(result.pending, new.errors[np.array(result.pending).astype(int)])
        if stop_when_certified and result.threshold is not None:
            break
    return result


def test_a_threshold_certified_at_any_look_keeps_the_risk():
    """Stopping at the first certificate, the most favourable time; the risk at coverage c is 0.15·c²."""
    broken, made = 0, 0
    for seed in range(60):
        threshold = run(seed, slope=0.45, batches=(200, 200, 300, 400, 600)).threshold
        if threshold is not None:
            made += 1
            broken += 0.15 * (1 - threshold.value) ** 2 > 0.05
    assert broken / 60 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 60)
    assert made > 30


def test_testing_at_every_look_without_a_correction_would_break_it():
    """The same looks at the full level each, on a risk just above the target everywhere."""
    from abstain.thresholds.sample import Sample
    from abstain.thresholds.step_down import SafeRanks

    rng = np.random.default_rng(2)
    samples = [(rng.random(3000), (rng.random(3000) < 0.0501).astype(float)) for _ in range(60)]
    broken = {"naive": np.zeros(60, bool), "spent": np.zeros(60, bool)}
    for name, result in broken.items():
        for k in range(1, 11):  # all samples at one look, so that its critical values are computed once
            level, n = 0.1 / (k * (k + 1)) if name == "spent" else 0.1, 300 * k
            result |= [SafeRanks.of(Sample.of(c[:n], e[:n]), 0.05, level).largest > 0 for c, e in samples]
    assert broken["spent"].mean() <= 0.1 + 3 * sqrt(0.09 / 60)
    assert broken["naive"].mean() > 0.15


FLOORS = {"accepted": None, "random": -np.inf}


def labels_needed(seed, floor):
    """Until three quarters of the coverage in reach are certified, under 0.01 + 0.45u² errors."""
    rng, batch = np.random.default_rng([seed, 3]), 300
    u = rng.random(15_000)
    confidence, errors = 1 - u, rng.random(15_000) < 0.01 + 0.45 * u**2
    result = Recertification.of(OLD, floor=floor)
    while (result.threshold is None or 1 - result.threshold.value < 0.75 * 0.516) and len(result.ids) < 8000:
        result = result.ask(confidence, np.arange(15_000), labels=batch)
        result = result.answer(result.pending, errors[np.array(result.pending).astype(int)])
        batch = int(1.25 * batch)
    return len(result.ids)


def test_rows_the_old_selector_rejects_are_not_asked_for_and_fewer_labels_are_needed():
    result = run(0, slope=0.45, batches=(300,), stop_when_certified=False)
    assert min(result.searches["all rows"].confidence) > OLD.threshold.value
    needed = {name: np.median([labels_needed(seed, floor) for seed in range(12)]) for name, floor in FLOORS.items()}
    assert needed["accepted"] < 0.8 * needed["random"]


def test_the_new_selector_has_the_new_threshold_and_its_words(tmp_path):
    result = run(1, slope=0.2, batches=(800, 800))
    selector = result.selector(OLD)
    assert selector.threshold.value >= OLD.threshold.value
    assert "it holds whenever labelling stopped" in selector.summary()
    assert selector.threshold.n == 8000
    selector.save(tmp_path / "new.abstain")
    assert Selector.load(tmp_path / "new.abstain").threshold == selector.threshold


def test_the_state_goes_on_where_it_stopped():
    confidence = np.random.default_rng(0).random(500)
    asked = Recertification.of(OLD).ask(confidence, np.arange(500), labels=20)
    again = Recertification.from_json(asked.to_json())
    assert again == asked
    answered = again.answer(again.pending, np.zeros(20))
    assert not set(answered.ask(confidence, np.arange(500), labels=50).pending) & set(answered.ids)


def test_it_knows_how_many_rows_above_the_floor_are_left():
    confidence = np.append(np.linspace(OLD.threshold.value + 0.01, 1, 30), 0.0)
    asked = Recertification.of(OLD).ask(confidence, np.arange(31), labels=20)
    assert asked.searches["all rows"].left == 10
    assert (
        asked.answer(asked.pending, np.zeros(20)).ask(confidence, np.arange(31), labels=50).searches["all rows"].left
        == 0
    )


def test_the_order_of_rows_decides_nothing():
    confidence, ids = np.random.default_rng(0).random(500), np.arange(500)
    order = np.random.default_rng(1).permutation(500)
    single, other = (Recertification.of(OLD).ask(confidence[o], ids[o], labels=30) for o in (np.arange(500), order))
    assert single.pending == other.pending


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.answer([], []), "must be asked for first"),
        (
            lambda r: r.ask([0.9], [1], labels=1).ask([0.9], [1], labels=1),
            "1 rows that were asked for must be labelled first",
        ),
        (lambda r: r.ask([0.9], [1], labels=1).answer([2], [0]), "every row asked for, got none for 1, '1' first"),
        (lambda r: r.ask([0.9], [1], labels=1).answer([1], [1.5]), "`errors` must be from 0 to 1 for each id"),
        (lambda r: r.ask([0.9, 0.8], [1], labels=1), "`ids` must name each row"),
        (lambda r: r.ask([0.9], [1], ["a"], labels=1), "`groups` must be left out where all rows have one threshold"),
        (
            lambda r: r.ask([0.0], [1], labels=1),
            r"rows above 0.\d+, the old threshold, .* got none among 1. Bring decisions on new rows.",
        ),
        (lambda r: r.ask([0.9], [1], labels=0), "`labels` must be at least 1"),
        (lambda r: r.selector(OLD), "A threshold must be certified first, got none after 0 labels"),
        (lambda _: Recertification.from_json("{}"), "must be the state of a Recertification"),
        (lambda _: Recertification.of(OLD, risk=2.0), "`risk` must be between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call(Recertification.of(OLD))


def test_groups_must_be_named_and_only_a_risk_can_be_certified_again():
    outputs = Outputs(
        confidences={"c": np.arange(500.0)}, errors=np.zeros(500), domain=np.array(["a", "b"])[np.arange(500) % 2]
    )
    with pytest.raises(ValueError, match="`groups` must name the domain, got none"):
        Recertification.of(calibrate(outputs, Risk(0.1, per="domain"))).ask(np.arange(500.0), np.arange(500), labels=9)
    with pytest.raises(ValueError, match="`risk` must be given"):
        Recertification.of(calibrate(outputs, coverage=0.5))


def clusters(rng, n, slope):
    """Clusters of 1 row, or of 9 that are seldom wrong, and all together: ids, confidences, errors."""
    size = np.where(rng.random(n) < 0.3, 9, 1)
    ids = np.repeat(np.arange(n), size)
    u = np.clip(rng.random(n)[ids] + 0.02 * rng.normal(size=len(ids)), 0, 1)
    wrong = rng.random(n)[ids] < slope * u**2 * np.where(size > 1, 0.1, 1.0)[ids]
    return ids, 1 - u, wrong


def test_rows_of_one_id_count_once_and_the_guarantee_says_so():
    ids, confidence, wrong = clusters(np.random.default_rng(0), 3000, 0.3)
    result = Recertification.of(OLD).ask(confidence, ids, labels=1200)
    rows = np.array(result.pending_rows)
    np.testing.assert_array_equal(ids[rows].astype(str), result.pending)
    np.testing.assert_array_equal(confidence[rows], result.pending_confidence)
    assert len(set(result.pending)) == 1200
    assert len(result.offered["all rows"]) == 3000
    renewed = result.answer(result.pending, wrong[rows]).selector(OLD)
    assert renewed.threshold.guarantee.counting == "clusters"
    assert "every cluster counts once" in renewed.summary()
    order = np.random.default_rng(1).permutation(len(ids))
    other = Recertification.of(OLD).ask(confidence[order], ids[order], labels=1200)
    assert other.pending == result.pending


def test_the_risk_of_clusters_is_kept_where_taking_every_row_for_one_of_its_own_breaks_it():
    whole = clusters(np.random.default_rng(9), 60_000, 0.8)
    weight, runs, broken = 1 / np.bincount(whole[0])[whole[0]], 60, {"once": 0, "rows": 0}
    for seed in range(runs):
        ids, confidence, wrong = clusters(np.random.default_rng([seed, 2]), 1500, 0.8)
        for how, names in (("once", ids), ("rows", np.arange(len(ids)))):
            result = Recertification.of(OLD, delta=0.2).ask(confidence, names, labels=1300)
            result = result.answer(result.pending, wrong[list(result.pending_rows)])
            if result.threshold is not None:
                accepted = whole[1] > result.threshold.value
                broken[how] += np.average(whole[2][accepted], weights=weight[accepted]) > result.risk
    assert broken["once"] / runs <= 0.2 + 3 * sqrt(0.2 * 0.8 / runs)
    assert broken["rows"] > 0.2 * runs + 3 * sqrt(0.2 * 0.8 * runs)


def test_a_selector_calibrated_with_ids_is_certified_again_for_clusters_even_where_none_repeats():
    old = calibrate(Outputs(confidences={"c": np.arange(500.0)}, errors=np.zeros(500), ids=np.arange(500)), risk=0.1)
    result = Recertification.of(old).ask(np.arange(500.0), np.arange(500), labels=300)
    assert "every cluster counts once" in result.answer(result.pending, np.zeros(300)).selector(old).summary()


@pytest.mark.parametrize("values", [5, 50])
def test_a_score_of_few_values_is_named_in_the_guarantee_as_calibrate_names_it(values):
    rng = np.random.default_rng(0)
    confidence = rng.integers(values, size=4000) / values
    errors = rng.random(4000) < 0.1 * (1 - confidence)
    old = calibrate(Outputs(confidences={"c": confidence}, errors=errors), risk=0.1)
    state = Recertification.of(old).ask(confidence, np.arange(4000), labels=800)
    state = state.answer(state.pending, errors[list(state.pending_rows)])
    assert ("no other values" in str(state.threshold.guarantee)) == (values == 5)
