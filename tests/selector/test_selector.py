import json
import struct
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import softmax

import abstain
from abstain import Cost, Outputs, Selector, calibrate
from abstain.scores import KNN, SCORES, About, PlainScore
from abstain.scores.expected_cost import Costs
from abstain.scores.fitting_draw import split_to_fit
from abstain.selector.targets import target_of
from abstain.thresholds import NoSafeThresholdError, chow


def draw(n, seed):
    rng = np.random.default_rng(seed)
    weight = np.random.default_rng(7).normal(size=(4, 6))
    labels = rng.integers(4, size=n)
    features = weight[labels] + rng.normal(size=(n, 6))
    return Outputs(logits=features @ weight.T, labels=labels, features=features, weight=weight)


CAL, NEW = draw(2500, 0), draw(4000, 1)
every_score = pytest.mark.parametrize("score", SCORES)


@every_score
def test_saved_and_loaded_decides_the_same(score, tmp_path):
    selector = calibrate(CAL, score=score, coverage=0.7, delta=0.1)
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    assert again.confidence(NEW).tobytes() == selector.confidence(NEW).tobytes()
    np.testing.assert_array_equal(again.accepts(NEW), selector.accepts(NEW))
    assert again.threshold == selector.threshold
    assert again.summary() == selector.summary()
    assert [file.name for file in tmp_path.iterdir()] == ["s.abstain"]


@pytest.mark.parametrize("score", ["confidence_margin", "max_softmax", "ts_max_softmax"])
def test_the_risk_on_fresh_samples_is_within_the_guarantee(score):
    selector = calibrate(CAL, score=score, risk=0.1, delta=0.05)
    accepted = selector.accepts(NEW)
    assert accepted.mean() > 0.2
    assert NEW.errors[accepted].mean() <= 0.1


def test_a_cheap_rejection_rejects_more():
    cheap, dear = (calibrate(CAL, cost=cost).accepts(NEW).mean() for cost in (0.1, 0.6))
    assert cheap < dear
    assert "expected cost per row is at most" in calibrate(CAL, cost=0.2).summary()


COSTS = np.array([[0, 1, 1, 8], [1, 0, 1, 8], [1, 1, 0, 8], [2, 2, 2, 0]])  # to overlook the last class is grave


