import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain.metrics import aurc, risk_band, risk_coverage
from abstain.scores import confidence_margin
from abstain.sklearn import RiskCoverageDisplay, SelectiveClassifier, neg_aurc


@pytest.fixture(scope="module")
def data():
    X, y = load_digits(return_X_y=True)
    return X[:900], y[:900], X[900:], y[900:]


@pytest.fixture(scope="module")
def classifier(data):
    return LogisticRegression(max_iter=60, tol=0.1).fit(data[0] / 16, data[1])


def test_the_line_and_the_band_are_those_of_the_metrics(classifier, data):
    X, y = data[2] / 16, data[3]
    groups, axes = np.arange(len(y)) // 3, Figure().subplots()
    display = RiskCoverageDisplay.from_estimator(classifier, X, y, groups=groups, ax=axes, color="black")
    c, wrong = confidence_margin(classifier.decision_function(X)), classifier.predict(X) != y
    curve, band = risk_coverage(c, wrong), risk_band(c, wrong, ids=groups)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.coverage)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.risk)
    heights = display.band_.get_paths()[0].vertices[:, 1]
    assert heights.max() == band.high.max()
    assert display.ax_ is axes
    assert display.line_.get_label() == f"LogisticRegression (AURC = {aurc(c, wrong):.3f})"
    assert display.line_.get_color() == "black"


def test_a_selective_classifier_is_shown_by_its_own_confidence_also_in_a_pipeline(data):
    X, y, fresh, labels = data
    selective = SelectiveClassifier(LogisticRegression(max_iter=60, tol=0.1), risk=0.1, score="energy")
    pipe = make_pipeline(StandardScaler(), selective).fit(X, y)
    display = RiskCoverageDisplay.from_estimator(pipe, fresh, labels, ax=Figure().subplots(), name="mine")
    c = pipe[-1].confidence_scores(pipe[:-1].transform(fresh))
    np.testing.assert_array_equal(display.curve.risk, risk_coverage(c, pipe.predict(fresh) != labels).risk)
    assert display.line_.get_label().startswith("mine (AURC = 0.")


def test_without_axes_a_new_figure_is_made_and_the_band_can_be_left_out():
    from matplotlib import pyplot

    with pyplot.rc_context({"backend": "agg"}):
        display = RiskCoverageDisplay.from_predictions(["a", "b"], ["a", "a"], [0.9, 0.1])
        assert display.figure_ is display.ax_.figure
        again = display.plot(display.ax_, plot_band=False)
        assert again.band_ is None
        pyplot.close(display.figure_)


def test_what_is_no_classifier_is_refused():
    with pytest.raises(TypeError, match="`estimator` must be a classifier, got the class LogisticRegression"):
        RiskCoverageDisplay.from_estimator(LogisticRegression, [[0.0]], [0])
    fitted = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="`score` must be one of the logits that needs no fitting, got knn"):
        RiskCoverageDisplay.from_estimator(fitted, [[0.0]], [0], score="knn")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ([0, 1, 1], [0, 1], [0.5, 0.4, 0.3]),
            r"`y_true` must be one label for each answer, got .* \(3,\) and",
        ),
        (
            ([0, 1], [0, 1], [0.5, 0.4, 0.3]),
            r"`confidence` must be a number for each label, got .* \(3,\) for 2",
        ),
        (([[0], [1]], [0, 1], [0.5, 0.4]), "`y_true` must be one label for each answer"),
        ((["0", "1"], [0, 1], [0.5, 0.4]), "kind of the model's classes, got text for numbers"),
        ((np.array([0, 1], object), ["0", "1"], [0.5, 0.4]), "kind of the model's classes, got numbers for text"),
    ],
)
def test_columns_that_do_not_match_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        RiskCoverageDisplay.from_predictions(*columns, ax=Figure().subplots())


def test_labels_of_another_kind_than_the_classes_are_refused_also_by_scorers(classifier, data):
    X, names = data[2] / 16, data[3].astype(str)
    message = "`y` must be labels of the kind of the model's classes, got text for numbers. Map them to the classes."
    with pytest.raises(ValueError, match=message):
        RiskCoverageDisplay.from_estimator(classifier, X, names, ax=Figure().subplots())
    with pytest.raises(ValueError, match=message):
        neg_aurc()(classifier, X, names)
