"""Inputs at the edge: each a defined result or one clear error."""

import numpy as np
import pytest

from abstain import Outputs
from abstain.scores import (
    ASH,
    CTM,
    DICE,
    FDBD,
    KNN,
    NCI,
    PCA,
    RMDS,
    SCALE,
    SCORES,
    SHE,
    SIRC,
    CannotFitError,
    DeltaKNN,
    DeltaMDS,
    FeatureNorm,
    KLMatching,
    MarginMix,
    NNGuide,
    ReAct,
    Residual,
    ViM,
    from_state,
    max_logit_pnorm,
    pairwise_margin,
    to_state,
)


def make(n=40, k=3, d=5, seed=0, features=None, weight=None):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) if features is None else features
    w = rng.normal(size=(k, x.shape[1])) if weight is None else weight
    z = x @ w.T
    labels = np.where(np.arange(n) % 4 > 0, z.argmax(1), (z.argmax(1) + 1) % k)
    return Outputs(logits=z, labels=labels, features=x, weight=w, bias=np.zeros(k))


every_score = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)


@every_score
@pytest.mark.parametrize(
    ("calibration", "outputs"),
    [
        (make(n=12, d=30), make(n=6, d=30, seed=1)),
        (make(d=1), make(n=6, d=1, seed=1)),
        (make(k=2), make(n=6, k=2, seed=1)),
        (make().select([0, 1, 2, 3, *np.flatnonzero(make().errors)[:2]] * 6), make(n=6, seed=1)),
        (make(n=12), make(n=12)),
    ],
    ids=["fewer rows than dimensions", "one feature", "two classes", "duplicate rows", "the calibration sample itself"],
)
def test_result_is_finite(score, calibration, outputs):
    confidence = score.fit(calibration)(outputs)
    assert np.isfinite(confidence).all()


def reason_or_finite(score, calibration, outputs):
    """Why there is no result, or None if it is finite."""
    try:
        confidence = score.fit(calibration)(outputs)
    except ValueError as error:
        return str(error)
    assert np.isfinite(confidence).all()
    return None


@every_score
def test_constant_features_give_a_result_or_say_why_not(score):
    reason = reason_or_finite(score, make(features=np.ones((40, 5))), make(n=6, seed=1))
    assert reason is None or "fitting sample" in reason


@every_score
def test_zero_weight_rows_give_a_result_or_say_why_not(score):
    weight = np.random.default_rng(3).normal(size=(3, 5))
    weight[1] = 0
    reason = reason_or_finite(score, make(weight=weight), make(n=6, seed=1, weight=weight))
    if score.name == "geometric_margin":
        assert "norm zero" in reason
        assert score.objection(make(weight=weight)) == "a weight of norm zero at class 1"
    else:
        assert reason is None


@every_score
def test_a_class_absent_from_calibration_is_passed_over(score):
    full = make(n=60)
    calibration = full.select((full.labels != 2) & (full.predictions != 2))
    assert np.isfinite(score.fit(calibration)(full)).all()


@pytest.mark.parametrize(
    ("fitter", "message"),
    [
        (KNN(k=50), "40 rows, too few for neighbour 50"),
        (NNGuide(k=50), "40 rows, fewer than 50 neighbours"),
        (ViM(dim=4), "lies in the principal subspace"),
    ],
)
def test_too_small_samples(fitter, message):
    rank_two = np.random.default_rng(0).normal(size=(40, 2)) @ np.random.default_rng(1).normal(size=(2, 5))
    with pytest.raises(CannotFitError, match=message):
        fitter.fit(make(features=rank_two))


@pytest.mark.parametrize("fitter", [DeltaKNN(), DeltaMDS(), MarginMix(DeltaKNN())])
def test_right_and_wrong_samples_are_needed(fitter):
    o = make()
    with pytest.raises(CannotFitError, match="no wrong prediction"):
        fitter.fit(o.select(~o.errors))
    with pytest.raises(CannotFitError, match="no correct prediction"):
        fitter.fit(o.select(o.errors))


