import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from abstain import Cost, Outputs, Risk, Selector, calibrate
from abstain.collect import SklearnModel
from abstain.sklearn import SelectiveClassifier, neg_aurc
from abstain.sklearn.calibration import Training, split_rows
from abstain.thresholds import NoSafeThresholdError


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        SelectiveClassifier(coverage=0.6),
        SelectiveClassifier(coverage=0.6, cv=2),
        SelectiveClassifier(RandomForestClassifier(5, random_state=0), coverage=0.6),  # several labels per row
    ],
    expected_failed_checks=lambda selective: {
        f"check_sample_weight_equivalence_on_{kind}_data": "a forest draws rows, whatever their weights"
        for kind in (("dense", "sparse") if selective.estimator is not None else ())
    },
)
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
    selective = SelectiveClassifier(estimator, score=score, coverage=0.6).fit(X[:3000], y[:3000])
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
    selective = SelectiveClassifier(LogisticRegression(), score="max_softmax", risk=0.25, cv=5)
    selective.fit(X[:2000], y[:2000])
    assert selective.selector_.threshold.words.startswith("no finite-sample guarantee")
    whole = LogisticRegression().fit(X[:2000], y[:2000])
    np.testing.assert_array_equal(selective.predict(X[2000:]), whole.predict(X[2000:]))
    held = SelectiveClassifier(LogisticRegression(), score="max_softmax", risk=0.25).fit(X[:2000], y[:2000])
    assert selective.selector_.threshold.n > 2 * held.selector_.threshold.n
    accepted, wrong = selective.accepts(X[2000:]), selective.predict(X[2000:]) != y[2000:]
    assert accepted.mean() > held.accepts(X[2000:]).mean() - 0.02
    assert wrong[accepted].mean() <= 0.25 + 3 * np.sqrt(0.25 * 0.75 / accepted.sum())


def test_cross_fitting_is_out_of_fold():
    """A classifier that remembers its training data is right about all of it; out of fold it is not."""
    X, y = DATA
    forest = RandomForestClassifier(30, min_samples_leaf=1, random_state=0)
    training = Training(forest, X[:600], y[:600], None, "max_softmax", 0)
    outputs = training.out_of_fold(4).outputs
    assert 0.1 < outputs.errors.mean() < 0.5
    assert (RandomForestClassifier(30, random_state=0).fit(X[:600], y[:600]).predict(X[:600]) == y[:600]).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "`cv` must be a splitter, splits, or from 2 to the size of the smallest class"),
        ({"cv": 3, "score": "nope"}, "`score` must be a known score, got 'nope'"),
        ({"cv": "prefitt"}, r"'prefit', got 'prefitt'. Did you mean prefit\?"),
        ({"cv": ShuffleSplit(3)}, "`cv` must hold out every sample once"),
        ({"cv": 5, "score": "knn"}, "one of the logits alone with `cv`"),
    ],
)
def test_cross_fitting_that_cannot_be_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(LogisticRegression(), coverage=0.6, **options).fit(*DATA)


def test_no_sample_is_both_trained_and_calibrated_on():
    for labels in (np.repeat([0, 1], [50, 50]), np.repeat([0, 1, 2], [60, 39, 1]), np.array([0, 0, 0, 1, 1, 1])):
        training, held = split_rows(np.zeros((len(labels), 1)), labels, 0.3, 0)
        assert not set(training) & set(held)
        assert len(training) + len(held) == len(labels)
        assert len(held) == np.ceil(0.3 * len(labels))


def test_rows_are_held_out_whatever_their_classes_and_another_way_for_other_data():
    rng, counts, first = np.random.default_rng(0), [], []
    for _ in range(300):
        labels, x = np.sort(rng.integers(2, size=100)), rng.normal(size=(100, 1))
        held = split_rows(x, labels, 0.3, 0)[1]
        counts.append(labels[held].mean() - labels.mean())
        first.append(0 in held)
    assert np.std(counts) == pytest.approx(np.sqrt(0.25 * 0.7 / 30), rel=0.2)  # 0 if every class kept its share
    assert np.mean(first) == pytest.approx(0.3, abs=0.11)  # one seed, yet no rank is always held out


