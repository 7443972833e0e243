import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from abstain.sklearn import SelectiveClassifier, _held_out
from abstain.thresholds import NoSafeThresholdError


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([SelectiveClassifier(coverage=0.6), SelectiveClassifier(coverage=0.6, cv=2)])
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
        (make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=60, random_state=0)), "fdbd"),
        (RandomForestClassifier(50, random_state=0), "max_softmax"),
        (SVC(decision_function_shape="ovr"), "confidence_margin"),
    ],
)
def test_accepted_answers_are_better(estimator, score):
    X, y = DATA
    selective = SelectiveClassifier(estimator, confidence=score, coverage=0.6).fit(X[:3000], y[:3000])
    wrong, accepted = selective.predict(X[3000:]) != y[3000:], selective.accepts(X[3000:])
    assert 0.5 < accepted.mean() < 0.8
    assert wrong[accepted].mean() < 0.9 * wrong[~accepted].mean()


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
    assert selective.selector_.threshold.words.startswith("no finite-sample guarantee")
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
    outputs = selective._out_of_fold(X[:600], y[:600], y[:600], 0)
    assert 0.1 < outputs.errors.mean() < 0.5
    assert (RandomForestClassifier(30, random_state=0).fit(X[:600], y[:600]).predict(X[:600]) == y[:600]).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "`cv` must be a splitter or from 2 to the size of the smallest class"),
        ({"cv": 3, "confidence": "nope"}, "`confidence` must be a known score, got 'nope'"),
        ({"cv": ShuffleSplit(3)}, "`cv` must hold out every sample once"),
        ({"cv": 5, "confidence": "knn"}, "score of the logits alone with `cv`"),
    ],
)
def test_cross_fitting_that_cannot_be_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(LogisticRegression(), coverage=0.6, **options).fit(*DATA)


def test_no_sample_is_both_trained_and_calibrated_on():
    for labels in (np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 2], [60, 39, 1]), np.array([0, 0, 0, 0, 1, 1])):
        training, held = _held_out(labels, 0.3, 0)
        assert not set(training) & set(held)
        assert len(training) + len(held) == len(labels)
        assert set(labels[training]) == set(labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel="linear"),
        NuSVC(kernel="linear"),
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
        SVC(),
        SVC(probability=True),
        NearestCentroid(),
        LogisticRegression(class_weight={1: 50.0, 2: 1.0}),
        HistGradientBoostingClassifier(max_iter=20),
    ],
)
@pytest.mark.parametrize("cv", [None, 3])
def test_answers_are_the_classifiers_own_and_only_those_are_certified(estimator, cv):
    X, y = DATA[0], DATA[1] + 1
    selective = SelectiveClassifier(estimator, confidence="max_softmax", coverage=0.3, cv=cv).fit(X[:1500], y[:1500])
    np.testing.assert_array_equal(selective.predict(X), selective.estimator_.predict(X))
    if cv:
        np.testing.assert_array_equal(selective.predict(X), clone(estimator).fit(X[:1500], y[:1500]).predict(X))
    accepted, wrong = selective.accepts(X[1500:]), selective.predict(X[1500:]) != y[1500:]
    assert accepted.mean() > 0.2
    assert wrong[accepted].mean() < wrong.mean() + 0.02


def test_a_tuned_threshold_is_kept_and_what_it_overrules_is_never_accepted():
    X, y = make_classification(3000, 10, flip_y=0.1, random_state=0)
    estimator = FixedThresholdClassifier(LogisticRegression(), threshold=0.7, response_method="predict_proba")
    selective = SelectiveClassifier(estimator, confidence="max_softmax", coverage=0.5).fit(X, y)
    np.testing.assert_array_equal(selective.predict(X), selective.estimator_.predict(X))
    p = selective.estimator_.predict_proba(X)[:, 1]
    overruled = (p > 0.5) & (p < 0.7)
    assert overruled.any()
    assert not selective.accepts(X)[overruled].any()


def test_one_vs_one_values_are_refused():
    pairs = SVC(decision_function_shape="ovo")
    for estimator in (pairs, make_pipeline(make_pipeline(pairs)), GridSearchCV(pairs, {"C": [1.0]}, cv=2)):
        with pytest.raises(ValueError, match="must have a decision value a class, got one-vs-one"):
            SelectiveClassifier(estimator, coverage=0.6).fit(DATA[0][:500], DATA[1][:500])


@pytest.mark.filterwarnings("ignore")
def test_sparse_rows_stay_sparse_where_they_can():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=900)
    texts = [f"{'good' if label else 'bad'} film number {k}" for k, label in enumerate(y)]
    wide = make_pipeline(HashingVectorizer(), LogisticRegression())  # a million columns
    assert SelectiveClassifier(wide, confidence="max_softmax", coverage=0.6).fit(texts, y).accepts(texts).mean() > 0.5
    X = scipy.sparse.csr_matrix(rng.normal(size=(900, 5)) + y[:, None])
    for estimator in (SVC(kernel="linear"), MLPClassifier((8,), max_iter=30, random_state=0)):
        for score in ("confidence_margin", "knn"):
            selective = SelectiveClassifier(estimator, confidence=score, coverage=0.6).fit(X, y)
            assert selective.accepts(X).mean() > 0.4


@pytest.mark.filterwarnings("ignore")
def test_it_takes_what_its_classifier_takes():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    texts = [
        ("good fine nice" if label else "bad poor dull").split()[k] + " film"
        for label, k in zip(y, rng.integers(3, size=600), strict=True)
    ]
    table = pandas.DataFrame(
        {"size": rng.normal(size=600) + 2 * y, "kind": np.where(rng.random(600) < 0.8, y, 1 - y).astype(str)}
    )
    holes = np.where(rng.random((600, 3)) < 0.1, np.nan, rng.normal(size=(600, 3)) + y[:, None])
    by_name = ColumnTransformer([("n", StandardScaler(), ["size"]), ("c", OneHotEncoder(), ["kind"])])
    for X, estimator in (
        (texts, make_pipeline(TfidfVectorizer(), LogisticRegression())),
        (table, make_pipeline(by_name, LogisticRegression())),
        (holes, make_pipeline(SimpleImputer(), LogisticRegression())),
        (holes, HistGradientBoostingClassifier(max_iter=20)),
        (scipy.sparse.csr_matrix(np.nan_to_num(holes)), LogisticRegression()),
    ):
        for options in ({}, {"cv": StratifiedKFold(3)}):
            names = np.array(["ham", "spam"])[y]
            selective = SelectiveClassifier(estimator, coverage=0.5, random_state=None, **options).fit(X, names)
            assert set(selective.predict_selective(X)) <= {"ham", "spam", None}
            assert selective.accepts(X).mean() > 0.4


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
        SelectiveClassifier(LogisticRegression(), risk=0.02).fit(X[:600], y[:600])
    with pytest.raises(ValueError, match=r"`risk` must be in reach: 0.0001 with delta=0.05 needs at least 29956 rows"):
        SelectiveClassifier(LogisticRegression(), risk=0.0001).fit(X[:300], y[:300])
