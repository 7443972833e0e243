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

from abstain.sklearn import SelectiveClassifier
from abstain.thresholds import NoSafeThresholdError


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SelectiveClassifier()])
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
