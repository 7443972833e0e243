import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from abstain.sklearn import SelectiveClassifier, _held_out
from abstain.thresholds import NoSafeThresholdError


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SelectiveClassifier(), SelectiveClassifier(cv=2)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


DATA = make_classification(4000, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "score"),
    [
        (LogisticRegression(), "max_softmax"),
        (LinearSVC(multi_class="crammer_singer", max_iter=500), "geometric_margin"),
        (LinearSVC(multi_class="crammer_singer", max_iter=500), "confidence_margin"),
        (make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=60, random_state=0)), "sirc"),
        (RandomForestClassifier(50, random_state=0), "max_softmax"),
        (SVC(decision_function_shape="ovr"), "confidence_margin"),
    ],
)
def test_accepted_answers_are_better(estimator, score):
    X, y = DATA
    selective = SelectiveClassifier(estimator, confidence=score, coverage=0.6).fit(X[:3000], y[:3000])
    wrong, accepted = selective.predict(X[3000:]) != y[3000:], selective.accepts(X[3000:])
    assert 0.5 < accepted.mean() < 0.8
    assert wrong[accepted].mean() < 0.8 * wrong[~accepted].mean()


def test_the_risk_is_kept_on_fresh_data():
    X, y = load_digits(return_X_y=True)
    selective = SelectiveClassifier(MLPClassifier((32,), max_iter=300, random_state=0), risk=0.03, held_out=0.5)
    selective.fit(X[:1200], y[:1200])
    accepted = selective.accepts(X[1200:])
    wrong = selective.predict(X[1200:]) != y[1200:]
    assert accepted.mean() > 0.2
    assert wrong[accepted].mean() <= 0.03 + 3 * np.sqrt(0.03 * 0.97 / accepted.sum())


def test_cross_fitting_uses_all_data_and_says_what_that_costs():
    X, y = DATA
    selective = SelectiveClassifier(LogisticRegression(), confidence="max_softmax", risk=0.25, cv=5)
    selective.fit(X[:2000], y[:2000])
    assert selective.selector_.threshold.guarantee.startswith("no finite-sample guarantee")
    whole = LogisticRegression().fit(X[:2000], y[:2000])
    np.testing.assert_array_equal(selective.predict(X[2000:]), whole.predict(X[2000:]))
    held = SelectiveClassifier(LogisticRegression(), confidence="max_softmax", risk=0.25).fit(X[:2000], y[:2000])
    assert selective.selector_.threshold.n > 2 * held.selector_.threshold.n
    accepted, wrong = selective.accepts(X[2000:]), selective.predict(X[2000:]) != y[2000:]
    assert accepted.mean() > held.accepts(X[2000:]).mean()
    assert wrong[accepted].mean() <= 0.25 + 3 * np.sqrt(0.25 * 0.75 / accepted.sum())


def test_cross_fitting_is_out_of_fold():
    """A classifier that remembers its training data is right about all of it; out of fold it is not."""
    X, y = DATA
    selective = SelectiveClassifier(
        RandomForestClassifier(30, min_samples_leaf=1, random_state=0), confidence="max_softmax", coverage=0.5, cv=4
    )
    selective.classes_ = np.unique(y)
    outputs = selective._out_of_fold(X[:600], y[:600], 4)
    assert 0.1 < outputs.errors.mean() < 0.5
    assert (RandomForestClassifier(30, random_state=0).fit(X[:600], y[:600]).predict(X[:600]) == y[:600]).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "`cv` must be from 2 to the size of the smallest class"),
        ({"cv": 5, "confidence": "knn"}, "score of the logits alone with `cv`"),
    ],
)
def test_cross_fitting_that_cannot_be_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(LogisticRegression(), **options).fit(*DATA)


def test_no_sample_is_both_trained_and_calibrated_on():
    for labels in (np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 2], [60, 39, 1]), np.array([0, 0, 0, 0, 1, 1])):
        training, held = _held_out(labels, 0.3, 0)
        assert not set(training) & set(held)
        assert len(training) + len(held) == len(labels)
        assert set(labels[training]) == set(labels)


def test_it_abstains_with_none_and_works_in_pipelines_and_cross_validation():
    X, y = DATA
    names = np.array(["a", "b", "c"])[y]
    pipeline = make_pipeline(StandardScaler(), SelectiveClassifier(LogisticRegression(), coverage=0.5)).fit(X, names)
    answers = pipeline[-1].predict_selective(StandardScaler().fit(X).transform(X))
    assert set(answers) == {"a", "b", "c", None}
    assert cross_val_score(pipeline, X, names, cv=3).mean() > 0.5


def test_a_promise_that_cannot_be_kept_is_an_error():
    X, y = DATA
    with pytest.raises(NoSafeThresholdError, match="No threshold certifies"):
        SelectiveClassifier(LogisticRegression(), risk=0.0001).fit(X[:300], y[:300])
