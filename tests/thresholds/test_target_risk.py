"""The default for a target risk: with ids its guarantee is about clusters of at most M rows, and kept for those."""

from contextlib import suppress
from math import sqrt

import numpy as np
import pytest

from abstain.thresholds import NoSafeThresholdError, betting, step_down, target_risk

RISK, DELTA, RUNS = 0.1, 0.1, 150
SIZE = np.array([1, 2, 6, 40])
LAWS = {  # how frequent each size is, and how often it is wrong as a whole
    "each size bad, the largest rare": ([0.96, 0.02, 0.015, 0.005], [0.102, 0.102, 0.102, 0.102]),
    "errors in the largest": ([0.9, 0.05, 0.04, 0.01], [0.02, 0.02, 0.02, 0.5]),
    "errors in all but the largest": ([0.9, 0.05, 0.04, 0.01], [0.17, 0.17, 0.17, 0.0]),
}


def draw(law, rng, clusters=250):
    frequency, wrong = (np.array(each) for each in LAWS[law])
    kind = rng.choice(4, size=clusters, p=frequency)
    ids = np.repeat(np.arange(clusters), SIZE[kind])
    return rng.random(len(ids)), (rng.random(clusters) < wrong[kind])[ids].astype(float), ids


def risk_up_to(law, largest):
    """The risk of rows of clusters with at most so many, at any threshold: confidence tells nothing here."""
    frequency, wrong = (np.array(each) for each in LAWS[law])
    rows = frequency * SIZE * (largest >= SIZE)
    return (rows * wrong).sum() / rows.sum()


def share_broken(law, rule):
    broken = 0
    for run in range(RUNS):
        c, e, ids = draw(law, np.random.default_rng([run, 21]))
        try:
            guarantee = rule(c, e, ids).guarantee
        except NoSafeThresholdError:
            continue
        broken += risk_up_to(law, guarantee.largest or SIZE.max()) > RISK
    return broken / RUNS


@pytest.mark.parametrize("law", LAWS)
def test_the_risk_is_kept_for_clusters_as_large_as_the_guarantee_says(law):
    allowed = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / RUNS)
    assert share_broken(law, lambda c, e, ids: target_risk(c, e, risk=RISK, delta=DELTA, ids=ids)) <= allowed


def test_rows_of_clusters_taken_for_independent_break_it():
    broken = share_broken("errors in the largest", lambda c, e, _: step_down(c, e, risk=RISK, delta=DELTA))
    assert risk_up_to("errors in the largest", 40) > RISK
    assert broken > 0.2


def test_what_is_certified_does_not_depend_on_how_clusters_are_named():
    c, e, ids = draw("errors in the largest", np.random.default_rng(0), clusters=2000)
    single, other = (target_risk(c, e, risk=0.3, ids=names) for names in (ids, np.char.add("a", ids.astype(str))))
    assert single == other
    assert single.guarantee.largest == 40


def test_where_the_sample_tells_the_largest_cluster_a_little_more_must_be_won():
    """All right, two rows each: κ = 1 + 0.95r/(1 − r) times as much, which few numbers of clusters feel."""
    certified = {None: set(), 2: set()}
    for clusters in range(40, 140, 2):
        c, e, ids = np.linspace(0, 1, 2 * clusters), np.zeros(2 * clusters), np.repeat(np.arange(clusters), 2)
        for largest, result in certified.items():
            with suppress(NoSafeThresholdError):
                betting(c, e, risk=RISK, delta=DELTA, ids=ids, largest=largest)
                result.add(clusters)
    assert certified[None] < certified[2]
    assert len(certified[2] - certified[None]) <= 3


@pytest.mark.parametrize(
    ("ids", "largest", "method", "said"),
    [
        (None, None, "step_down", None),
        (np.arange(400), None, "step_down", 1),
        (np.arange(400), 3, "betting", 3),
        (np.arange(400) // 2, None, "betting", 2),
        (np.arange(400) // 2, 5, "betting", 5),
    ],
)
def test_the_rule_is_chosen_by_what_is_guaranteed(ids, largest, method, said):
    threshold = target_risk(np.linspace(0, 1, 400), np.zeros(400), risk=0.3, ids=ids, largest=largest)
    assert (threshold.method, threshold.guarantee.largest) == (method, said)


def test_a_bound_that_cannot_be_is_named():
    c, e = np.linspace(0, 1, 40), np.zeros(40)
    with pytest.raises(ValueError, match="`largest` must come with `ids`, which say what a cluster is, got 3"):
        target_risk(c, e, risk=0.3, largest=3)
    with pytest.raises(ValueError, match="`largest` must be at least the rows of the largest cluster, 4, got 2"):
        target_risk(c, e, risk=0.3, ids=np.arange(40) // 4, largest=2)


def test_the_last_bits_of_confidences_change_no_draw():
    """They differ from processor to processor; what is drawn must not."""
    rng = np.random.default_rng(3)
    ids = np.repeat(np.arange(600), 3)
    confidence = rng.random(1800)
    losses = rng.random(1800) < 0.3 * (1 - confidence)
    other = np.nextafter(confidence, np.where(rng.random(1800) < 0.5, 0.0, 1.0))
    first, second = (target_risk(c, losses, risk=0.1, ids=ids) for c in (confidence, other))
    assert first.accepted == second.accepted > 0
    assert first.value == pytest.approx(second.value, rel=1e-12)
