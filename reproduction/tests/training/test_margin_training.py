import pytest

from abstain_reproduction.experiment import Setting
from abstain_reproduction.training import margin_training as experiment
from abstain_reproduction.training.seed_interval import seed_interval

pytest.importorskip("torch")


@pytest.mark.usefixtures("image_packages")
def test_the_experiment_runs_to_its_verdicts(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "RATES", (1e30, 0.02))
    monkeypatch.setattr(experiment, "EPOCHS", 2)
    findings = experiment.run(Setting(folder=tmp_path / "margin-training", seeds=2))
    assert [verdict.claim for verdict in findings.verdicts] == ["margin-training"] * 2 + ["cross-entropy-margin"]
    runs = findings.numbers["runs"]
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
    gain = findings.numbers["differences"]["confidence_margin in"]["hinge"]
    assert gain["mean"] == pytest.approx(
        ((first["hinge"] - first[base]) + (second["hinge"] - second[base])) / 2, abs=1e-12
    )
    assert {run["rate"] for run in runs} == {0.02}
    assert set(runs[0]["testing"].values()) == {0.0}  # cross-entropy against itself
    assert runs[1]["testing"]["confidence_margin in"] > 0
    alone = seed_interval([run["hinge"] - run[base] for run in (first, second)])
    assert gain["high"] > alone.high  # the test images have their chance too
    assert "abstention all" in runs[4]["areas"]
    assert findings.figures["differences"]().axes