def true_probabilities(n, seed):
    """Outputs whose softmax is the law of the labels, but for a temperature of 2."""
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(n, 4))
    labels = (softmax(logits, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return Outputs(logits=2 * logits, labels=labels)


@pytest.mark.parametrize("method", ["chow", "minimal_cost"])
def test_costs_change_what_is_predicted_and_the_bound_holds(method, tmp_path):
    cal, new = true_probabilities(3000, 0), true_probabilities(6000, 1)
    rejection = np.array([0.8, 0.8, 0.8, 1.2])
    selector = calibrate(cal, Cost(rejection, costs=COSTS, method=method))
    assert selector.fitted.temperature == pytest.approx(2, rel=0.2)
    predicted, accepted = selector.predictions(new), selector.accepts(new)
    p = softmax(new.logits / selector.fitted.temperature, axis=1)
    decision = chow(p, rejection=rejection, costs=COSTS)
    np.testing.assert_array_equal(predicted, decision.prediction)
    assert (predicted != new.predictions).any()
    if method == "chow":
        np.testing.assert_array_equal(accepted, decision.accepted)
    paid = np.where(accepted, COSTS[predicted, new.labels], rejection[new.labels])
    plain = calibrate(cal, cost=0.8).accepts(new)
    plain_paid = np.where(plain, COSTS[new.predictions, new.labels], rejection[new.labels])
    assert paid.mean() <= selector.threshold.guarantee.bound
    assert paid.mean() < 0.9 * plain_paid.mean()
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    np.testing.assert_array_equal(again.answers(new), selector.answers(new))
    assert again.summary() == selector.summary()


def test_the_plug_in_rule_with_plain_costs_is_a_threshold_on_calibrated_probabilities():
    selector = calibrate(CAL, Cost(0.2, method="chow"))
    largest = softmax(NEW.logits / selector.fitted.temperature, axis=1).max(axis=1)
    np.testing.assert_array_equal(selector.accepts(NEW), largest > 0.8)
    np.testing.assert_array_equal(selector.predictions(NEW), NEW.predictions)


def test_a_sample_of_no_known_class_is_paid_for_in_full():
    accepting, rejecting = Costs.of(4, rejection=[0.1, 0.2, 0.3, 0.4], matrix=COSTS).paid(
        np.array([3, 3, 0]), np.array([-1, 2, 3])
    )
    assert accepting.tolist() == [2, 2, 8]
    assert rejecting.tolist() == [0.4, 0.3, 0.4]


def shifted(n, seed, k=20):
    """Half clean rows, a quarter of them wrong, half corrupted ones, never wrong; confidence tells nothing."""
    rng = np.random.default_rng(seed)
    labels, corrupted = rng.integers(k, size=n), rng.random(n) < 0.5
    top = np.where((rng.random(n) < 0.25) & ~corrupted, (labels + 1) % k, labels)
    logits = rng.normal(size=(n, k)) * 0.1
    logits[np.arange(n), top] += 3 + rng.random(n)
    logits[rng.random(n) < 0.1] = np.nan
    shift = np.where(corrupted, "covariate", "none")
    return Outputs(logits=logits, labels=labels, shift=shift, features=rng.normal(size=(n, 4)), nonfinite="reject")


@pytest.mark.parametrize("score", ["max_softmax", "ts_max_softmax", "knn"])
def test_fitting_a_score_leaves_the_law_of_the_rest_as_it_was(score):
    """The true risk is 0.125 at every threshold, so a guarantee of 0.11 must hardly ever be made."""
    made = 0
    for seed in range(25):
        with suppress(NoSafeThresholdError):
            calibrate(shifted(1500, seed), score=score, risk=0.11, delta=0.1)
            made += 1
    assert made / 25 <= 0.1 + 3 * np.sqrt(0.09 / 25)


def test_the_rows_left_by_fitting_are_a_fair_sample():
    outputs = shifted(4000, 0)
    rows, rest = split_to_fit(outputs, seed=0)
    fitting = rows.of(KNN())
    assert rows.of(SCORES["learned"]).usable.all()
    assert (rows.of(SCORES["learned"]).shift == "none").mean() == pytest.approx(0.5, abs=0.06)
    assert fitting is rows.of(SCORES["vim"])
    assert (fitting.shift == "none").all()
    assert fitting.usable.all()
    assert len(outputs) - len(rest) == 800
    assert len(fitting) == pytest.approx(800 * 0.5 * 0.9, rel=0.15)
    assert (rest.shift == "none").mean() == pytest.approx(0.5, abs=0.04)
    assert rest.usable.mean() == pytest.approx(0.9, abs=0.02)
    with pytest.raises(ValueError, match="at least 2 in-distribution rows among those drawn"):
        split_to_fit(outputs.select(outputs.shift != "none"), seed=0)


def test_a_class_named_as_the_blank_digest_is_no_harm(tmp_path):
    outputs = Outputs(logits=CAL.logits, labels=CAL.labels, class_names=["0" * 64, "b", "c", "d"])
    calibrate(outputs, coverage=0.5).save(tmp_path / "s.abstain")
    assert Selector.load(tmp_path / "s.abstain").class_names[0] == "0" * 64


def test_everything_accepted_and_unusable_rows_survive_the_file(tmp_path):
    selector = calibrate(shifted(1500, 1), risk=0.5)
    assert selector.threshold.value == -np.inf
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    assert again.distribution == selector.distribution
    new = shifted(500, 2)
    np.testing.assert_array_equal(again.accepts(new), new.usable)


def test_the_rows_a_score_is_fitted_on_are_not_those_of_the_threshold():
    assert calibrate(CAL, score="knn", coverage=0.5).threshold.n == 2000


def test_answers_are_the_classifiers_own_predictions_or_abstain():
    selector = calibrate(CAL, risk=0.1)
    answers = selector.answers(NEW)
    accepted = selector.accepts(NEW)
    np.testing.assert_array_equal(answers[accepted], NEW.predictions[accepted])
    assert (answers[~accepted] == -1).all()


def test_the_summary_has_the_paper_s_units():
    text = calibrate(CAL, score="max_softmax", risk=0.1).summary()
    assert "SR_max > 0." in text
    assert "at most 0.1, with probability at least 0.95" in text


def test_unusable_rows_are_never_accepted():
    z = NEW.logits.copy()
    z[5] = np.nan
    broken = Outputs(logits=z, nonfinite="reject")
    assert not calibrate(CAL, coverage=0.9).accepts(broken)[5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "nothing", "risk": 0.1}, "`score` must be a known score, got 'nothing'"),
        ({}, "`target` must be one of cost; coverage; .*, got none. Give one, such as a risk of 0.02."),
        ({"risk": 0.1, "cost": 0.5}, "`target` must be one of .*, got risk with cost"),
        ({"risk": 0.1, "delta": None}, "`delta` must be given for a target risk, got None"),
        ({"risk": 0.1, "method": "guess"}, "`method` must be one of step_down, betting, sgr, bonferroni"),
        ({"cost": 0.1, "method": "sgr"}, "`method` must be one of minimal_cost, chow"),
        ({"cost": 0.1, "method": "chow", "score": "knn"}, "`score` must be left out"),
        ({"cost": [0.1, 0.2]}, "`rejection` must be one number or 4"),
        ({"cost": 0.1, "costs": [[1.0]]}, "`costs` must have shape"),
        ({"risk": 0.1, "costs": COSTS}, "`costs` must come with `cost`, got `risk`"),
        ({"cost": -1.0, "method": "chow"}, "`cost` must be at least 0 and finite, got -1.0"),
    ],
)
def test_bad_options_are_named(options, message):
    score = options.pop("score", None)
    with pytest.raises(ValueError, match=message):
        calibrate(CAL, target_of(**options), score=score)


