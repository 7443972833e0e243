"""Model selection by how well a classifier knows when it is wrong."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from abstain import metrics
from abstain.sklearn import SelectiveClassifier, coverage_at_risk, neg_aurc, selective_accuracy

X, Y = make_classification(1500, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=0)
TRAIN, TEST = (X[:1000], Y[:1000]), (X[1000:], Y[1000:])
SELECTIVE = SelectiveClassifier(LogisticRegression(), score="max_softmax", coverage=0.5)


def safe_log(p):
    return np.log(np.maximum(p, 1e-300))


def margin(values):
    ranked = np.sort(values)
    return ranked[:, -1] - ranked[:, -2]


@pytest.mark.parametrize(
    ("estimator", "confidence"),
    [
        (RandomForestClassifier(30, random_state=0), lambda e, x: margin(safe_log(e.predict_proba(x)))),
        (LogisticRegression(), lambda e, x: margin(e.decision_function(x))),
        (SELECTIVE, lambda e, x: e.predict_proba(x).max(axis=1)),
        (make_pipeline(StandardScaler(), SELECTIVE), lambda e, x: e.predict_proba(x).max(axis=1)),
    ],
    ids=["forest", "linear", "selective", "pipeline"],
)
def test_scorers_are_the_metrics_of_the_confidence(estimator, confidence):
    values = confidence(estimator.fit(*TRAIN), TEST[0])
    wrong = estimator.predict(TEST[0]) != TEST[1]
    assert coverage_at_risk(risk=0.2)(estimator, *TEST) == metrics.coverage_at_risk(values, wrong, risk=0.2)
    result = selective_accuracy(coverage=0.5)(estimator, *TEST)
    assert result == pytest.approx(1 - metrics.risk_at_coverage(values, wrong, coverage=0.5))
    assert neg_aurc()(estimator, *TEST) == pytest.approx(-metrics.aurc(values, wrong))


def test_a_search_prefers_what_knows_its_mistakes():
    """A deep tree and a forest of them differ far more in selection than in accuracy."""
    models = {"estimator": [DecisionTreeClassifier(random_state=0), RandomForestClassifier(40, random_state=0)]}
    search = GridSearchCV(
        SelectiveClassifier(coverage=0.5, cv=3), models, scoring=coverage_at_risk(risk=0.1), cv=3, error_score="raise"
    ).fit(X, Y)
    tree, forest = search.cv_results_["mean_test_score"]
    assert forest > tree + 0.3
    assert isinstance(search.best_estimator_.estimator, RandomForestClassifier)


def test_several_scorers_go_into_one_validation():
    scorers = {"covers": coverage_at_risk(risk=0.3), "right": selective_accuracy(coverage=0.5), "area": neg_aurc()}
    result = cross_validate(LogisticRegression(), X, Y, scoring=scorers, cv=2)
    assert all((result[f"test_{name}"] != 0).all() for name in scorers)


def test_answers_against_the_favoured_class_come_last():
    x, y = make_classification(2000, 10, flip_y=0.1, random_state=0)
    tuned = FixedThresholdClassifier(LogisticRegression(), threshold=0.9, response_method="predict_proba").fit(x, y)
    p = tuned.predict_proba(x)[:, 1]
    overruled = (p > 0.5) & (p < 0.9)
    confidence = np.where(overruled, -np.inf, np.abs(p - 0.5))
    result = selective_accuracy(coverage=0.6, score="max_softmax")(tuned, x, y)
    assert result == pytest.approx(1 - metrics.risk_at_coverage(confidence, tuned.predict(x) != y, coverage=0.6))


def test_weights_weigh_the_rows():
    model, weights = LogisticRegression().fit(*TRAIN), np.where(TEST[1] == 0, 9.0, 1.0)
    wrong = model.predict(TEST[0]) != TEST[1]
    area = neg_aurc()(model, *TEST, sample_weight=weights)
    assert area == pytest.approx(-metrics.aurc(margin(model.decision_function(TEST[0])), wrong, weights=weights))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: coverage_at_risk(risk=2), ValueError, "`risk` must be between 0 and 1, got 2"),
        (lambda: coverage_at_risk(risk="low"), TypeError, "`risk` must be a number, got 'low'"),
        (lambda: selective_accuracy(coverage=0), ValueError, "`coverage` must be above 0 and at most 1, got 0"),
        (lambda: neg_aurc(score="max_sofmax"), ValueError, r"Did you mean max_softmax\?"),
        (
            lambda: neg_aurc(score="knn"),
            ValueError,
            "must be one of the logits that needs no fitting, got knn",
        ),
    ],
)
def test_scorers_that_cannot_be_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()
