"""The learned score beside every other, on little data."""

from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs
from abstain.datasets import digits
from abstain.evaluation.mixes import MIXES
from abstain_reproduction.experiment import Setting
from abstain_reproduction.learned import learned_score, model_result
from abstain_reproduction.learned.cells import TEN, ScoreCell, cells, labelled_and_fresh
from abstain_reproduction.learned.certified_coverage import CertifiedCoverage, certified_coverage
from abstain_reproduction.learned.density_ratio import NAME, log_ratio, unlabelled_cells, with_ratio
from abstain_reproduction.learned.learned_score import findings, run
from abstain_reproduction.learned.learned_tables import tables

CELL = ScoreCell("a", 50, "learned", "all", "all", 1.0, 0.1, 0.2, 1)


@pytest.fixture(scope="module")
def outputs() -> Outputs:
    return digits()


def test_rows_to_learn_on_are_one_of_each_sample_and_none_of_those_judged(outputs):
    rows, rest = labelled_and_fresh(outputs, MIXES["all"], 300, seed=0)
    assert len(rows) == 300 == len(np.unique(rows.ids))
    assert not set(rows.ids) & set(rest.ids)


def test_a_mix_too_small_to_leave_half_is_not_drawn(outputs):
    assert labelled_and_fresh(outputs, MIXES["all"], 1000, seed=0) is None


def test_the_best_of_the_ten_is_never_better_than_itself(outputs):
    all_cells = list(cells("digits", outputs, seed=0, sizes=(50,)))
    own = [cell for cell in all_cells if cell.mix == cell.learned_in]
    assert {cell.mix for cell in own} == set(MIXES)
    assert all(cell.outcome <= 0 for cell in own if cell.score in TEN)
    best = [cell for cell in own if cell.score in TEN and cell.aurc == cell.best]
    assert {(cell.mix, cell.alpha) for cell in best} == {(mix, alpha) for mix in MIXES for alpha in (0.1, 0.5, 1.0)}
    assert {cell.mix for cell in all_cells if cell.learned_in == "all" and cell.score == "learned"} == set(MIXES)


def test_the_best_alone_is_certified_as_calibrate_does(outputs):
    coverage = certified_coverage("digits", outputs, MIXES["in+cov"], seed=0, rows=400)
    assert coverage is not None
    assert coverage.alone >= coverage.share
    assert 0 < coverage.learned <= 1


def test_tables_count_better_tied_and_worse():
    some_cells = [
        CELL,
        replace(CELL, alpha=0.5, outcome=0),
        replace(CELL, alpha=0.1, outcome=-1),
        replace(CELL, size=300),
    ]
    kept = [CertifiedCoverage("a", "all", 0.5, 0.04, "knn", 0.4, 0.3)]
    first, *_, last = tables(some_cells, kept, design=("b",))
    assert first.rows[0] == ("a", "1/1/1", "1/0/0", "–", "–")
    assert last.rows[0][5] == "+10.0"
    assert tables(some_cells, kept, design=("a",))[0].rows[-1] == ("all judging models", "–", "–", "–", "–")


def test_the_words_tell_losses_beside_gains():
    summary = findings(
        [CELL, replace(CELL, outcome=-1)], [], [CertifiedCoverage("a", "all", 0.3, 0.04, "knn", 0.4, 0.3)]
    ).words
    assert "1/0/1 of 2 cells with 50 labelled rows" in summary
    assert "in 0 of 1 cases" in summary


def test_a_domain_classifier_finds_the_ratio_of_two_mixes(outputs):
    inside, mixed = outputs.select(outputs.shift == "none"), outputs.select(outputs.domain == "tilt")
    ratio = log_ratio(inside.select(np.arange(300)), mixed.select(np.arange(300)), outputs)
    assert ratio[outputs.domain == "tilt"].mean() > 1 > ratio[outputs.shift == "none"].mean()


def test_rare_rows_gain_nothing_by_the_ratio():
    np.testing.assert_allclose(with_ratio(np.zeros(3), np.array([-5.0, 0.0, 2.0])), np.log(0.5) - [0, 0, 2])


def test_the_ratio_is_judged_in_every_mix_with_a_shift(outputs):
    ratio_cells = list(unlabelled_cells("digits", outputs, seed=1, rows=250))
    assert {cell.mix for cell in ratio_cells if cell.score == NAME} == {"in+cov", "in+label", "all"}


@pytest.fixture
def folder(tmp_path, monkeypatch, outputs):
    """A folder with one collected model and nothing to train, in which only 50 rows are learned from."""
    outputs.save(tmp_path / "digits" / "outputs")
    monkeypatch.setattr(learned_score, "CLASSIFIERS", {})
    monkeypatch.setattr(model_result, "cells", lambda name, rows, *, seed: cells(name, rows, seed=seed, sizes=(50,)))
    return tmp_path / "learned"


@pytest.mark.thorough
def test_the_experiment_runs_on_outputs_beside_it_and_judges_no_model_twice(folder, monkeypatch):
    result = run(Setting(folder=folder))
    assert [row[0] for row in result.tables[0].rows] == ["digits (design)", "all judging models"]
    monkeypatch.setattr(model_result, "cells", None)
    assert run(Setting(folder=folder)) == result


def test_what_is_judged_depends_on_all_code_that_judges():
    parts = set(model_result.code_parts())
    assert {
        "abstain/_draws.py",
        "abstain/evaluation",
        "abstain/shifts",
        "abstain/scores",
        "abstain_reproduction",
    } <= parts
    assert not parts & {"abstain/report", "abstain/cli", "abstain/scale"}


def test_other_outputs_another_seed_other_code_and_a_broken_file_are_judged_again(folder, monkeypatch, outputs):
    asked = []

    def answer(name, *_, **__):
        asked.append(name)
        return [CELL]

    monkeypatch.setattr(model_result, "cells", answer)
    monkeypatch.setattr(model_result, "certified_coverage", lambda *_, **__: None)
    monkeypatch.setattr(model_result, "unlabelled_cells", lambda *_, **__: [])
    for change in (
        lambda: None,
        lambda: (folder / "models" / "digits.json").write_text("{}"),
        lambda: outputs.select(np.arange(len(outputs) - 1)).save(folder.parent / "digits" / "outputs"),
        lambda: monkeypatch.setattr(model_result, "code", lambda: "other"),
    ):
        change()
        run(Setting(folder=folder))
        run(Setting(folder=folder))
    run(Setting(folder=folder, seed=1))
    assert len(asked) == 5
