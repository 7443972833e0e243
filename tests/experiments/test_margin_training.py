import pytest

from abstain.experiments import margin_training as experiment
from abstain.experiments.experiment import Setting
from abstain.experiments.margin_of_loss import MarginOfLoss
from abstain.experiments.over_seeds import OverSeeds

pytest.importorskip("torch")


@pytest.mark.usefixtures("image_packages")
def test_the_experiment_runs_to_its_verdicts(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "RATES", (0.02,))
    monkeypatch.setattr(experiment, "EPOCHS", 2)
    found = experiment.run(Setting(folder=tmp_path / "margin-training", seeds=2))
    assert [verdict.claim for verdict in found.verdicts] == ["margin-training"] * 2 + ["cross-entropy-margin"]
    runs = found.numbers["runs"]
    assert [(run["objective"], run["seed"]) for run in runs] == [
        (name, seed) for seed in (0, 1) for name in experiment.objectives()
    ]
    first = {
        name: run["areas"]["confidence_margin in"] for name, run in zip(experiment.objectives(), runs, strict=False)
    }
    second = {
        name: run["areas"]["confidence_margin in"] for name, run in zip(experiment.objectives(), runs[6:], strict=True)
    }
    base = experiment.BASE
    gain = found.numbers["differences"]["confidence_margin in"]["hinge"]
    assert gain["mean"] == pytest.approx(
        ((first["hinge"] - first[base]) + (second["hinge"] - second[base])) / 2, abs=1e-12
    )
    assert "abstention all" in runs[4]["areas"]
    assert found.figures["differences"]().axes


def gains(*values):
    """Of the hinge loss, by margin and mix."""
    keys = [f"{score} {mix}" for score in experiment.MARGINS for mix in experiment.MIXES]
    return {key: {"hinge": OverSeeds(v, 0.001, v - 0.002, v + 0.002, 5)} for key, v in zip(keys, values, strict=True)}


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([-0.01] * 8, "held"),
        ([-0.01] * 7 + [0], "undecided"),
        ([-0.01] * 7 + [0.01], "not held"),
        ([0] * 8, "undecided"),
    ],
)
def test_better_in_every_mix_is_what_the_question_asks(values, outcome):
    assert experiment._verdict("hinge", gains(*values), "data").outcome == outcome


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        ([MarginOfLoss(0.99, 0.95, 0.5)] * 2, "held"),
        ([MarginOfLoss(0.99, 0.95, 0.5), MarginOfLoss(0.99, 0.7, 0.5)], "undecided"),
        ([MarginOfLoss(0.3, 0.95, 0.5)], "not held"),
    ],
)
def test_the_worst_seed_decides_about_cross_entropy(found, outcome):
    assert experiment._footnote(found, "data").outcome == outcome
