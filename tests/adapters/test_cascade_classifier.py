"""`CascadeClassifier`: several scikit-learn classifiers in turn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import abstain
from abstain.errors import InvalidInputError
from abstain.sklearn import CascadeClassifier

X, Y = load_digits(return_X_y=True)
X, Y = (each[np.random.default_rng(0).permutation(len(Y))] for each in (X, Y))  # digits come by writer
NAMES = np.array(list("abcdefghij"))[Y]
MODELS = [LogisticRegression(C=1e-3, max_iter=3000), KNeighborsClassifier(5)]
OPTIONS = {"risk": 0.05, "costs": [1, 20], "human_cost": 200, "held_out": 0.5}


class Counting(KNeighborsClassifier):
    """Remembers how many rows it was asked about at once."""

    seen = 0

    def predict_proba(self, X):
        Counting.seen = max(Counting.seen, len(X))  # twice for each answer
        return super().predict_proba(X)


@pytest.fixture(scope="module")
def made():
    return CascadeClassifier(MODELS, **OPTIONS, reject_label="?").fit(X[:1200], NAMES[:1200])


def test_answers_are_those_of_the_classifier_of_each_sample(made):
    rows, truth = X[1200:], NAMES[1200:]
    stages, accepted, answers = made.stages(rows), made.accepts(rows), made.predict(rows)
    own = np.column_stack([model.predict(rows) for model in made.estimators_])[np.arange(len(rows)), stages]
    assert (answers == np.where(accepted, own, "?")).all()
    assert (answers[accepted] != truth[accepted]).mean() <= 0.05
    assert made.score(rows, truth) == pytest.approx(np.mean(accepted & (own == truth)))
    assert set(made.row_costs(rows)) <= {1.0, 21.0, 201.0, 221.0}


def test_later_classifiers_run_only_on_what_reaches_them():
    made = CascadeClassifier([MODELS[0], Counting(5)], **OPTIONS).fit(X[:1200], Y[:1200])
    Counting.seen = 0
    stages = made.stages(X[1200:])
    assert 0 < np.count_nonzero(stages) < len(stages)
    assert Counting.seen == np.count_nonzero(stages)


def test_frozen_classifiers_are_kept_and_all_rows_calibrate():
    frozen = [FrozenEstimator(clone(model).fit(X[:600], Y[:600])) for model in MODELS]
    made = CascadeClassifier(frozen, **OPTIONS).fit(X[600:], Y[600:])
    assert made.cascade_.selector.calibration.rows == len(X) - 600
    assert made.cascade_.names == ("LogisticRegression", "KNeighborsClassifier")


def test_groups_are_clusters():
    made = CascadeClassifier(MODELS, **OPTIONS | {"risk": 0.2}).fit(X, Y, groups=np.arange(len(X)) // 2)
    assert made.cascade_.selector.threshold.method == "betting"


def test_it_can_be_cloned_and_its_cascade_saved(made, tmp_path):
    assert clone(made).costs == [1, 20]
    made.cascade_.save(tmp_path / "c.abstain")
    assert abstain.Cascade.load(tmp_path / "c.abstain").digest == made.cascade_.digest


def test_one_classifier_is_not_a_cascade():
    with pytest.raises(InvalidInputError, match="`estimators` must be at least 2 classifiers"):
        CascadeClassifier(MODELS[:1], **OPTIONS).fit(X, Y)
