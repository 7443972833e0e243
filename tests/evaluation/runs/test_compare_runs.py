"""Two runs on the same samples: how rows are matched, what is refused, what is said."""

import re

import numpy as np
import pytest

import abstain
from abstain import Outputs, compare_runs
from abstain.evaluation.runs import ComparisonPoints
from abstain.evaluation.runs.common_samples import matched
from abstain.evaluation.runs.run_words import signed

RNG = np.random.default_rng(0)
N = 600
LABELS = RNG.integers(4, size=N)
LABELS[-60:] = -1
SHIFT = np.where(np.arange(N) < 300, "none", "covariate").astype("<U9")
SHIFT[-60:] = "label"
BASE = 2.0 * np.eye(4)[np.maximum(LABELS, 0)]
IDS = np.arange(N) % 300
DOMAIN = np.where(np.arange(N) < 300, "clean", "fog")


def run(strength=1.0, seed=1, *, rows=slice(None), **options):
    noise = np.random.default_rng(seed).normal(size=(N, 4))
    known = {"labels": LABELS, "ids": IDS, "shift": SHIFT, "domain": DOMAIN} | options
    columns = {name: value[rows] for name, value in known.items() if value is not None}
    return Outputs(logits=(strength * BASE + noise)[rows], **columns)


OLD, NEW = run(1.0, 1), run(2.0, 2)


def test_the_stronger_model_is_better_and_the_words_say_so_first():
    comparison = compare_runs(OLD, NEW, names=("old", "new"), at=ComparisonPoints(risks=[0.1]))
    first, *rest = comparison.sentences()
    assert first.startswith("new is better after rejection over all samples (600 rows of 300 samples): AURC ")
    assert "Where both accept 80% of the rows, " in rest[0]
    assert "At the risk that old has there, new accepts " in rest[1]
    assert "At a risk of 10% they accept " in rest[2]
    assert [mix.mix for mix in comparison.mixes] == ["in", "in+cov", "in+label", "all"]


def test_the_other_way_round_the_same_is_said():
    there, back = (compare_runs(*pair, at=ComparisonPoints(risks=[0.1])).mix() for pair in ((OLD, NEW), (NEW, OLD)))
    for name in ("aurc", "risk", "coverage"):
        for each, other in zip(getattr(there, name), getattr(back, name), strict=True):
            assert (each.a, each.difference) == pytest.approx((other.b, -other.difference))
            assert (each.low, each.high) == pytest.approx((-other.high, -other.low))
    each, other = there.coverage_at_risk_of_a[1], back.coverage_at_risk_of_b[1]
    assert (each.b, each.low) == pytest.approx((other.a, -other.high))


def test_values_are_those_of_an_evaluation():
    comparison = compare_runs(OLD, NEW, score=("max_softmax", "energy"), at=ComparisonPoints(alphas=[0.5]))
    for position, (run_, score) in enumerate(((OLD, "max_softmax"), (NEW, "energy"))):
        row = abstain.evaluate(run_, scores=score, alphas=[0.5]).row(score, "all", 0.5)
        assert (comparison.mix().aurc[0].a, comparison.mix().aurc[0].b)[position] == row.aurc
    assert comparison.scores == ("max_softmax", "energy")


def test_a_model_is_not_better_than_itself():
    comparison = compare_runs(OLD, OLD)
    assert comparison.words() == (
        "There is no difference over all samples (600 rows of 300 samples): both have the same errors and the same "
        "ranks."
    )
    for mix in comparison.mixes:
        every = (*mix.aurc, *mix.risk, *mix.coverage, *mix.coverage_at_risk_of_a, *mix.coverage_at_risk_of_b)
        assert {(each.difference, each.low, each.high) for each in every} == {(0.0, 0.0, 0.0)}


def test_models_of_the_same_strength_cannot_be_told_apart():
    words = compare_runs(OLD, run(1.0, 5)).words()
    assert words.startswith("No significant difference after rejection over all samples")
    assert "which may be chance" in words


