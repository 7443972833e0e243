import pytest

from abstain_reproduction.experiment import Setting
from abstain_reproduction.training import scnet
from abstain_reproduction.training.selection_head import SYMBOLS

pytest.importorskip("torch")


@pytest.mark.usefixtures("image_packages")
def test_the_experiment_runs_to_its_verdicts_and_a_second_call_trains_nothing(tmp_path):
    seen = []
    setting = Setting(folder=tmp_path / "scnet", seeds=2, progress=lambda done, total: seen.append((done, total)))
    findings = scnet.run(setting)
    claims = dict.fromkeys(verdict.claim for verdict in findings.verdicts)
    assert list(claims) == ["scnet-cifar", "scnet-imagenet", "scnet-not-best"]
    assert len(findings.tables) == 6
    assert seen[-1] == (2000, 2000)
    assert {row["score"] for row in findings.numbers["rows"]} == set(SYMBOLS)
    again = len(seen)
    assert scnet.run(setting).numbers == findings.numbers
    assert len(seen) == again + 2


@pytest.mark.usefixtures("image_packages")
def test_the_long_version_learns_cifar(tmp_path, monkeypatch):
    from dataclasses import replace

    short = scnet.recipe(long=True)
    monkeypatch.setattr(scnet, "recipe", lambda **_: replace(short, options={"narrowest": 2}, epochs=1))
    findings = scnet.run(Setting(folder=tmp_path / "scnet", seeds=1, long=True, limit=60))
    assert findings.words.startswith("CIFAR-10: trained on 60 images")
