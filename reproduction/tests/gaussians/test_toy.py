import pytest

from abstain_reproduction.experiment import Setting
from abstain_reproduction.gaussians import cases, doubt, toy, toy_verdicts
from abstain_reproduction.gaussians.cases import COMPARED, SOFTMAX, ToyCase
from abstain_reproduction.gaussians.mixture import Mixture
from abstain_reproduction.gaussians.population import Population

OTHERS = tuple(name for name in COMPARED if name != "geometric_margin")


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch):
    monkeypatch.setattr(cases, "SAMPLE", 20_000)


def test_the_margin_is_best_until_the_perturbation_is_large():
    first, second, third = cases.cases()
    assert toy_verdicts.superior(first, "toy-case-1", OTHERS).outcome == "held"
    assert toy_verdicts.superior(second, "toy-case-2", SOFTMAX).outcome == "held"
    assert toy_verdicts.superior(third, "toy-case-2", SOFTMAX).outcome == "not held"
    assert toy_verdicts.no_longer_superior(third).outcome == "held"


def test_radii_of_softmax_scores_are_zero_only_at_small_scales(monkeypatch):
    assert toy_verdicts.zero_radii(ToyCase(1, 0.0)).outcome == "held"
    monkeypatch.setitem(COMPARED, "max_softmax", doubt.max_softmax(2.0))
    assert toy_verdicts.zero_radii(ToyCase(1, 0.0)).outcome == "not held"


@pytest.mark.parametrize("name", SOFTMAX)
def test_from_the_scale_found_on_no_radius_is_zero(name):
    scale = toy_verdicts.scale_without_zero(name, Mixture())
    before, after = (
        Population(Mixture(), doubt.SOFTMAX[name](factor * scale)).smallest_radius(0.8) for factor in (0.99, 1.01)
    )
    assert before == 0 < after


def test_the_margin_rejects_at_boundaries_and_softmax_at_the_origin(monkeypatch):
    assert toy_verdicts.rejected_where(ToyCase(1, 0.0)).outcome == "held"
    monkeypatch.setitem(COMPARED, "max_softmax", None)
    assert toy_verdicts.rejected_where(ToyCase(1, 0.0)).outcome == "not held"


def test_the_other_scores_reject_what_the_largest_softmax_rejects(monkeypatch):
    verdict = toy_verdicts.rejected_alike(ToyCase(1, 0.0))
    assert verdict.outcome == "held"
    assert "SR_ent" in verdict.evidence
    assert "RL_max" in verdict.evidence
    monkeypatch.setitem(COMPARED, "doctor", None)  # ranks by the margin
    assert toy_verdicts.rejected_alike(ToyCase(1, 0.0)).outcome == "not held"


def test_the_largest_logit_is_better_than_two_softmax_scores(monkeypatch):
    verdict = toy_verdicts.largest_logit(ToyCase(1, 0.0))
    assert verdict.outcome == "not held"
    assert "better than SR_doctor and SR_ent" in verdict.evidence
    monkeypatch.setitem(COMPARED, "max_logit", doubt.small_scale_variance())
    assert toy_verdicts.largest_logit(ToyCase(1, 0.0)).outcome == "held"


def test_figures_have_a_panel_for_each_score_and_case(tmp_path, caplog):
    findings = toy.run(Setting(folder=tmp_path))
    findings.figures["rejections"]().savefig(tmp_path / "rejections.png")
    assert not caplog.records  # Matplotlib grumbles where limits and equal scales disagree
    panels = {name: len(draw().axes) for name, draw in findings.figures.items()}
    assert panels == {"toy": 12, "rejections": 15, "heat-maps": 6}
    assert findings.tables[0].rows[0][0] == "RL_geo-M"