def test_a_single_class_left_to_train_on_is_named():
    with pytest.raises(
        ValueError, match="`y` must leave at least 2 classes to train on, got 1 after 3 of 4 rows were held out"
    ):
        split_rows(None, np.array([0, 1, 0, 1]), 3, 0)


def long_tail(rng, n):
    """Two classes far apart, and in their midst a tenth of the rows, of classes that hardly ever come twice."""
    side = rng.integers(2, size=n)
    x = rng.normal(size=(n, 2)) + 8 * side[:, None]
    return x, np.where(rng.random(n) < 0.1, 2 + rng.integers(100_000, size=n), side)


@pytest.mark.filterwarnings("ignore")
def test_classes_that_training_lacks_are_errors_in_calibration_too():
    for run in range(4):
        rng = np.random.default_rng([run, 1])
        selective = SelectiveClassifier(KNeighborsClassifier(), risk=0.05, when_impossible="reject_all")
        selective.fit(*long_tail(rng, 1000))
        x, y = long_tail(rng, 2000)
        accepted = selective.accepts(x)
        assert not accepted.any() or (selective.predict(x) != y)[accepted].mean() <= 0.05
    assert not set(selective.classes_) >= set(y)


@pytest.mark.filterwarnings("ignore")
def test_a_risk_that_the_long_tail_allows_is_certified():
    rng = np.random.default_rng(0)
    selective = SelectiveClassifier(KNeighborsClassifier(), risk=0.2).fit(*long_tail(rng, 1000))
    x, y = long_tail(rng, 4000)
    accepted = selective.accepts(x)
    assert accepted.mean() > 0.5
    assert 0.05 < (selective.predict(x) != y)[accepted].mean() <= 0.2
    assert selective.selector_.threshold.errors > 0


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
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4),
    ],
)
@pytest.mark.parametrize("cv", [None, 3])
def test_answers_are_the_classifiers_own_and_only_those_are_certified(estimator, cv):
    X, y = DATA[0], DATA[1] + 1
    selective = SelectiveClassifier(estimator, score="max_softmax", coverage=0.3, cv=cv).fit(X[:1500], y[:1500])
    np.testing.assert_array_equal(selective.predict(X), selective.estimator_.predict(X))
    if cv:
        np.testing.assert_array_equal(selective.predict(X), clone(estimator).fit(X[:1500], y[:1500]).predict(X))
    accepted, wrong = selective.accepts(X[1500:]), selective.predict(X[1500:]) != y[1500:]
    assert accepted.mean() > 0.2
    assert wrong[accepted].mean() < wrong.mean() + 0.02


def test_a_tuned_threshold_is_kept_and_what_it_overrules_is_never_accepted():
    X, y = make_classification(3000, 10, flip_y=0.1, random_state=0)
    estimator = FixedThresholdClassifier(LogisticRegression(), threshold=0.7, response_method="predict_proba")
    selective = SelectiveClassifier(estimator, score="max_softmax", coverage=0.5).fit(X, y)
    np.testing.assert_array_equal(selective.predict(X), selective.estimator_.predict(X))
    p = selective.estimator_.predict_proba(X)[:, 1]
    overruled = (p > 0.5) & (p < 0.7)
    assert overruled.any()
    assert not selective.accepts(X)[overruled].any()


def test_one_vs_one_values_are_refused():
    pairs = SVC(decision_function_shape="ovo")
    for estimator in (pairs, make_pipeline(make_pipeline(pairs)), GridSearchCV(pairs, {"C": [1.0]}, cv=2)):
        with pytest.raises(ValueError, match="must have a decision value per class, got one-vs-one"):
            SelectiveClassifier(estimator, coverage=0.6).fit(DATA[0][:500], DATA[1][:500])


