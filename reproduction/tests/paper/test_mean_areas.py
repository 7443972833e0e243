import numpy as np
import pytest
from scipy import stats

import abstain
from abstain_reproduction.paper.areas import FULL, EvaluatedAreas, Term
from abstain_reproduction.paper.mean_areas import MeanAreas
from abstain_reproduction.paper.score_claims import score_claims

TERMS = (Term(1, "energy", 1.0), Term(-1, "max_logit", 1.0))


def drawn(*lucky, n=2000):
    """The same rows and errors in each draw; energy is better than the largest logit by as much as told, or worse."""
    rng = np.random.default_rng(0)
    errors = rng.random(n) < 0.3
    noise, shared = rng.normal(size=(2, n))
    return [
        abstain.evaluate(
            abstain.Outputs(
                confidences={"energy": noise - gain * errors, "max_logit": noise + 0.1 * shared - errors}, errors=errors
            ),
            scores=["energy", "max_logit"],
        )
        for gain in lucky
    ]


def test_a_contrast_is_the_mean_with_chance_of_rows_and_of_draws():
    evaluations = drawn(1.0, 1.2, 1.5)
    each = [EvaluatedAreas(item).contrast(TERMS, "in", outside=0.05) for item in evaluations]
    contrast = MeanAreas(evaluations).contrast(TERMS, "in", outside=0.05)
    values = [item.value for item in each]
    assert contrast.value == pytest.approx(np.mean(values))
    assert contrast.spread == pytest.approx(np.std(values, ddof=1))
    rows = np.mean([item.high - item.value for item in each])
    assert contrast.high == pytest.approx(contrast.value + np.hypot(rows, stats.t.ppf(0.975, 2) * stats.sem(values)))


def test_draws_that_agree_leave_the_interval_of_the_rows():
    evaluations = drawn(1.2, 1.2)
    single, several = (
        areas.contrast(TERMS, "in", outside=0.01) for areas in (EvaluatedAreas(evaluations[0]), MeanAreas(evaluations))
    )
    assert (several.low, several.high) == pytest.approx((single.low, single.high))


def test_a_lucky_first_draw_decides_nothing():
    """The first draw alone says that the largest logit is worse, which the other four do not bear out."""
    evaluations = drawn(3.0, 0.2, 1.0, 0.1, 1.0)
    first = EvaluatedAreas(evaluations[0]).contrast(TERMS, "in", outside=0.05)
    contrast = MeanAreas(evaluations).contrast(TERMS, "in", outside=0.05)
    assert first.high < 0
    assert contrast.low < 0 < contrast.high


def test_the_risk_at_full_coverage_is_the_share_of_errors():
    evaluation = drawn(1.0)[0]
    assert EvaluatedAreas(evaluation).area(FULL, "in", 0.1) == pytest.approx(evaluation.outputs.errors.mean())


def test_verdicts_tell_the_spread_over_draws():
    rng = np.random.default_rng(1)
    errors = rng.random(500) < 0.3
    given = {name: rng.normal(size=500) - errors for name in ("doctor", "max_softmax")}
    evaluation = abstain.evaluate(abstain.Outputs(confidences=given, errors=errors), scores=list(given))
    (verdict,) = score_claims([evaluation, evaluation], data="made")
    assert "± 0.00 [" in verdict.evidence
    assert "mean ± standard deviation over 2 draws of rows to fit on" in verdict.evidence


def test_the_geometric_margin_of_claims_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    logits, weight = rng.normal(size=(300, 4)), np.diag([0.2, 1, 2, 5])
    outputs = abstain.Outputs(logits=logits, labels=rng.integers(4, size=300), weight=weight)
    both = abstain.evaluate(outputs, scores=["geometric_margin", "geometric_margin(form=top_two)"])
    signed, literal = (both.row(name, "in", 1.0).aurc for name in both.scores)
    assert signed != literal
    assert EvaluatedAreas(both).area("geometric_margin", "in", 1.0) == literal
    alone = abstain.evaluate(outputs, scores=["geometric_margin"])
    assert EvaluatedAreas(alone).area("geometric_margin", "in", 1.0) == signed