def test_other_samples_that_cannot_be_fitted():
    o = make()
    with pytest.raises(CannotFitError, match="no labelled rows of known classes"):
        RMDS().fit(Outputs(logits=o.logits, features=o.features, labels=np.full(len(o), -1)))
    with pytest.raises(CannotFitError, match="a secondary score is constant"):
        SIRC((KNN(k=1),)).fit(make(features=np.tile(np.eye(5), (8, 1))))
    with pytest.raises(CannotFitError, match="the head has the same weight for every class"):
        FDBD().fit(make(weight=np.ones((3, 5))))
    one_wrong = [*np.flatnonzero(~o.errors), np.argmax(o.errors)]
    with pytest.raises(CannotFitError, match="fewer than 2 distinct right or 2 distinct wrong"):
        MarginMix(DeltaKNN()).fit(o.select(one_wrong))
    with pytest.raises(CannotFitError, match="fewer than 2 distinct right or 2 distinct wrong"):
        MarginMix(DeltaKNN()).fit(o.select([*one_wrong, one_wrong[-1]]))  # a copy of it
    with pytest.raises(CannotFitError, match="fitting sample has no labels"):
        SCORES["rmds"].fit(Outputs(logits=o.logits, features=o.features))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KNN(k=0).fit(make()), "`k` must be at least 1"),
        (lambda: KNN(space="pixels").fit(make()), "`space` must be 'features' or 'logits'"),
        (lambda: Residual(dim=5).fit(make()), r"`dim` must be at least 0 and below the number of features \(5\)"),
        (lambda: ReAct(quantile=0).fit(make()), "`quantile` must be above 0"),
        (lambda: ASH(pruned=1), "`pruned` must be between 0 and 0.99, got 1"),
        (lambda: SCALE(pruned=-0.1), "`pruned` must be between 0 and 0.99, got -0.1"),
        (lambda: DICE(pruned=1.0), "`pruned` must be at least 0 and below 1, got 1.0"),
        (lambda: PCA(variance=0), "`variance` must be above 0 and at most 1, got 0"),
        (lambda: ASH()(Outputs(logits=np.ones((5, 2)), features=np.ones((5, 2)))), "must have a head for this score"),
        (lambda: max_logit_pnorm(np.ones((1, 2)), p=-1), "`p` must be at least 0"),
        (lambda: KNN().fit(Outputs(logits=np.ones((5, 2)))), "must have features for this score"),
        (lambda: Residual().fit(Outputs(logits=np.ones((5, 2)))), "must have a head for this score"),
        (lambda: pairwise_margin(np.ones((1, 2)), np.ones((2, 3))), "`weight` must have rows that differ"),
        (
            lambda: KNN(space="logits").fit(Outputs(logits=[[1.0, -np.inf], [0.0, 1.0]])),
            "must be finite for neighbours in logit space",
        ),
    ],
)
def test_bad_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_samples_that_further_scores_cannot_be_fitted_on():
    o = make()
    with pytest.raises(CannotFitError, match="40 rows has no correct prediction"):
        SHE().fit(Outputs(logits=o.logits, features=o.features, labels=np.full(len(o), -1)))
    with pytest.raises(CannotFitError, match="no labelled rows of known classes"):
        CTM().fit(Outputs(logits=o.logits, features=o.features, labels=np.full(len(o), -1)))
    with pytest.raises(CannotFitError, match="largest contributions to the logits of the fitting sample are all the"):
        DICE().fit(make(features=np.ones((40, 5)), weight=np.ones((3, 5))))
    with pytest.raises(CannotFitError, match="features of the fitting sample do not vary"):
        PCA().fit(make(features=np.full((40, 5), 0.1)))
    with pytest.raises(CannotFitError, match="head that geometric_margin would look at has a weight of norm zero"):
        DICE(pruned=0.95, score=SCORES["geometric_margin"]).fit(o)


def test_features_below_zero_are_scaled_down_to_nothing():
    """The sum of the top features goes below zero only after the factor has gone to zero."""
    o = make()
    x = np.full((4, 5), -1.0)
    x[0, 0], x[1, 0], x[2, 0] = 1.0, 1e-9, 0.0
    bad = Outputs(logits=x @ o.weight.T, features=x, weight=o.weight, bias=o.bias)
    for score in (ASH(pruned=0.8), SCALE(pruned=0.8)):
        result = score(bad)
        assert result[0] != pytest.approx(np.log(3), abs=1e-3)
        np.testing.assert_allclose(result[1:], np.log(3), atol=1e-12)  # the energy of a bias of zeros


