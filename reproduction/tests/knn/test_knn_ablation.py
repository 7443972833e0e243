from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import abstain
from abstain import Outputs
from abstain.datasets import digits
from abstain.metrics import compare
from abstain.scores import KNN
from abstain_reproduction.experiment import Setting
from abstain_reproduction.knn import knn_ablation
from abstain_reproduction.knn.ablation import Ablation, ablate
from abstain_reproduction.knn.knn_figure import ablation_figure
from abstain_reproduction.mean import Mean


@pytest.fixture(scope="module")
def weak():
    return digits()


@pytest.fixture(scope="module")
def ablation(weak):
    return ablate("weak", weak, ks=(1, 2, 10, 20, 1000), draws=2)


def test_every_area_is_that_of_the_score_with_that_k(weak):
    ablation = ablate("weak", weak, ks=(1, 2, 10, 20, 1000), draws=2)
    assert ablation.ks == (1, 2, 10, 20)  # the bank has 45 rows
    for k in ablation.ks:
        draw = abstain.FittingDraw("paper", seed=1)
        evaluation = abstain.evaluate(weak, scores=[KNN(k=k)], alphas=(1.0,), fitting=draw)
        (score,) = evaluation.scores
        assert ablation.areas[k][1] == evaluation.row(score, evaluation.mixes[-1], 1.0).aurc


def test_a_large_bank_has_the_papers_5000_rows_whatever_the_number_of_classes():
    ablation = ablate("many", many(12_000), bank="large", ks=(1, 2, 20), draws=2)
    assert [len(draw.bank) for draw in ablation.draws] == [5000, 5000]
    assert ablation.ks == (1, 2, 20)
    draw = ablation.draws[0]
    outputs = many(12_000)
    expected = KNN(k=2).fit(outputs.select(draw.bank))(draw.outputs)
    np.testing.assert_allclose(draw.confidence(2), expected, atol=1e-12)
    assert not set(draw.outputs.ids.tolist()) & set(outputs.ids[draw.bank].tolist())
    assert 4_500 < len(draw.outputs) < 5_500  # of the 7,000 others
    few = ablate("few", many(600), bank="large", ks=(1, 2), draws=2)
    assert [len(draw.bank) for draw in few.draws] == [300, 300]


def many(n):
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(n, 3)), rng.integers(2, size=n)
    return Outputs(logits=x[:, :2], labels=labels, features=x, weight=np.eye(2, 3), bias=np.zeros(2), ids=np.arange(n))


def test_a_difference_is_the_mean_over_draws_with_both_errors(ablation):
    each = [
        compare(draw.confidence(20), draw.confidence(1), draw.outputs.errors, ids=draw.outputs.ids)
        for draw in ablation.draws
    ]
    difference = ablation.difference(20, 1)
    assert difference.mean == pytest.approx(np.mean([item.difference for item in each]))
    between = np.var([item.difference for item in each], ddof=1) / 2
    assert difference.se == pytest.approx(np.sqrt(np.mean([item.se**2 for item in each]) + between))


def test_many_neighbours_of_a_small_bank_are_of_other_classes(ablation):
    assert knn_ablation.sensitive(ablation).outcome == "held"
    assert ablation.worst in (10, 20)


def made(noise, seed=0):
    """Two clusters whose mistakes lie outside of them; with much noise nothing tells mistakes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=2000)
    wrong = rng.random(2000) < 0.2
    x = 5 * np.eye(2)[labels] + rng.normal(scale=0.3 + noise, size=(2000, 2)) + 4 * wrong[:, None] * rng.normal(size=2)
    z = np.eye(2)[np.where(wrong, 1 - labels, labels)] + 1.0
    return Outputs(logits=z, labels=labels, features=x, weight=np.eye(2), bias=np.zeros(2))


def test_verdicts_turn_with_the_data():
    blurred = ablate("blurred", made(noise=30.0), ks=(1, 2), draws=2)
    assert knn_ablation.sensitive(blurred).outcome == "undecided"


@pytest.mark.parametrize(
    ("share", "error", "outcome"),
    [(0.5, 0.05, "held"), (0.05, 0.005, "not held"), (0.2, 0.1, "undecided"), (0.08, 0.1, "undecided")],
)
def test_sensitivity_is_a_tenth_of_the_lowest_area(share, error, outcome, ablation, monkeypatch):
    low = np.mean(ablation.areas[ablation.best])
    monkeypatch.setattr(Ablation, "difference", lambda *_: Mean(share * low, error * low))
    assert knn_ablation.sensitive(ablation).outcome == outcome


@pytest.mark.parametrize(
    ("differences", "outcome"),
    [
        ({1: (0.5, 0.1), 10: (3.0, 0.1)}, "held"),
        ({1: (0.5, 0.4), 10: (3.0, 0.1)}, "undecided"),
        ({1: (-0.5, 0.4), 10: (3.0, 0.1)}, "undecided"),
        ({1: (-0.5, 0.1), 10: (3.0, 0.1)}, "not held"),
        ({1: (-0.21, 0.1), 10: (3.0, 0.1)}, "undecided"),  # 2.1 errors, one of two comparisons
        ({1: (-0.3, 0.2), 10: (-0.29, 0.1)}, "not held"),  # another than the closest is clear
    ],
)
def test_the_verdict_on_two_follows_the_differences(differences, outcome, ablation, monkeypatch):
    monkeypatch.setattr(Ablation, "difference", lambda _, k, __: Mean(*differences[k]))
    chosen = replace(ablation, ks=(1, 2, 10))
    assert knn_ablation.best_is_two(chosen).outcome == outcome


def test_many_models_are_drawn_in_bands_of_four(ablation):
    pytest.importorskip("matplotlib")
    figure = ablation_figure([ablation] * 6, [ablation] * 6)
    assert len(figure.axes) == 12
    assert len({round(axes.get_position().x0, 3) for axes in figure.axes}) == 4


def test_outputs_of_other_experiments_take_part(weak, tmp_path, monkeypatch):
    weak.save(tmp_path / "other" / "outputs")
    monkeypatch.setattr(knn_ablation, "ablate", partial(ablate, ks=(1, 2), draws=2))
    findings = knn_ablation.run(Setting(folder=tmp_path / "knn-ablation"))
    assert [row[0] for row in findings.tables[0].rows] == ["digits", "other"]
    assert len(findings.figures["knn-ablation"]().axes) == 4
