import json
from dataclasses import replace

import pytest

from abstain_reproduction.experiment import Setting
from abstain_reproduction.gaussians import scale, scale_verdicts
from abstain_reproduction.gaussians.asymptotics import ratios
from abstain_reproduction.gaussians.mixture import Mixture
from abstain_reproduction.gaussians.scale_curves import ScaleCurves


@pytest.fixture(scope="module")
def curves():
    return ScaleCurves(Mixture())


def test_the_lemma_fails_for_the_entropy_alone():
    ratio = ratios([1.0, 0.3, 0.1], scale=1000.0)
    assert scale_verdicts.lemma_holds([ratio]).outcome == "not held"
    assert scale_verdicts.lemma_holds([replace(ratio, neg_entropy=ratio.corrected)]).outcome == "held"
    assert scale_verdicts.lemma_holds([replace(ratio, neg_entropy=1.0, doctor=2.0)]).outcome == "not held"


def test_the_scale_matters_and_its_limit_is_the_margin(curves):
    for verdict in (scale_verdicts.changes(curves), scale_verdicts.limit(curves), scale_verdicts.scale_claims(curves)):
        assert verdict.outcome == "held"


def test_a_score_that_no_scale_moves_turns_the_verdict(monkeypatch):
    monkeypatch.setattr(ScaleCurves, "curve", lambda self, *_: self.margin)
    still = ScaleCurves(Mixture())
    assert scale_verdicts.changes(still).outcome == "not held"
    assert scale_verdicts.scale_claims(still).outcome == "not held"


def test_the_calibrated_scale_is_best_only_where_it_was_calibrated(curves, monkeypatch):
    monkeypatch.setattr(scale_verdicts, "CALIBRATIONS", 3)
    assert scale_verdicts.canonical_scale(curves).outcome == "not held"
    assert scale_verdicts.canonical_scale(ScaleCurves(Mixture(0.5))).outcome == "held"


def test_doctor_and_max_softmax_are_one_only_at_large_scales(curves, monkeypatch):
    assert scale_verdicts.overlap(curves).outcome == "not held"
    large = ScaleCurves(Mixture())
    monkeypatch.setitem(
        large.__dict__, "at_scales", {name: {1.0: large.curve(name, 20.0)} for name in ("doctor", "max_softmax")}
    )
    assert scale_verdicts.overlap(large).outcome == "held"


def test_margins_do_not_move_with_the_scale(digits, monkeypatch):
    assert scale_verdicts.margins_invariant(digits, "digits").outcome == "held"
    monkeypatch.setattr(scale_verdicts, "confidence_margin", lambda z: z.max(axis=1) - z.max(axis=1) ** 2)
    assert scale_verdicts.margins_invariant(digits, "digits").outcome == "not held"


def test_it_is_plain_data_and_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "SAMPLE", 5000)
    monkeypatch.setattr(scale_verdicts, "CALIBRATIONS", 3)
    findings = scale.run(Setting(folder=tmp_path))
    assert {name: len(draw().axes) for name, draw in findings.figures.items()} == {"scale": 4, "aurc-over-scale": 3}
    numbers = json.loads(json.dumps(findings.numbers))
    assert numbers["posterior"] < numbers["population"]["margin"]