def crossing():
    """Confidences and errors of two models: a has more errors, b is wrong where it is surest."""
    rank, rng = np.arange(4000) / 4000, np.random.default_rng(0)
    a, b = rng.random(4000) < 0.5 * rank, rng.random(4000) < np.where(rank < 0.2, 0.15, 0.2 * rank)
    return [Outputs(confidences={"c": -rank}, errors=wrong) for wrong in (a, b)]


def test_where_curves_cross_the_words_say_which_is_better_where():
    comparison = compare_runs(*crossing(), names=("x", "y"), at=ComparisonPoints(coverages=[0.1, 1.0], risks=[0.06]))
    first = comparison.sentences()[0]
    assert first.startswith("After rejection on these rows (4,000 rows) it depends on the coverage which")
    assert "x is better by AURC-0.1" in first
    assert "at a coverage of 10%" in first
    assert "y is better at a coverage of 1" in first
    assert "No difference" not in first


def test_a_mix_on_which_the_other_is_better_is_named():
    wrong, confidence = np.zeros((2, 2000), dtype=bool), np.random.default_rng(1).random(2000)
    wrong[0, :200:2], wrong[1, 1000::2] = True, True
    shift = np.where(np.arange(2000) < 1000, "none", "covariate")
    runs = [Outputs(confidences={"c": confidence}, errors=each, shift=shift) for each in wrong]
    comparison = compare_runs(*runs, names=("x", "y"))
    assert comparison.words().startswith("x is better after rejection with covariate shift")
    assert "On in-distribution samples y is better: AURC " in comparison.words()
    assert "x is better" not in comparison.words("in")


def test_a_model_that_accepts_all_is_said_to():
    rank = np.arange(1000)
    runs = [Outputs(confidences={"c": -rank}, errors=rank % step == 0) for step in (50, 5)]
    comparison = compare_runs(*runs, names=("x", "y"), at=ComparisonPoints(coverages=[0.8], risks=[0.3]))
    assert "At the risk that y has there, x accepts all rows." in comparison.words()
    assert comparison.words().endswith("At a risk of 30% both accept all rows.")


def test_rows_in_another_order_are_matched_by_id_and_domain():
    order = np.random.default_rng(3).permutation(N)
    comparison = compare_runs(OLD, run(2.0, 2, rows=order))
    assert comparison.to_dict() == compare_runs(OLD, NEW).to_dict()


def test_what_both_have_is_compared_and_the_rest_is_told():
    comparison = compare_runs(run(1.0, 1, rows=slice(0, 500)), run(2.0, 2, rows=slice(100, 600)))
    assert comparison.mix().n == 400
    assert "400 rows are in both; 100 of 500 of a and 100 of 500 of b are left out." in comparison.notes


def test_ids_may_be_numbers_in_one_and_names_in_the_other():
    a, b, _ = matched(OLD, run(2.0, 2, ids=IDS.astype(str)))
    assert (a.ids.astype(str) == b.ids).all()


def test_without_ids_rows_are_matched_by_place_and_that_is_said():
    comparison = compare_runs(run(1.0, 1, ids=None), run(2.0, 2, ids=None))
    assert "There are no ids: rows with the same index are taken for the same sample." in comparison.notes
    assert comparison.mix().samples == N


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: run(ids=None), "`b` must have ids as the other run has, got none. Give both ids, or neither."),
        (lambda: run(ids=IDS + 1000), "`b` must have samples of `a`, got no id in common: '1000' for '0'"),
        (lambda: run(labels=np.where(LABELS == 0, 1, LABELS)), "`b` must have the labels of `a` for the same samples"),
        (lambda: run(shift=np.where(SHIFT == "none", "covariate", SHIFT)), "`b` must have the shift of `a`"),
        (lambda: run(labels=None, shift=None), "`b` must have labels to be compared, got none"),
        (lambda: run(domain=None, rows=np.arange(N)[::-1]), "`a` must name each row by an id of its own"),
    ],
)
def test_runs_that_do_not_match_are_refused(other, message):
    with pytest.raises(ValueError, match=message):
        compare_runs(OLD, other())


def test_runs_without_ids_must_be_of_one_length():
    with pytest.raises(ValueError, match="got 300 rows for 600 and no ids"):
        compare_runs(run(ids=None), run(ids=None, rows=slice(0, 300)))


