"""Guarantees about rows that come in clusters: what is said of them, kept and tested, whatever a sample shows."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate, certify
from abstain.selector.certificate_words import findings
from abstain.selector.targets import (
    Cost,
    Coverage,
    JointRisk,
    MissRate,
    Review,
    RiskAndCoverage,
    RiskAndMissRate,
    target_of,
)
from abstain.thresholds import NoSafeThresholdError


def rows(rng, clusters, *, size=1, share=0.0, wrong=0.0, others=0.02, domains=None):
    """Clusters of 1 row, and a share of a larger size that are wrong as a whole with some probability."""
    large = rng.random(clusters) < share
    number = np.repeat(np.arange(clusters), np.where(large, size, 1))
    errors = np.where(large, rng.random(clusters) < wrong, rng.random(clusters) < others)[number]
    ids = [f"{rng.integers(10**9)}-{k}" for k in range(clusters)]
    domain = None if domains is None else np.array(domains)[np.arange(len(number)) % len(domains)]
    return Outputs(confidences={"c": rng.random(len(number))}, errors=errors, ids=np.array(ids)[number], domain=domain)


@pytest.fixture(scope="module")
def of_clusters():
    """At most 0.1 of the rows of clusters of at most 300 rows are wrong; every row is accepted."""
    selector = calibrate(rows(np.random.default_rng(0), 30_000, size=300, share=1 / 300), risk=0.1)
    assert selector.threshold.value == -np.inf
    return selector


def test_a_kept_guarantee_is_not_refuted_where_no_large_cluster_happens_to_be_drawn(of_clusters):
    """One in 300 clusters has 300 rows, all right, which half of the rows are; of the others 0.15 are wrong."""
    law = {"size": 300, "share": 1 / 300, "wrong": 0.0, "others": 0.15}
    fresh = [rows(np.random.default_rng([run, 2]), 300, **law) for run in range(60)]
    verdicts = Counter(certify(of_clusters, each).verdict for each in fresh)
    assert (
        sum(each.clusters is None and each.errors.mean() > 0.13 for each in fresh) > 10
    )  # the exact test refutes these
    assert verdicts["refuted"] <= 0.05 * 60 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_a_broken_guarantee_about_clusters_is_still_refuted(of_clusters):
    certificate = certify(replace_largest(of_clusters, 20), rows(np.random.default_rng(1), 8000, others=0.3))
    assert certificate.fresh.tests[0].result.by == "betting"
    assert certificate.verdict == "refuted"


def replace_largest(selector, largest):
    threshold = selector.threshold
    return replace(selector, threshold=replace(threshold, guarantee=replace(threshold.guarantee, largest=largest)))


def test_with_ids_the_guarantee_is_about_clusters_even_where_none_repeats():
    """One in 400 clusters has 400 rows, all wrong: no sample without one can tell, so the words must."""
    law, seen = {"size": 400, "share": 1 / 400, "wrong": 1.0, "others": 0.01}, Counter()
    for run in range(12):
        outputs = rows(np.random.default_rng([run, 3]), 300, **law)
        try:
            guarantee = calibrate(outputs, risk=0.05).threshold.guarantee
        except NoSafeThresholdError:
            continue
        seen[guarantee.largest] += 1
        clusters = f"rows of clusters drawn independently as these 300 were, of at most {guarantee.largest} rows each"
        alone = "rows of which no two share an id, drawn independently as these 300 were"
        assert (alone if guarantee.largest == 1 else clusters) in str(guarantee)
    assert seen[1] > 0


def test_without_ids_the_guarantee_is_about_independent_rows():
    outputs = rows(np.random.default_rng(0), 400)
    guarantee = calibrate(
        Outputs(confidences={"c": outputs.confidences[:, 0]}, errors=outputs.errors), risk=0.1
    ).threshold.guarantee
    assert guarantee.largest is None
    assert "for rows drawn independently from the distribution of these 400" in str(guarantee)


def test_a_bound_on_clusters_that_is_known_is_kept_and_costs_coverage():
    outputs = rows(np.random.default_rng(0), 3000, size=3, share=0.2, others=0.03)
    seen, known = (calibrate(outputs, Risk(0.08, largest_cluster=largest)).threshold for largest in (None, 12))
    assert (seen.guarantee.largest, known.guarantee.largest) == (3, 12)
    assert known.accepted <= seen.accepted
    assert "of at most 12 rows each" in str(known.guarantee)
    with pytest.raises(NoSafeThresholdError):
        calibrate(rows(np.random.default_rng(1), 500), Risk(0.05, largest_cluster=400))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"largest_cluster": 0}, "`largest_cluster` must be an integer of at least 1, got 0"),
        ({"largest_cluster": 2.5}, "`largest_cluster` must be an integer of at least 1, got 2.5"),
        ({"largest_cluster": 2}, "`largest_cluster` must be at least what the outputs have, 3 rows with one id, got 2"),
        (
            {"largest_cluster": 4, "method": "step_down"},
            "`largest_cluster` must come with the default method or betting, got step_",
        ),
        ({"largest_cluster": 4, "coverage": 0.5}, "`largest_cluster` must come with `risk`, got `risk` and `coverage`"),
    ],
)
def test_a_bound_on_clusters_that_cannot_be_is_named(options, message):
    outputs = rows(np.random.default_rng(0), 600, size=3, share=0.2)
    with pytest.raises(ValueError, match=message):
        calibrate(outputs, target_of(risk=0.1, **options))


def test_a_bound_on_clusters_needs_ids():
    with pytest.raises(ValueError, match="`largest_cluster` must come with ids, which say what a cluster is, got 4"):
        calibrate(Outputs(confidences={"c": [0.1, 0.2]}, errors=[False, False]), Risk(0.1, largest_cluster=4))


def test_fresh_clusters_larger_than_assumed_are_left_out_of_the_test_and_told():
    selector = calibrate(rows(np.random.default_rng(0), 3000), risk=0.1)
    fresh = rows(np.random.default_rng(1), 2000, size=30, share=0.01, wrong=1.0)
    certificate = certify(selector, fresh)
    sizes = np.unique(fresh.ids, return_counts=True)[1]
    larger = int(sizes[sizes > 1].sum())
    assert certificate.fresh.tests[0].left_out == larger > 0
    assert certificate.fresh.tests[0].result.trials <= (sizes == 1).sum()
    assert certificate.verdict in ("confirmed", "consistent")
    words = f"{larger} rows left out: their clusters have more than 1 row, which the guarantee does not cover."
    assert words in findings(certificate)[0]


def test_where_clusters_count_one_row_of_each_tests_exactly():
    outputs = rows(np.random.default_rng(0), 2000, size=5, share=0.3)
    selector = calibrate(outputs, coverage=0.7)
    assert selector.threshold.guarantee.counting == "clusters"
    result = certify(selector, rows(np.random.default_rng(1), 2000, size=5, share=0.3)).fresh.tests[0].result
    assert (result.by, result.trials) == ("binomial", 2000)


def test_groups_of_clusters_have_bounds_of_their_own_and_are_taken_for_fixed():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(2000), 3)
    outputs = Outputs(
        confidences={"c": rng.random(6000)},
        errors=rng.random(6000) < 0.02,
        ids=[f"a{k}" for k in clusters],
        domain=np.tile(["one", "two", "two"], 2000),
    )
    selector = calibrate(outputs, Risk(0.1, per="domain"))
    result = {name: each.guarantee for name, each in selector.groups.thresholds.items()}
    assert (result["one"].largest, result["two"].largest, selector.threshold.guarantee.largest) == (1, 2, 3)
    assert "if the groups were fixed before the sample" in str(result["one"])
    assert "in clusters of at most 3 rows" in str(selector.threshold.guarantee)
    tests = certify(selector, replace_ids(outputs, rng)).fresh.tests
    assert [test.result.largest for test in tests] == [3, 1, 2]


def replace_ids(outputs, rng):
    return Outputs(
        confidences={"c": rng.random(len(outputs))},
        errors=rng.random(len(outputs)) < 0.02,
        ids=np.char.add("b", outputs.ids),
        domain=outputs.domain,
    )


@pytest.mark.parametrize(
    "target",
    [
        Risk(0.3),
        Coverage(0.5),
        Review(0.5),
        RiskAndCoverage(0.3, 0.3),
        JointRisk(0.3, 0.4, per="domain"),
        MissRate({1: 0.3}),
        RiskAndMissRate(0.3, {1: 0.4}),
        Cost(0.3),
    ],
    ids=repr,
)
def test_ids_of_which_none_repeats_speak_of_rows_and_not_of_rows_drawn_from_clusters(target):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=1200)
    logits, domain = 2 * np.eye(2)[labels] + rng.normal(size=(1200, 2)), np.where(labels, "a", "b")

    def guarantees(ids):
        threshold = calibrate(Outputs(logits=logits, labels=labels, ids=ids, domain=domain), target).threshold
        return [threshold.guarantee, *threshold.further]

    for each in guarantees([f"row-{row}" for row in range(1200)]):
        assert "for rows of which no two share an id, drawn independently as these" in str(each)
        assert (each.counting, each.largest) == ("rows", 1)
    for each in guarantees([f"row-{row // 2}" for row in range(1200)]):
        assert "no two share" not in str(each)
        assert (each.counting, each.largest) in (("clusters", None), ("rows", 2))
