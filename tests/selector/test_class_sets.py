"""Sets for rejected rows hold the truth among rejected rows: in simulation, the seed fixed and the data new."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain import Outputs, Selector, calibrate, calibrate_sets
from abstain.cli.app import app
from abstain.selector import Recertification
from abstain.selector.class_sets import log_probabilities
from abstain.thresholds import NoSafeThresholdError

CLASSES, COVERAGE, DELTA = 5, 0.8, 0.1


def drawn(seed, n, *, unknown=0.0, ids=None):
    """Easy rows whose classes the logits show, and hard ones of which they show little, overconfident at that."""
    rng = np.random.default_rng([seed, 9])
    y = rng.integers(0, CLASSES, n)
    hard = rng.random(n) < 0.4
    z = rng.normal(size=(n, CLASSES)) * np.where(hard, 2.0, 1.0)[:, None]
    z[np.arange(n), y] += np.where(hard, 1.5, 8.0)
    y = np.where(hard & (rng.random(n) < unknown), -1, y)
    return Outputs(logits=z, labels=y, ids=ids)


SELECTOR = calibrate(drawn(0, 2000), risk=0.05)
POPULATION = drawn(1, 60_000, unknown=0.1)
REJECTED = POPULATION.select(np.flatnonzero(~SELECTOR.accepts(POPULATION)))


def holds(sets, rows):
    return np.mean((rows.labels >= 0) & sets[np.arange(len(rows)), np.maximum(rows.labels, 0)])


def test_sets_hold_the_truth_among_rejected_rows_and_those_calibrated_on_all_rows_do_not():
    broken, means, naive = 0, [], 0
    for run in range(150):
        held_out = drawn(run + 10, 800, unknown=0.1)
        sets = calibrate_sets(SELECTOR, held_out, coverage=COVERAGE, delta=DELTA)
        means.append(holds(sets.sets(REJECTED), REJECTED))
        broken += means[-1] < COVERAGE
        scores = log_probabilities(held_out)
        truth = np.where(held_out.labels >= 0, scores[np.arange(800), np.maximum(held_out.labels, 0)], -np.inf)
        naive += holds(log_probabilities(REJECTED) > np.quantile(truth, 1 - COVERAGE), REJECTED) < COVERAGE
    assert broken / 150 <= DELTA + 3 * sqrt(DELTA * (1 - DELTA) / 150)
    assert np.mean(means) < COVERAGE + 0.06  # not met by sets of all classes
    assert naive == 150


def test_in_expectation_sets_hold_the_truth_on_average():
    coverages = [
        holds(calibrate_sets(SELECTOR, drawn(run + 10, 500), coverage=COVERAGE, delta=None).sets(rows), rows)
        for rows in [REJECTED.select(np.flatnonzero(REJECTED.labels >= 0))]
        for run in range(60)
    ]
    assert abs(np.mean(coverages) - COVERAGE) < 0.015


def test_rows_that_calibrated_the_selector_are_refused_since_they_mislead():
    with pytest.raises(ValueError, match="`held_out` must be rows that the selector has not seen, got about"):
        calibrate_sets(SELECTOR, drawn(0, 2000))


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.5, 0.95))
def test_sets_grow_with_the_coverage_and_are_never_empty(seed, coverage):
    held_out, rows = drawn(5, 1500), drawn(seed, 200)
    smaller, larger = (calibrate_sets(SELECTOR, held_out, coverage=c).sets(rows) for c in (coverage - 0.1, coverage))
    assert (smaller <= larger).all()
    accepted = SELECTOR.accepts(rows)
    assert (larger.sum(axis=1) >= 1).all()
    assert (larger[accepted].argmax(axis=1) == rows.predictions[accepted]).all()
    assert (larger[accepted].sum(axis=1) == 1).all()


def test_a_non_finite_row_has_the_set_of_all_classes():
    selector = calibrate_sets(SELECTOR, drawn(5, 1500))
    z = np.array([[np.nan] * CLASSES, [9.0, 0, 0, 0, 0]])
    assert selector.sets(Outputs(logits=z, nonfinite="reject")).sum(axis=1).tolist() == [CLASSES, 1]


def test_unknown_classes_are_named_and_may_forbid_a_coverage():
    held_out = drawn(5, 3000, unknown=0.1)
    selector = calibrate_sets(SELECTOR, held_out, coverage=0.7)
    rejected = ~SELECTOR.accepts(held_out)
    assert selector.class_sets.unknown == np.count_nonzero(rejected & (held_out.labels < 0)) > 0
    assert "rows of unknown classes, which no set holds, count as misses" in selector.summary()
    with pytest.raises(NoSafeThresholdError, match="are of classes that the classifier does not know"):
        calibrate_sets(SELECTOR, drawn(5, 3000, unknown=0.5), coverage=0.9)


def test_too_few_rejected_rows_are_an_error():
    with pytest.raises(NoSafeThresholdError, match="of the held-out rows are rejected, which is too few"):
        calibrate_sets(SELECTOR, drawn(5, 40), coverage=0.95)


def test_copies_count_once():
    held_out = drawn(5, 1000)
    doubled = Outputs(
        logits=np.repeat(held_out.logits, 4, axis=0),
        labels=np.repeat(held_out.labels, 4),
        ids=np.repeat(np.arange(1000), 4),
    )
    once, four = (calibrate_sets(SELECTOR, rows).class_sets.threshold for rows in (held_out, doubled))
    assert (once.n, once.value) == (four.n, four.value)


def test_a_file_keeps_the_sets_and_another_threshold_drops_them(tmp_path):
    selector = calibrate_sets(SELECTOR, drawn(5, 1500))
    selector.save(tmp_path / "s.abstain")
    loaded = Selector.load(tmp_path / "s.abstain")
    assert loaded.class_sets == selector.class_sets
    rows = drawn(7, 3000)
    asked = Recertification.of(selector, risk=0.2).ask(selector.confidence(rows), np.arange(3000), labels=800)
    new = asked.answer(asked.pending, rows.errors[list(asked.pending_rows)]).selector(selector)
    assert new.class_sets is None
    with pytest.raises(ValueError, match="`selector` must have sets, got none"):
        new.sets(rows)


def test_the_command_adds_sets_and_select_writes_them(tmp_path, capsys):
    SELECTOR.save(tmp_path / "s.abstain")
    drawn(5, 1500).save(tmp_path / "held_out")
    rows = drawn(6, 50)
    rows.save(tmp_path / "new")
    for arguments in (
        ["sets", "s.abstain", "held_out", "--coverage", "0.8", "-o", "t.abstain"],
        ["select", "t.abstain", "new", "-o", "d.csv"],
    ):
        names = {"s.abstain", "t.abstain", "d.csv", "held_out", "new"}
        files = [str(tmp_path / each) if each in names else each for each in arguments]
        with pytest.raises(SystemExit) as done:
            app(files)
        assert done.value.code == 0
    assert "Sets for rejected rows: the share of rejected rows whose set" in " ".join(capsys.readouterr().out.split())
    header, *lines = (tmp_path / "d.csv").read_text().splitlines()
    column = header.split(",").index("candidates")
    selector = Selector.load(tmp_path / "t.abstain")
    sizes = [len(line.split(",")[column].split("|")) if line.split(",")[column] else 0 for line in lines]
    assert sizes == np.where(selector.accepts(rows), 0, selector.sets(rows).sum(axis=1)).tolist()