@pytest.mark.filterwarnings("ignore")
def test_sparse_rows_stay_sparse_where_they_can():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=900)
    texts = [f"{'good' if label else 'bad'} film number {k}" for k, label in enumerate(y)]
    wide = make_pipeline(HashingVectorizer(), LogisticRegression())  # a million columns
    assert SelectiveClassifier(wide, score="max_softmax", coverage=0.6).fit(texts, y).accepts(texts).mean() > 0.5
    X = scipy.sparse.csr_matrix(rng.normal(size=(900, 5)) + y[:, None])
    for estimator in (SVC(kernel="linear"), MLPClassifier((8,), max_iter=30, random_state=0)):
        for score in ("confidence_margin", "knn"):
            selective = SelectiveClassifier(estimator, score=score, coverage=0.6).fit(X, y)
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
            assert set(selective.answers(X)) <= {"ham", "spam", None}
            assert selective.accepts(X).mean() > 0.4


def test_it_abstains_with_none_and_works_in_pipelines_and_cross_validation():
    X, y = DATA
    names = np.array(["a", "b", "c"])[y]
    pipeline = make_pipeline(StandardScaler(), SelectiveClassifier(LogisticRegression(), coverage=0.5)).fit(X, names)
    answers = pipeline[-1].answers(StandardScaler().fit(X).transform(X))
    assert set(answers) == {"a", "b", "c", None}
    assert cross_val_score(pipeline, X, names, cv=3).mean() > 0.4


def test_a_guarantee_that_cannot_be_kept_is_an_error():
    X, y = DATA
    with pytest.raises(NoSafeThresholdError, match="No threshold certifies"):
        SelectiveClassifier(LogisticRegression(), risk=0.02, when_impossible="raise").fit(X[:600], y[:600])
    with pytest.raises(ValueError, match=r"must be achievable: 0.0001 with delta=0.05 needs at least 29956 rows"):
        SelectiveClassifier(LogisticRegression(), risk=0.0001, when_impossible="raise").fit(X[:300], y[:300])


def test_probabilities_and_decision_values_are_the_classifiers_own():
    X, y = make_classification(600, 10, flip_y=0.1, random_state=0)
    selective = SelectiveClassifier(LogisticRegression(), coverage=0.5).fit(X, y)
    np.testing.assert_array_equal(selective.predict_proba(X), selective.estimator_.predict_proba(X))
    np.testing.assert_array_equal(selective.decision_function(X), selective.estimator_.decision_function(X))
    for estimator in (LogisticRegression(), RandomForestClassifier(5), LinearSVC()):
        result = cross_val_score(SelectiveClassifier(estimator, coverage=0.5), X, y, cv=3, scoring="roc_auc")
        assert (result > 0.7).all()
    assert not hasattr(SelectiveClassifier(LinearSVC()), "predict_proba")
    assert not hasattr(SelectiveClassifier(RandomForestClassifier()), "decision_function")


