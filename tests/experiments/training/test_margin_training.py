import pytest

from abstain.experiments.experiment import Setting
from abstain.experiments.training import margin_training as experiment
from abstain.experiments.training.over_seeds import over_seeds

pytest.importorskip("torch")


@pytest.mark.usefixtures("image_packages")
def test_the_experiment_runs_to_its_verdicts(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "RATES", (1e30, 0.02))
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
    assert {run["rate"] for run in runs} == {0.02}
    assert set(runs[0]["testing"].values()) == {0.0}  # cross-entropy against itself
    assert runs[1]["testing"]["confidence_margin in"] > 0
    alone = over_seeds([run["hinge"] - run[base] for run in (first, second)])
    assert gain["high"] > alone.high  # the test images have their chance too
    assert "abstention all" in runs[4]["areas"]
    assert found.figures["differences"]().axes
