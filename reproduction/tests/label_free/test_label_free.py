"""Estimates without labels: which rows are new, how errors are averaged, and how the default is chosen."""

import numpy as np
import pytest

from abstain import Outputs
from abstain.datasets import digits
from abstain.monitor import RISK_METHODS
from abstain_reproduction.label_free import cases as label_free_cases
from abstain_reproduction.label_free.cases import EstimateCase, estimate_cases, known_samples, new_rows
from abstain_reproduction.label_free.label_free import DESIGN, findings
from abstain_reproduction.label_free.label_free_tables import best_method, is_inside, mean_error


@pytest.fixture(scope="module")
def rows():
    return digits()


def case(model, truth, kind="covariate", **risks):
    return EstimateCase(model, kind, "fog", 0.9, 100, 0.1, truth, 0.8, risks, risks)


def test_no_new_row_shows_a_sample_that_was_calibrated_on(rows):
    known = known_samples(rows, seed=0)
    for _, _, chosen in new_rows(rows, known, seed=0):
        assert not np.isin(rows.ids[chosen], rows.ids[known]).any()


def test_samples_without_shifted_copies_calibrate_where_there_are_enough():
    ids = np.r_[np.arange(100), np.arange(20)]
    shift = np.repeat(["none", "covariate"], [100, 20])
    few = Outputs(logits=2 * np.eye(2)[ids % 2], labels=ids % 2, shift=shift, ids=ids)
    np.testing.assert_array_equal(known_samples(few, seed=0), np.r_[np.arange(100) >= 20, np.zeros(20, bool)])


def test_a_tenth_of_the_rows_is_unknown(rows):
    shifts = {kind: chosen for kind, _, chosen in new_rows(rows, known_samples(rows, seed=0), seed=0)}
    assert np.mean(rows.shift[shifts["unknown"]] == "label") == pytest.approx(0.1, abs=0.01)


def test_the_truth_of_a_case_is_that_of_its_labels(rows, monkeypatch):
    monkeypatch.setattr(label_free_cases, "COVERAGES", (0.9,))
    measured = {each.domain: each for each in estimate_cases("digits", rows, seed=0)}
    assert measured["tilt"].truth > 0.2
    assert measured["none"].truth < 0.02
    assert set(measured["all"].risks) == set(RISK_METHODS)


def test_every_model_counts_alike():
    cases = [case("a", 0.3, atc=0.1), case("a", 0.1, atc=0.1), case("b", 0.2, atc=0.1)]
    assert mean_error(cases, "atc") == pytest.approx((0.1 + 0.1) / 2)
    assert mean_error(cases, "no change") == pytest.approx((0.1 + 0.1) / 2)
    assert mean_error(cases, "doc") is None


def test_the_best_method_is_measured_on_every_model():
    cases = [case("a", 0.3, atc=0.2, pape=0.25, doc=0.3), case("b", 0.2, atc=0.1, pape=0.15)]
    assert best_method(cases, ["atc", "pape", "doc"]) == "pape"


def test_the_spread_holds_what_is_between_the_estimates():
    assert is_inside(case("a", 0.3, atc=0.2, doc=0.4))
    assert not is_inside(case("a", 0.5, atc=0.2, doc=0.4))


def test_the_models_of_the_choice_and_the_others_are_apart():
    risks = dict.fromkeys(RISK_METHODS, 0.15)
    result = findings([case(DESIGN[0], 0.2, **risks), case("another", 0.3, **risks)])
    assert [table.title.split(":")[0] for table in result.tables] == [
        *["Models on which the default is chosen"] * 2,
        *["Models set aside"] * 2,
    ]
    assert "off by 15.0 points" in result.words