def test_other_class_names_are_refused():
    a, b = (
        Outputs(logits=[[2.0, 0.0], [0.0, 1.0]], labels=[0, 1], class_names=names)
        for names in (("cat", "dog"), ("dog", "cat"))
    )
    with pytest.raises(ValueError, match="the classes of `a` in the same order"):
        compare_runs(a, b)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "`level` must be between 0 and 1"),
        ({"at": {"coverages": [0.0]}}, "`coverage` must be above 0"),
        ({"at": {"alphas": []}}, "`alphas` must name at least one"),
        ({"at": {"risks": [1.0]}}, "`risk` must be at least 0 and below 1"),
        ({"score": "nonsense"}, "`score` must be a known score|be a known score"),
        ({"score": "knn"}, "`outputs` must have what knn needs"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compare_runs(OLD, NEW, **{k: ComparisonPoints(**v) if k == "at" else v for k, v in options.items()})


def test_the_best_score_of_each_is_chosen_on_rows_that_are_left_out_of_both():
    comparison = compare_runs(OLD, NEW, score="best", names=("old", "new"))
    assert comparison.mix().n < N
    assert any("rows were drawn to choose or fit scores on" in note for note in comparison.notes)
    assert any("was chosen for old among" in note for note in comparison.notes)
    assert comparison.mix().samples * 2 == pytest.approx(comparison.mix().n, abs=40)


def test_given_confidences_are_compared_too():
    rng = np.random.default_rng(4)
    wrong = rng.random(300) < 0.2
    good, bad = (Outputs(confidences={"vendor": rng.random(300) - k * wrong}, errors=wrong) for k in (1.0, 0.0))
    assert compare_runs(good, bad, names=("x", "y")).words().startswith("x is better after rejection")


def test_rows_that_are_not_finite_count_as_rejected_errors():
    logits = np.array(NEW.logits)
    logits[:30] = np.nan
    broken = Outputs(logits=logits, labels=LABELS, ids=IDS, shift=SHIFT, domain=DOMAIN, nonfinite="reject")
    comparison = compare_runs(NEW, broken)
    assert "30 rows of b are not finite: they count as rejected errors." in comparison.notes
    assert comparison.mix().errors_b > comparison.mix().errors_a


@pytest.mark.parametrize(("wrong", "state"), [(False, "right"), (True, "wrong")])
def test_nothing_can_be_told_without_errors_or_without_right_answers(wrong, state):
    same = [Outputs(confidences={"c": np.arange(20.0)}, errors=np.full(20, wrong)) for _ in range(2)]
    assert compare_runs(*same).words().startswith(f"Neither can be called better: both are always {state}")


def test_a_single_sample_is_refused():
    single = Outputs(logits=[[2.0, 0.0]], labels=[0])
    with pytest.raises(ValueError, match="at least 2 different samples"):
        compare_runs(single, single)


def test_a_difference_that_rounds_to_nothing_has_no_sign():
    assert [signed(value) for value in (-1e-9, 1e-9, 0.0)] == ["0.00"] * 3


def test_no_difference_of_two_rows_is_beyond_all_of_them():
    runs = [Outputs(confidences={"c": [0.9, 0.1]}, errors=errors) for errors in ([0, 0], [1, 1])]
    comparison = compare_runs(*runs, names=("old", "new")).mix()
    for each in (*comparison.aurc, *comparison.risk, *comparison.coverage):
        assert -1 <= each.low <= each.high <= 1


def test_the_words_say_who_is_better_by_how_much():
    rng = np.random.default_rng(0)
    confidence = rng.random(2000)
    old, new = (rng.random(2000) < rate * (1 - confidence) for rate in (0.6, 0.2))
    runs = [Outputs(confidences={"c": confidence}, errors=errors) for errors in (old, new)]
    words = compare_runs(*runs, names=("old", "new"), at=ComparisonPoints(risks=[0.1])).words()
    assert re.search(r"\(new is \d+\.\d\d points better, 95% interval \d+\.\d\d to \d+\.\d\d\)", words)
    assert re.search(r"\(new accepts \d+\.\d points more, 95% interval \d+\.\d to \d+\.\d\)", words)