class Reciter:
    """Somebody's own fitted classifier, which knows nothing of scikit-learn."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("how", ["prefit", "frozen", "own"])
def test_a_fitted_classifier_is_taken_as_it_is_and_all_rows_calibrate(how):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1)) * 4
    y = np.where(rng.random(3000) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    estimator = Reciter() if how == "own" else LogisticRegression().fit(X[:1000], y[:1000])
    frozen = FrozenEstimator(estimator) if how == "frozen" else estimator
    selective = SelectiveClassifier(frozen, risk=0.05, cv=None if how == "frozen" else "prefit")
    selective.fit(X[1000:2000], y[1000:2000])
    assert selective.selector_.threshold.n == 1000
    assert "was not trained on these rows" in selective.selector_.threshold.words
    np.testing.assert_array_equal(selective.predict(X), estimator.predict(X))
    accepted = selective.accepts(X[2000:])
    wrong = selective.predict(X[2000:]) != y[2000:]
    assert accepted.mean() > 0.3
    assert wrong[accepted].mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / accepted.sum())
    if how == "frozen":  # whatever copies it leaves the classifier fitted
        assert cross_val_score(clone(selective), X[1000:], y[1000:], cv=2).min() > 0.5  # of all rows, answered rightly


def test_a_class_that_a_fitted_classifier_does_not_know_is_an_error_of_its():
    X, y = DATA
    known = LogisticRegression().fit(X[:1500][y[:1500] < 2], y[:1500][y[:1500] < 2])
    selective = SelectiveClassifier(known, risk=0.6, cv="prefit").fit(X[1500:], y[1500:])
    threshold = selective.selector_.threshold
    assert threshold.n == 2500
    assert threshold.errors == np.sum((selective.predict(X) != y)[1500:][selective.accepts(X[1500:])])


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["plain", "pipeline"],
)
def test_weights_teach_the_classifier_and_leave_the_guarantee_to_rows(cv, estimator):
    X, y = DATA
    weights = np.where(y == 0, 20.0, 1.0)
    plain = SelectiveClassifier(estimator, coverage=0.5, cv=cv).fit(X, y)
    heavy = SelectiveClassifier(estimator, coverage=0.5, cv=cv).fit(X, y, sample_weight=weights)
    assert (heavy.predict(X) == 0).mean() > (plain.predict(X) == 0).mean() + 0.1
    assert heavy.selector_.threshold.n == plain.selector_.threshold.n
    assert "each row counts once" in heavy.selector_.threshold.words
    if cv:  # fitted on all rows in the end
        name = "logisticregression__sample_weight" if hasattr(estimator, "steps") else "sample_weight"
        whole = clone(estimator).fit(X, y, **{name: weights})
        np.testing.assert_array_equal(heavy.predict(X), whole.predict(X))


def test_weights_are_routed():
    X, y = DATA
    with config_context(enable_metadata_routing=True):
        step = LogisticRegression().set_fit_request(sample_weight=True)
        selective = SelectiveClassifier(
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), step), coverage=0.5
        )
        selective.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(selective, {"coverage": [0.5]}, cv=2)
        search.fit(X, y, sample_weight=np.where(y == 0, 20.0, 1.0))
    assert (search.predict(X) == 0).mean() > 0.45
    assert "each row counts once" in search.best_estimator_.selector_.threshold.words


def test_costs_decide_as_calibrate_does():
    X, y = DATA
    known = LogisticRegression().fit(X[:1500], y[:1500])
    costs = np.array([[0, 1, 5], [1, 0, 5], [2, 2, 0.0]])
    selective = SelectiveClassifier(known, Cost(0.7, costs=costs), cv="prefit").fit(X[1500:], y[1500:])
    logits, _ = SklearnModel(known).on(X[1500:])  # the same products, which round alike
    seed = int(np.random.RandomState(0).randint(2**31))
    selector = calibrate(Outputs(logits=logits, labels=y[1500:]), Cost(0.7, costs=costs), seed=seed)
    outputs = Outputs(logits=SklearnModel(known).on(X)[0])
    np.testing.assert_array_equal(selective.accepts(X), selector.accepts(outputs))
    np.testing.assert_array_equal(selective.predict(X), selector.predictions(outputs))
    assert (selective.predict(X) != known.predict(X)).any()
    chow = SelectiveClassifier(known, Cost(0.2, method="chow"), cv="prefit").fit(X[1500:], y[1500:])
    assert chow.selector_.threshold.method == "chow"
    assert 0.1 < chow.accepts(X).mean() < 0.9
    plain = SelectiveClassifier(known, cost=0.2, cv="prefit").fit(X[1500:], y[1500:])
    np.testing.assert_array_equal(plain.predict(X), known.predict(X))


def test_a_method_can_be_named():
    X, y = DATA
    selective = SelectiveClassifier(LogisticRegression(), Risk(0.25, method="sgr")).fit(X, y)
    assert selective.selector_.threshold.method == "sgr"


def test_where_no_risk_can_be_kept_everything_is_rejected_if_that_is_asked_for(tmp_path):
    X, y = DATA
    for risk in (0.02, 0.0001):
        selective = SelectiveClassifier(LogisticRegression(), risk=risk, when_impossible="reject_all")
        selective.fit(X[:600], y[:600])
        assert not selective.accepts(X).any()
        assert set(selective.answers(X)) == {None}
        assert "for any rows, as none is accepted" in selective.selector_.threshold.words
        assert "every row is rejected" in selective.selector_.threshold.words
        selective.selector_.save(tmp_path / "s.abstain")
        assert Selector.load(tmp_path / "s.abstain").threshold == selective.selector_.threshold
    enough = SelectiveClassifier(LogisticRegression(), risk=0.3, when_impossible="reject_all").fit(X, y)
    assert enough.accepts(X).mean() > 0.3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"risk": "0.05"}, TypeError, "`risk` must be a number, got '0.05'"),
        ({"coverage": [0.5]}, TypeError, r"`coverage` must be a number, got \[0.5\]"),
        ({"risk": 0.3, "delta": "low"}, TypeError, "`delta` must be a number, got 'low'"),
        ({"risk": 0.3, "held_out": "half"}, TypeError, "`held_out` must be a number, got 'half'"),
        ({"risk": 0.3, "held_out": 1.5}, ValueError, "`held_out` must be a share between 0 and 1, or a number of rows"),
        (
            {"risk": 0.3, "score": 3},
            TypeError,
            "`score` must be a name, a score or a function of outputs, got int",
        ),
        ({"risk": 0.3, "score": "max_sofmax"}, ValueError, r"Did you mean max_softmax\?"),
        ({"risk": 0.3, "when_impossible": "reject"}, ValueError, r"Did you mean reject_all\?"),
        ({"coverage": 0.5, "when_impossible": "reject_all"}, ValueError, "must be raise with a `coverage`"),
        (
            {"risk": 0.3, "estimator": LogisticRegression},
            TypeError,
            r"got the class LogisticReg.* Write Log.*\(\)",
        ),
        ({"risk": 0.3, "estimator": "forest"}, TypeError, "must be a classifier with fit and predict, got str"),
        ({"risk": 0.3, "estimator": LinearRegression()}, TypeError, "got the regressor LinearRegression"),
        ({"risk": 0.3, "cv": "prefit"}, NotFittedError, "must be fitted, with classes_, for cv='prefit', got Log"),
        ({}, ValueError, "`target` must be one of .*, got none"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(options, error, message):
    with pytest.raises(error, match=message) as result:
        SelectiveClassifier(**{"estimator": LogisticRegression()} | options).fit(DATA[0][:500], DATA[1][:500])
    assert "\n" not in str(result.value)


def test_weights_that_nothing_learns_from_are_refused():
    X, y = DATA
    weights = np.ones(len(y))
    with pytest.raises(ValueError, match="`sample_weight` must be left out for KNeighborsClassifier, whose fit"):
        SelectiveClassifier(KNeighborsClassifier(), coverage=0.5).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="`sample_weight` must be left out, since the classifier is fitted already"):
        SelectiveClassifier(LogisticRegression().fit(X, y), coverage=0.5, cv="prefit").fit(X, y, sample_weight=weights)


def test_the_parameter_is_called_score_and_the_method_counts_abstention():
    X, y = DATA
    selective = SelectiveClassifier(LogisticRegression(), score="max_softmax", coverage=0.5).fit(X[:2000], y[:2000])
    assert clone(selective).get_params()["score"] == "max_softmax" == selective.selector_.score
    right = selective.estimator_.predict(X[2000:]) == y[2000:]
    assert selective.score(X[2000:], y[2000:]) == (selective.accepts(X[2000:]) & right).mean() < right.mean()
    assert selective.set_params(score="energy").get_params()["score"] == "energy"
    assert callable(selective.score)


def test_a_reject_label_is_what_a_pipeline_predicts_where_it_abstains():
    X, y = DATA
    names = np.array(["ant", "bee", "cat"])[y]
    inside = make_pipeline(StandardScaler(), LogisticRegression())
    for estimator in (
        SelectiveClassifier(inside, coverage=0.6, reject_label="unknown"),
        make_pipeline(
            StandardScaler(), SelectiveClassifier(LogisticRegression(), coverage=0.6, reject_label="unknown")
        ),
    ):
        answers = estimator.fit(X[:2000], names[:2000]).predict(X[2000:])
        assert 0.3 < (answers == "unknown").mean() < 0.5
        assert set(answers) == {"ant", "bee", "cat", "unknown"}
        assert estimator.score(X[2000:], names[2000:]) == (answers == names[2000:]).mean()
        assert neg_aurc()(estimator, X[2000:], names[2000:]) > -0.3  # by the answers to all samples
    with pytest.raises(
        ValueError, match="`reject_label` must be a string, as the classes are, and none of them, got -1"
    ):
        SelectiveClassifier(coverage=0.6, reject_label=-1).fit(X[:300], names[:300])


@pytest.mark.filterwarnings("ignore:Nothing is accepted")
def test_in_a_search_what_cannot_be_certified_scores_nothing_instead_of_nan():
    X, y = DATA
    search = GridSearchCV(SelectiveClassifier(LogisticRegression()), {"risk": [0.001, 0.4], "score": [None, "energy"]})
    with pytest.warns(UserWarning, match=r"Nothing is accepted\. No threshold certifies risk <= 0\.001"):
        search.fit(X[:1000], y[:1000])
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert min(scores) == 0
    assert search.best_params_["risk"] == 0.4


@pytest.mark.parametrize("risk", [0.0001, 0.02])
def test_the_error_names_the_way_out(risk):
    X, y = DATA
    with pytest.raises(NoSafeThresholdError, match=r"when_impossible='reject_all'"):
        SelectiveClassifier(LogisticRegression(), risk=risk, when_impossible="raise").fit(X[:1000], y[:1000])


def test_thresholds_per_class_are_keyed_by_the_names_of_the_classes():
    X, y = DATA
    names = np.array(["ant", "bee", "cat"])[y]
    selective = SelectiveClassifier(LogisticRegression(), Risk(0.3, per="class")).fit(X, names)
    assert set(selective.selector_.groups.thresholds) == {"ant", "bee", "cat"}


@pytest.mark.parametrize("cv", [None, 3])
def test_the_best_score_is_chosen(cv):
    X, y = DATA
    selective = SelectiveClassifier(LogisticRegression(), score="best", coverage=0.5, cv=cv).fit(X[:1500], y[:1500])
    assert "was chosen among" in selective.selector_.summary()
    assert 0.4 < selective.accepts(X[1500:]).mean() < 0.7


@pytest.mark.parametrize("cv", [None, 3])
def test_rows_of_a_group_are_held_out_together_and_are_clusters_of_the_guarantee(cv):
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(2, size=400), 3)
    X = np.column_stack([y + 0.3 * rng.normal(size=1200), np.arange(1200) // 3])
    groups = np.char.add("patient-", (np.arange(1200) // 3).astype(str))
    seen = []

    class Noting(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(set(X[:, 1]))
            return super().fit(X, y, sample_weight)

    result = SelectiveClassifier(Noting(), risk=0.2, cv=cv).fit(X, y, groups=groups)
    data = result.selector_.calibration
    assert (data.samples, data.largest) == (data.rows / 3, 3)
    left_out = sum(400 - len(each) for each in seen[: cv or 1])  # groups of which training saw no row
    assert left_out * 3 == data.rows
    assert result.selector_.threshold.guarantee.largest == 3
    assert SelectiveClassifier(Noting(), risk=0.2, cv=cv).fit(X, y).selector_.threshold.guarantee.largest is None


def test_groups_are_routed_and_checked():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(2, size=200), 3)
    X, groups = y[:, None] + 0.3 * rng.normal(size=(600, 1)), np.arange(600) // 3
    with config_context(enable_metadata_routing=True):
        selective = SelectiveClassifier(risk=0.3).set_fit_request(groups=True)
        scores = cross_val_score(selective, X, y, cv=GroupKFold(3), params={"groups": groups})
    assert np.isfinite(scores).all()
    with pytest.raises(ValueError, match=r"`groups` must have shape \(600,\)|inconsistent numbers of samples"):
        SelectiveClassifier(risk=0.3).fit(X, y, groups=groups[:10])
    with pytest.raises(ValueError, match="`cv` must keep the rows of a group together"):
        SelectiveClassifier(risk=0.3, cv=KFold(3, shuffle=True)).fit(X, y, groups=groups)