def test_the_classes_of_calibration_in_another_order_are_refused_and_other_names_are_not():
    def named(*names):
        return Outputs(logits=CAL.logits, labels=CAL.labels, class_names=names)

    selector = calibrate(named("d", "c", "b", "a"), coverage=0.5)
    with pytest.raises(ValueError, match=r"classes in the order of calibration, 'c' as number 1, got 'b'. Put the col"):
        selector.decide(named("d", "b", "c", "a"))
    with pytest.raises(ValueError, match="'d' as number 0, got 'c'"):
        selector.decide(named("c", "d", "b", "other"))
    assert selector.accepts(named("w", "x", "y", "z")).tolist() == selector.accepts(CAL).tolist()


def test_outputs_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="`outputs` must have what knn needs, got no features"):
        calibrate(Outputs(logits=CAL.logits, labels=CAL.labels), score="knn", risk=0.1)
    with pytest.raises(ValueError, match="`outputs` must have 4 classes, as in calibration, got 2"):
        calibrate(CAL, risk=0.1).accepts(Outputs(logits=np.zeros((3, 2))))


@pytest.fixture(params=["confidence_margin", "react"])
def file(request, tmp_path):
    calibrate(CAL, score=request.param, risk=0.3).save(tmp_path / "s.abstain")
    return tmp_path / "s.abstain"


def test_every_bit_counts(file):
    contents = file.read_bytes()
    rng = np.random.default_rng(0)
    for path in rng.integers(len(contents), size=1000):
        altered = bytearray(contents)
        altered[path] ^= 1 << int(rng.integers(8))
        file.write_bytes(altered)
        with pytest.raises(ValueError, match=r"s.abstain` must be"):
            Selector.load(file)


def test_truncations_are_refused(file):
    contents = file.read_bytes()
    near_ends = {*range(100), *range(len(contents) - 100, len(contents))}
    for length in sorted(near_ends | {*range(0, len(contents), 17)}):
        file.write_bytes(contents[:length])
        with pytest.raises(ValueError, match=r"s.abstain` must be"):
            Selector.load(file)


def test_more_bytes_are_refused(file):
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(ValueError, match=r"s.abstain` must be"):
        Selector.load(file)


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"not a selector",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
    ],
)
def test_foreign_files_are_refused(contents, tmp_path):
    (tmp_path / "s.abstain").write_bytes(contents)
    with pytest.raises(ValueError, match=r"must be a selector"):
        Selector.load(tmp_path / "s.abstain")


def test_a_newer_version_says_so(tmp_path):
    from safetensors.numpy import save

    for header, message in (
        ({"format": "abstain.selector", "version": 13}, "must be of version 12, got 13"),
        ({"format": "other"}, "another kind of file"),
    ):
        (tmp_path / "s.abstain").write_bytes(save({"x": np.zeros(1)}, metadata={"abstain": json.dumps(header)}))
        with pytest.raises(ValueError, match=message):
            Selector.load(tmp_path / "s.abstain")


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    selector = calibrate(CAL, risk=0.1)
    selector.save(tmp_path / "s.abstain")
    before = (tmp_path / "s.abstain").read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        selector.save(tmp_path / "s.abstain")
    assert (tmp_path / "s.abstain").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_it_is_at_the_top_of_the_package():
    assert abstain.calibrate is calibrate


