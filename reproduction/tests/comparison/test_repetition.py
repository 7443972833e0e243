import numpy as np
import pytest

import abstain
from abstain import Outputs
from abstain_reproduction.comparison.repetition import repeat
from abstain_reproduction.comparison.repetition_table import repeated_table, repeated_words


@pytest.fixture(scope="module")
def many_classes():
    """A classifier of 30 classes, of which the data have three; a wrong answer is of any of the others."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=1500)
    answers = np.where(rng.random(1500) < 0.75, labels, rng.integers(30, size=1500))
    logits = rng.normal(size=(1500, 30)) + 6 * np.eye(30)[answers]
    features = np.eye(30)[answers] + 0.1 * rng.normal(size=(1500, 30))
    return Outputs(logits=logits, labels=labels, features=features, weight=np.eye(30))


@pytest.fixture(scope="module")
def repetition(many_classes):
    return repeat(many_classes, seed=0, draws=3)


def test_what_a_fitted_score_gains_by_knowing_the_classes_the_control_gains_too(repetition):
    plain, control = (repetition.row(name, "in").aurc for name in ("max_softmax", "max_softmax|seen"))
    fitted = repetition.row("delta_knn", "in")
    assert fitted.aurc < plain / 2
    assert control < plain / 2
    assert fitted.better == 0


def test_values_are_means_over_the_draws(many_classes, repetition):
    areas = []
    for draw in range(3):
        evaluation = abstain.evaluate(
            many_classes, scores=["knn", "energy"], fitting=abstain.FittingDraw("paper", draw)
        )
        areas.append(evaluation.row("knn", "in", 1.0).aurc)
    row = repetition.row("knn", "in")
    assert row.aurc == pytest.approx(np.mean(areas), abs=1e-12)
    assert row.spread == pytest.approx(np.std(areas, ddof=1), abs=1e-12)
    assert row.draws == 3


def test_the_best_control_gains_nothing_over_itself(repetition):
    rows = [repetition.row(name, "in") for name in ("max_softmax|seen", "confidence_margin|seen")]
    best = min(rows, key=lambda row: row.aurc)
    assert max(row.gain for row in rows) <= 0
    assert best.better == 0
    assert best.gain == 0  # it is the best in every draw, so that gains are differences of means
    for row in repetition.rows:
        if row.alpha == 1 and row.draws == 3:
            assert row.gain == pytest.approx(best.aurc - row.aurc, abs=1e-12)


def test_where_a_class_is_rare_but_right_the_plain_score_is_the_control():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [200, 200, 3])  # the last is in none of the draws of 15 rows
    logits = 2 * rng.normal(size=(403, 3)) + 2 * np.eye(3)[labels]
    logits[:, 2] = np.where(labels == 2, 20, -20)  # and always right
    repeated = repeat(Outputs(logits=logits, labels=labels), seed=0, draws=2)
    plain = max(repeated.row(name, "in").gain for name in ("max_softmax", "confidence_margin"))
    seen = max(repeated.row(f"{name}|seen", "in").gain for name in ("max_softmax", "confidence_margin"))
    assert seen < plain <= 0


def test_the_first_evaluation_knows_no_controls(repetition):
    assert not any("|seen" in score for score in repetition.first.scores)


def test_the_table_has_the_scores_of_the_paper_the_best_others_and_the_controls(repetition):
    table = repeated_table(repetition, "Many classes", others=2)
    names = [row[0] for row in table.rows]
    assert names[:3] == ["SR_max", "SR_doctor", "SR_ent"]
    assert len(names) == 12 + 2 + 2  # RL_geo-M in two forms
    assert names[6:8] == ["RL_geo-M", "RL_geo-M (eq. 11)"]
    assert sorted(names[-2:]) == ["RL_conf-M, seen", "SR_max, seen"]
    assert table.columns == ("score", "in", "gain over control, in")
    assert sum(cell.startswith("**") for _, cell, _ in table.rows) >= 1


def test_no_draw_is_refused(many_classes):
    with pytest.raises(ValueError, match="`draws` must be at least 1, got 0"):
        repeat(many_classes, seed=0, draws=0)


def test_the_words_name_the_best_score_the_usual_one_and_the_control(repetition):
    words = repeated_words(repetition)
    best = min((row for row in repetition.rows if "|seen" not in row.score), key=lambda row: (row.alpha < 1, row.aurc))
    assert f"AURC {100 * best.aurc:.2f} ± {100 * best.spread:.2f} over 3 draws" in words
    assert f"significant in {best.better} of 3 draws" in words
    assert f"{100 * repetition.row('max_softmax', 'in').aurc:.2f} for SR_max" in words