def test_a_zero_feature_row_has_a_defined_score():
    o = make()
    zero = Outputs(logits=np.zeros((1, 3)), features=np.zeros((1, 5)), weight=o.weight, bias=o.bias)
    for score in (ASH(), SCALE()):
        assert score(zero)[0] == pytest.approx(np.log(3))
    assert CTM().fit(o)(zero)[0] == SHE().fit(o)(zero)[0] == FeatureNorm()(zero)[0] == 0
    mean = o.features.mean(0, keepdims=True)
    at_the_mean = Outputs(logits=mean @ o.weight.T, features=mean, weight=o.weight, bias=o.bias)
    assert abs(NCI().fit(o)(at_the_mean)[0]) < 0.01


def test_a_masked_class_has_no_part_in_the_divergence():
    z = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    masked = np.where(np.arange(3) == 2, -np.inf, z)
    without = KLMatching().fit(Outputs(logits=z[:, :2]))(Outputs(logits=[[1.0, 0.5]]))
    result = KLMatching().fit(Outputs(logits=masked))(Outputs(logits=[[1.0, 0.5, -np.inf], [1.0, 0.5, 0.0]]))
    assert result[0] == pytest.approx(without[0])
    assert result[1] < -100  # a class that no fitting sample had


def test_one_class_in_the_fitting_sample_is_enough_for_typical_features():
    o = make(n=60)
    single = o.select((o.labels == 1) & (o.predictions == 1))
    for score in (CTM(), SHE(), KLMatching()):
        assert len(np.unique(score.fit(single)(o))) == len(o)


def test_temperature_needs_errors_and_vim_positive_logits():
    o = make()
    right = o.select(~o.errors)
    with pytest.raises(CannotFitError, match="no wrong prediction, so the lowest log-loss is at temperature 0"):
        SCORES["ts_max_softmax"].fit(right)
    low = Outputs(logits=o.logits - 100, features=o.features, weight=o.weight, labels=o.labels)
    with pytest.raises(CannotFitError, match="mean largest logit of the fitting sample is not above zero"):
        ViM().fit(low)


def test_the_p_norm_of_two_classes_is_constant_and_never_chosen():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 2))
    confident_errors = np.where(np.abs(z[:, 0] - z[:, 1]) > 1, z.argmin(1), z.argmax(1))
    fitted = SCORES["max_logit_pnorm"].fit(Outputs(logits=z, labels=confident_errors))
    assert fitted.p <= 0


def test_equal_weight_rows_are_passed_over():
    weight = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    result = pairwise_margin(np.array([[2.0, 2.0, 0.0]]), weight)
    assert result[0] == pytest.approx(2 / np.sqrt(2))


def test_equal_logits_have_no_norm_and_a_score_of_zero():
    assert max_logit_pnorm(np.ones((1, 4)), p=2)[0] == 0


def test_a_zero_feature_row_has_a_defined_neighbour():
    o = make()
    zero = Outputs(logits=np.zeros((1, 3)), features=np.zeros((1, 5)))
    assert KNN().fit(o)(zero)[0] == pytest.approx(-1)


def test_the_pairwise_margin_of_a_thousand_classes_stays_small():
    import tracemalloc

    rng = np.random.default_rng(0)
    z, w = rng.normal(size=(2000, 1000)).astype(np.float32), rng.normal(size=(1000, 256)).astype(np.float32)
    pairwise_margin(z[:2], w)
    tracemalloc.start()
    pairwise_margin(z, w)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6  # n × K × d float32 would be 2 GB


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"kind": "Outputs", "fields": {}},
        {"kind": "FittedKNN", "fields": {"bank": {"array": "no"}}},
        {"kind": "FittedKNN", "fields": {"nothing": 1}},
        {"kind": "KNN", "fields": {"k": 2, "space": "features"}},
        {"kind": "FittedMaxLogitPNorm", "fields": {"p": "2"}},
        {"kind": "FittedMaxLogitPNorm", "fields": {"p": {"array": "p"}}},
        3,
        [],
    ],
)
def test_foreign_headers_are_refused(header):
    with pytest.raises(ValueError, match="`header` must be that of a score"):
        from_state(header, {"p": np.zeros(1)})


def test_arrays_that_are_not_numbers_are_refused():
    header, arrays = to_state(KNN().fit(make()))
    for bad in (np.array([["a"]]), np.array([[np.nan]])):
        with pytest.raises(ValueError, match="`arrays` must hold float32 or float64 numbers"):
            from_state(header, dict.fromkeys(arrays, bad))