def half_gap(outputs):
    """Half of the gap between the two largest logits."""
    top = np.sort(outputs.logits, axis=1)
    return (top[:, -1] - top[:, -2]) / 2


@dataclass(frozen=True)
class Scaled(PlainScore):
    """The gap times a number: a class of the user's own, kept by the file with its options."""

    by: float = 2.0
    about = About(name="scaled", needs=("logits",))

    def formula(self, inputs):
        rows = inputs.sums()
        return self.by * (rows.top - rows.second)


def test_a_function_of_ones_own_is_calibrated_saved_and_loaded(tmp_path):
    selector = calibrate(CAL, score=half_gap, risk=0.1)
    usual = calibrate(CAL, score="confidence_margin", risk=0.1)
    np.testing.assert_array_equal(selector.accepts(NEW), usual.accepts(NEW))
    selector.save(tmp_path / "s.abstain")
    with pytest.raises(ValueError, match=r"the function 'half_gap' .* no file can hold. .*scores=\[half_gap\]"):
        Selector.load(tmp_path / "s.abstain").accepts(NEW)
    assert Selector.load(tmp_path / "s.abstain").threshold == selector.threshold  # enough to be monitored
    again = Selector.load(tmp_path / "s.abstain", scores=[half_gap])
    np.testing.assert_array_equal(again.accepts(NEW), selector.accepts(NEW))
    assert again.summary() == selector.summary()


@pytest.mark.parametrize("score", [Scaled(3.0), KNN(k=7), "knn(k=7)", ["knn(k=1)", KNN(k=3), "knn(k=5)"]])
def test_score_objects_with_options_are_calibrated_saved_and_loaded(score, tmp_path):
    selector = calibrate(CAL, score=score, coverage=0.5)
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    assert again.score == selector.score
    assert "(" in again.score
    assert again.entry == selector.entry
    np.testing.assert_array_equal(again.confidence(NEW), selector.confidence(NEW))


@dataclass(frozen=True, eq=False)
class Weighted(PlainScore):
    """A sum of logits, weighted; whole numbers and lists are nothing that a file holds."""

    by: np.ndarray
    about = About(name="weighted", needs=("logits",))

    def formula(self, inputs):
        return inputs.logits @ self.by


def test_a_class_of_ones_own_with_arrays_is_kept_or_refused_when_it_is_saved(tmp_path):
    selector = calibrate(CAL, score=Weighted(np.array([1.0, 0.5, 0.2, 0.1])), coverage=0.5)
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    np.testing.assert_array_equal(again.confidence(NEW), selector.confidence(NEW))
    for odd in (np.array([1, 2, 3, 4]), [1.0, 0.5, 0.2, 0.1]):
        with pytest.raises(ValueError, match="`selector` must have a score that a file can hold"):
            calibrate(CAL, score=Weighted(odd), coverage=0.5).save(tmp_path / "odd.abstain")
    assert not (tmp_path / "odd.abstain").exists()


def test_fitted_scores_and_classes_are_told_from_scores():
    for wrong in (KNN, KNN().fit(CAL)):
        with pytest.raises(TypeError, match="`score` must be a score with its options, such as KNN"):
            calibrate(CAL, score=wrong, coverage=0.5)


@pytest.mark.parametrize("score", ["learned", "max_logit_pnorm", "knn"])
def test_the_digest_is_that_of_the_file(score, digits, tmp_path):
    selector = calibrate(digits, score=score, coverage=0.5)
    selector.save(tmp_path / "s.abstain")
    assert Selector.load(tmp_path / "s.abstain").digest == selector.digest


def test_the_summary_tells_what_became_of_every_row():
    logits = CAL.logits.copy()
    logits[:3] = np.nan
    message = calibrate(Outputs(logits=logits, labels=CAL.labels, nonfinite="reject"), coverage=0.5).summary()
    assert message.endswith("Rows that are not finite, 3 here, are never accepted.")
    assert "chose or fitted the score" not in message
    fitted = calibrate(CAL, score="ts_max_softmax", coverage=0.5)
    held, n = fitted.calibration.held_out, fitted.threshold.n
    words = f"Of the {len(CAL):,} rows given, {held:,} chose or fitted the score and {n:,} certify the threshold."
    assert words in fitted.summary()
    assert held + n == len(CAL)
