import numpy as np
import pytest

from abstain import Outputs
from abstain.datasets import digits
from abstain.metrics import ood_auroc
from abstain_reproduction.experiment import Setting
from abstain_reproduction.ood import ood_metrics
from abstain_reproduction.ood.contest import Contest
from abstain_reproduction.ood.search import ContestResult, clearest


def contest(detects, selects, *, n=4000, seed=0):
    """A contest in which the detector knows unknown samples, or mistakes, as well as told."""
    rng = np.random.default_rng(seed)
    unknown, wrong = rng.random(n) < 0.1, rng.random(n) < 0.2
    labels = np.where(unknown, -1, np.where(wrong, 1, 0))
    outputs = Outputs(logits=np.tile([2.0, 0.0], (n, 1)), labels=labels, shift=np.where(unknown, "label", "none"))
    selection = rng.normal(size=n) - 2 * (wrong | unknown)
    detector = rng.normal(size=n) - detects * unknown - selects * wrong
    return Contest(outputs, "confidence_margin", "vim", {"confidence_margin": selection, "vim": detector})


@pytest.mark.parametrize(("detects", "selects", "outcome"), [(4, 0, "held"), (0, 0, "undecided"), (4, 4, "undecided")])
def test_a_claim_holds_only_where_detector_wins_one_and_loses_the_other(detects, selects, outcome):
    result = contest(detects, selects)
    assert ood_metrics.weaker(ContestResult("made", result, result)).outcome == outcome


@pytest.mark.parametrize(("selects", "outcome"), [(-1, "held"), (3, "not held")])
def test_whether_risk_rises_is_measured(selects, outcome):
    result = contest(4, selects)
    assert ood_metrics.blind(ContestResult("made", result, result)).outcome == outcome


def test_detection_is_of_known_against_unknown():
    result = contest(2, 0)
    c = result.confidence["vim"]
    assert result.detection("vim")[0] == ood_auroc(c[~result.unknown], c[result.unknown])


def test_what_is_measured_was_not_seen_by_the_choice():
    outputs = digits()
    outputs = outputs.select(outputs.shift != "covariate")
    result = clearest(outputs, "digits", detectors=("energy", "max_logit"))
    chosen, measured = (set(part.outputs.ids) for part in (result.chosen, result.measured))
    assert not chosen & measured
    assert len(chosen | measured) == len(outputs)


def test_outputs_of_other_experiments_take_part_where_they_serve(tmp_path, monkeypatch):
    some = digits()
    some.save(tmp_path / "other" / "outputs")
    some.select(some.shift == "none").save(tmp_path / "known" / "outputs")  # nothing to detect
    asked = []

    def only_asked(outputs, name, **_):
        asked.append(name)
        return clearest(outputs, name, detectors=("energy",))

    monkeypatch.setattr(ood_metrics, "clearest", only_asked)
    ood_metrics.run(Setting(folder=tmp_path / "ood"))
    assert asked == ["digits", "other"]
    monkeypatch.setattr(ood_metrics, "FEATURES", some.features.shape[1] - 1)
    ood_metrics.run(Setting(folder=tmp_path / "ood"))
    assert asked[2:] == ["digits"]


def test_nothing_is_trained_so_that_every_machine_finds_the_same(tmp_path, monkeypatch):
    def train(*_, **__):
        raise AssertionError("a network was trained")

    monkeypatch.setattr("sklearn.neural_network.MLPClassifier.fit", train)
    monkeypatch.setattr("sklearn.neural_network.MLPClassifier.partial_fit", train)
    findings = ood_metrics.run(Setting(folder=tmp_path / "ood"))
    assert [verdict.outcome for verdict in findings.verdicts] == ["undecided", "not held"]
    assert len(findings.figures["ood-metrics"]().axes) == 6
