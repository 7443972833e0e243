"""`learned` from confidences of others alone: the story of answers with three signals, missing values, order."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from abstain import Outputs, Selector, calibrate, evaluate
from abstain.evaluation import verdict
from abstain.scores import LEARNED
from abstain.scores.fitting_draw import rows_to_fit
from abstain.scores.logistic import fit_logistic, log_losses
from abstain.thresholds import NoSafeThresholdError


def story(seed, n=2000):
    """Answers with a mean token log-probability, the agreement of 5 samples and the score of a judge."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=n)
    right = rng.random(n) < 1 / (1 + np.exp(-(0.5 + 1.3 * skill)))
    agreeing = 1 / (1 + np.exp(-(0.4 + 0.8 * skill + 0.5 * right + 0.8 * rng.normal(size=n))))
    signals = {
        "logprob": -np.exp(-0.35 * skill - 0.25 * right + 0.6 * rng.normal(size=n) - 1),
        "agreement": rng.binomial(5, agreeing) / 5,
        "judge": np.clip(np.round(6 + 1.2 * skill + 1.2 * right + 2 * rng.normal(size=n)), 1, 10),
    }
    return Outputs(confidences=signals, errors=~right)


def accepted(outputs, score, risk=0.2):
    try:
        threshold = calibrate(outputs, score=score, risk=risk).threshold
    except NoSafeThresholdError:
        return 0.0
    return threshold.accepted / threshold.n


def by_hand(outputs):
    """A logistic regression of scikit-learn, fitted on the rows that `learned` is fitted on, certified on the rest."""
    drawn = rows_to_fit(outputs, seed=0, share=LEARNED.fitting_share)
    model = LogisticRegression().fit(outputs.confidences[drawn], ~outputs.errors[drawn])
    log_odds = model.decision_function(outputs.confidences[~drawn])
    return accepted(Outputs(confidences={"hand": log_odds}, errors=outputs.errors[~drawn]), "hand")


def test_it_certifies_what_a_regression_made_by_hand_certifies_and_far_more_than_a_single_signal():
    runs = [story(seed) for seed in range(6)]
    learned = np.mean([accepted(run, "learned") for run in runs])
    single = np.mean([max(accepted(run, name) for name in run.confidence_names) for run in runs])
    assert learned > np.mean([by_hand(run) for run in runs]) - 0.005
    assert learned > single + 0.15


def test_the_summary_reports_the_improvement_and_evaluate_that_combining_would_pay():
    outputs = story(0)
    assert "points more than" in calibrate(outputs, score="learned", risk=0.2).summary()
    assert "A learned score would pay" in verdict(evaluate(outputs)).words
    noise = Outputs(
        confidences={"a": outputs.confidence("judge"), "b": np.random.default_rng(0).random(2000)},
        errors=outputs.errors,
    )
    assert "would pay" not in verdict(evaluate(noise)).words


def without_judge(outputs, rows):
    signals = {name: outputs.confidence(name).copy() for name in outputs.confidence_names}
    signals["judge"][rows] = np.nan
    return Outputs(confidences=signals, errors=outputs.errors)


def test_missing_values_are_said_and_their_rows_are_used():
    outputs = story(1)
    some = without_judge(outputs, np.random.default_rng(0).random(2000) < 0.3)
    two = Outputs(
        confidences={name: outputs.confidence(name) for name in ("logprob", "agreement")}, errors=outputs.errors
    )
    assert accepted(two, "learned") + 0.03 < accepted(some, "learned")
    evaluation = evaluate(some)
    assert any("judge is missing in" in note for note in evaluation.notes)
    assert "only learned takes missing values" in evaluation.left_out["judge"]


def test_a_missing_value_that_says_something_has_an_offset_of_its_own():
    outputs = story(2)
    rng = np.random.default_rng(0)
    fitted = LEARNED.fit(without_judge(outputs, outputs.errors & (rng.random(2000) < 0.7)))
    assert fitted.missing_offsets[fitted.names.index("judge")] < -1
    assert (fitted.weights[1:] >= 0).all()


def test_a_single_signal_refuses_missing_values_and_names_learned():
    some = without_judge(story(3), np.arange(20))
    with pytest.raises(ValueError, match=r"no judge in 20 of 2,000 rows: only learned takes missing values"):
        calibrate(some, score="judge", risk=0.2)


def test_a_row_without_any_signal_is_refused_or_never_accepted():
    signals = {"a": np.r_[np.linspace(0, 1, 500), np.nan], "b": np.r_[np.linspace(1, 2, 500), np.nan]}
    with pytest.raises(ValueError, match="must not be NaN, got 1 of 501 rows, first row 500"):
        Outputs(confidences=signals, errors=np.zeros(501))
    errors = np.r_[np.arange(500) < 100, False]
    outputs = Outputs(confidences=signals, errors=errors, nonfinite="reject")
    selector = calibrate(outputs, score="learned", risk=0.1)
    assert selector.accepts(outputs)[:500].any()
    assert not selector.accepts(outputs)[500]
    only_others = Outputs(confidences=signals | {"c": np.ones(501)})
    assert not selector.accepts(only_others)[500]


def test_neither_the_order_of_rows_nor_that_of_signals_matters():
    outputs = without_judge(story(4), np.arange(100))
    order = np.random.default_rng(1).permutation(2000)
    names = ("judge", "logprob", "agreement")
    other = Outputs(confidences={name: outputs.confidence(name)[order] for name in names}, errors=outputs.errors[order])
    single, two = LEARNED.fit(outputs), LEARNED.fit(other)
    np.testing.assert_allclose(single(outputs)[order], two(other), rtol=1e-9)


def test_the_selector_survives_its_file(tmp_path):
    outputs = without_judge(story(5), np.arange(100))
    selector = calibrate(outputs, score="learned", risk=0.2)
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    np.testing.assert_array_equal(again.accepts(outputs), selector.accepts(outputs))
    with pytest.raises(ValueError, match="must have the confidence 'agreement'"):
        again.accepts(Outputs(confidences={"judge": [1.0], "logprob": [1.0]}))


def test_a_signal_may_have_the_name_of_a_score():
    outputs = story(7)
    signals = {"energy": outputs.confidence("judge"), "knn": outputs.confidence("logprob")}
    selector = calibrate(Outputs(confidences=signals, errors=outputs.errors), score="learned", risk=0.3)
    assert not selector.needs_features
    assert set(selector.fitted.families) == {"given"}


def test_it_learns_from_graded_losses():
    outputs = story(6)
    rng = np.random.default_rng(0)
    losses = np.clip(outputs.errors * rng.random(2000) * 1.2 + 0.05 * rng.random(2000), 0, 1)
    graded = Outputs(confidences=dict(zip(outputs.confidence_names, outputs.confidences.T, strict=True)), losses=losses)
    fitted = LEARNED.fit(graded)
    confidence = fitted(graded)
    assert np.corrcoef(confidence, losses)[0, 1] < -0.2


def test_the_regression_of_shares_is_the_lowest_log_loss():
    rng = np.random.default_rng(0)
    columns, right = rng.normal(size=(80, 2)), rng.random(80)

    def objective(b):
        return log_losses(b[0] + columns @ b[1:], right).sum() + 0.5 * (b[1:] ** 2).sum()

    np.testing.assert_allclose(fit_logistic(columns, right, ridge=1.0), minimize(objective, np.zeros(3)).x, atol=1e-4)
    p = 1 / (1 + np.exp(-columns[:, 0]))
    np.testing.assert_allclose(log_losses(columns[:, 0], right), -right * np.log(p) - (1 - right) * np.log1p(-p))
