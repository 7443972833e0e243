"""`cascade`: what it makes, on two models whose errors depend on each other."""

import numpy as np
import pytest

import abstain
from abstain import Cascade, Outputs, Risk
from abstain._io.sealed import sealed_bytes, unsealed
from abstain.errors import InvalidInputError, InvalidTypeError, NoSafeThresholdError
from abstain.monitor import DeploymentMonitor
from abstain.selector.cascades.alternatives import alternatives
from abstain.selector.cascades.loading import load_selector

OPTIONS = {"risk": 0.05, "costs": [1.0, 20.0], "human_cost": 200.0, "names": ["small", "large"]}


@pytest.fixture
def made(pair):
    return abstain.cascade(pair(), **OPTIONS)


def test_a_row_is_answered_by_the_first_stage_above_its_threshold_else_by_a_person(made, pair):
    fresh = pair(1)
    decided, above = made.decide(fresh), made.thresholds
    confidence = np.column_stack([abstain.scores.confidence_margin(each.logits) for each in fresh])
    small = confidence[:, 0] > above["small"]
    large = ~(confidence[:, 0] > made.routing.thresholds[0]) & (confidence[:, 1] > above["large"])
    expected = np.where(small, "small", np.where(large, "large", "person"))
    assert np.mean(decided["answered_by"] == expected) > 0.999  # thresholds to read are rounded at the last bit
    assert set(decided["answered_by"]) == {"small", "large", "person"}


def test_answers_are_those_of_the_stage_that_answers(made, pair):
    fresh = pair(1)
    decided, answers = made.decide(fresh), made.answers(fresh)
    own = {name: outputs.predictions for name, outputs in zip(made.names, fresh, strict=True)}
    expected = [own[by][row] if by in own else -1 for row, by in enumerate(decided["answered_by"].tolist())]
    assert answers.tolist() == expected
    assert (decided["accepted"] == (answers >= 0)).all()


def test_row_costs_add_up_the_stages_that_are_run_and_the_person(made, pair):
    fresh = pair(1)
    decided = made.decide(fresh)
    expected = np.where(decided["stage"] == "small", 1.0, 21.0) + 200.0 * (decided["answered_by"] == "person")
    assert made.row_costs(fresh).tolist() == expected.tolist()


def test_the_later_model_needs_only_the_deferred_rows(made, pair):
    ids = np.array([f"r{row}" for row in range(1500)])
    small, large = pair(1, ids=ids)
    deferred = made.deferred([small])
    assert 0 < deferred.sum() < len(small)
    whole, part = made.decide([small, large]), made.decide([small, large.select(deferred)[::-1]])
    assert all((whole[name] == part[name]).all() for name in whole if name != "error")
    missing = large.select(np.flatnonzero(deferred)[1:])
    with pytest.raises(InvalidInputError, match="every row that the stages before it do not answer, got none"):
        made.decide([small, missing])


def test_a_file_holds_all_of_it(made, pair, tmp_path):
    made.save(tmp_path / "c.abstain")
    loaded = Cascade.load(tmp_path / "c.abstain")
    assert loaded.digest == made.digest
    assert loaded.summary() == made.summary()
    assert (loaded.decide(pair(1))["confidence"] == made.decide(pair(1))["confidence"]).all()
    assert isinstance(load_selector(tmp_path / "c.abstain"), Cascade)


def test_a_cascade_is_not_taken_for_a_selector(made, tmp_path):
    made.save(tmp_path / "c.abstain")
    with pytest.raises(InvalidInputError, match=r"must be a selector, got another kind of file \(cascade\)"):
        abstain.Selector.load(tmp_path / "c.abstain")


def test_an_altered_file_is_refused(made, tmp_path):
    file = tmp_path / "c.abstain"
    made.save(file)
    contents = bytearray(file.read_bytes())
    contents[-1] ^= 1
    file.write_bytes(contents)
    with pytest.raises(InvalidInputError, match="must be whole and unaltered"):
        Cascade.load(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, _: header.update(more=1), "a header with more or other fields"),
        (lambda header, _: header["thresholds"].append(0.5), "`stages` must be at least 2, as many as the routing has"),
        (lambda header, _: header["stages"].pop(), "`stages` must be at least 2, as many as the routing has"),
        (lambda _, arrays: arrays.update(more=np.zeros(2)), "more or other arrays than its score has"),
    ],
)
def test_a_file_that_holds_anything_else_is_refused(made, tmp_path, change, message):
    file = tmp_path / "c.abstain"
    made.save(file)
    known = ("abstain.cascade", 2)
    header, arrays = unsealed(file.read_bytes(), "c", *known, writer="Cascade.save", again="calibrate again")
    change(header, arrays)
    file.write_bytes(sealed_bytes(*known, header, arrays))
    with pytest.raises(InvalidInputError, match=f"must be a cascade, got .*{message}"):
        Cascade.load(file)


def test_the_order_of_rows_does_not_matter_where_ids_match_them(pair):
    ids = np.array([f"r{row}" for row in range(1500)])
    small, large = pair(ids=ids)
    moved = np.random.default_rng(5).permutation(1500)
    assert (
        abstain.cascade([small, large], **OPTIONS).summary()
        == abstain.cascade([small, large.select(moved)], **OPTIONS).summary()
    )


def test_labels_that_differ_are_refused(pair):
    small, large = pair()
    labels = large.labels.copy()
    labels[7] = 1
    other = Outputs(logits=large.logits, labels=labels)
    with pytest.raises(
        InvalidInputError, match=r"must have the same labels at every stage, got large different from.* row 7"
    ):
        abstain.cascade([small, other], **OPTIONS)


def test_other_numbers_of_rows_without_ids_are_refused(pair):
    small, large = pair()
    with pytest.raises(InvalidInputError, match="must have as many rows at every stage, or ids"):
        abstain.cascade([small, large[:100]], **OPTIONS)


def test_calibration_needs_every_row_at_every_stage(pair):
    small, large = pair(ids=np.arange(1500))
    with pytest.raises(InvalidInputError, match="must have every row at every stage to calibrate on, got 500 of 1,500"):
        abstain.cascade([small, large[:1000]], **OPTIONS)


def test_unknown_ids_and_repeated_ids_in_another_order_are_refused(pair):
    small, large = pair(ids=np.arange(1500))
    with pytest.raises(InvalidInputError, match="must be among those at small, got 500 others, '1000' first"):
        abstain.cascade([small[:1000], large], **OPTIONS)
    small, large = pair(ids=np.arange(1500) // 2)
    with pytest.raises(InvalidInputError, match="must be in the same order at every stage where they repeat"):
        abstain.cascade([small, large[::-1]], **OPTIONS)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"costs": [1.0]}, "`costs` must have one cost for each of 2 stages"),
        ({"costs": [1.0, -1.0]}, "`costs` must be at least 0, got -1"),
        ({"human_cost": float("inf")}, "`human_cost` must be"),
        ({"names": ["a", "a"]}, "`names` must be different strings"),
        ({"scores": ["energy"]}, "`scores` must have one score for each of 2 stages"),
        ({"risk": None}, "`target` must have a risk, such as .*, got none"),
    ],
)
def test_arguments_that_cannot_be_are_refused(pair, changed, match):
    with pytest.raises(InvalidInputError, match=match):
        abstain.cascade(pair(), **OPTIONS | changed)


def test_one_model_is_not_a_cascade(pair):
    with pytest.raises(InvalidInputError, match="must be of at least 2 models, got 1"):
        abstain.cascade(pair()[:1], risk=0.05, costs=[1.0])
    with pytest.raises(InvalidTypeError, match="must be a list with the outputs of each stage, got Outputs"):
        abstain.cascade(pair()[0], risk=0.05, costs=[1.0])


def test_a_target_without_a_risk_is_refused(pair):
    with pytest.raises(InvalidInputError, match="must have a risk"):
        abstain.cascade(pair(), abstain.Coverage(0.8), costs=[1, 20])


def test_a_risk_out_of_reach_says_what_is_achievable(pair):
    with pytest.raises(NoSafeThresholdError) as caught:
        abstain.cascade(pair(n=300), **OPTIONS | {"risk": 0.001})
    assert caught.value.achievable


def test_rows_in_clusters_are_certified_by_bets(pair):
    made = abstain.cascade(pair(n=3000, ids=np.arange(3000) // 2), **OPTIONS)
    assert made.selector.threshold.method == "betting"
    assert made.selector.threshold.guarantee.largest == 2


def test_each_stage_can_have_a_guarantee_of_its_own(pair):
    both = abstain.cascade(pair(n=4000), **OPTIONS, stage_risk=0.08)
    assert both.selector.threshold.method == "joint_risk"
    each = abstain.cascade(pair(n=4000), Risk(0.05, per="domain"), **{k: OPTIONS[k] for k in OPTIONS if k != "risk"})
    assert set(each.selector.groups.thresholds) <= {"small", "large"}
    assert each.selector.group_column == "stage"


def test_non_finite_rows_go_on_to_the_next_stage_and_last_to_a_person(made, pair):
    small, large = pair(1)
    broken = np.array(small.logits)
    broken[0] = broken[1] = np.nan
    late = np.array(large.logits)
    late[1] = np.nan
    labels = np.zeros(1500, dtype=int)
    rows = [Outputs(logits=each, labels=labels, nonfinite="reject") for each in (broken, late)]
    decided = made.decide(rows)
    assert decided["stage"][:2].tolist() == ["large", "large"]
    assert decided["answered_by"][1] == "person"


def test_confidences_alone_will_do(pair):
    rows = [Outputs(confidences={"own": each.logits.max(axis=1)}, errors=each.errors) for each in pair()]
    made = abstain.cascade(rows, **OPTIONS)
    assert made.selector.n_classes == 0
    assert made.accepts(rows).any()


@pytest.mark.parametrize("with_logits", [True, False])
def test_losses_of_graded_answers_are_bounded_as_errors_are(pair, with_logits):
    def graded(outputs):
        confidence = {"own": outputs.logits.max(axis=1)}
        known = {"logits": outputs.logits} if with_logits else {"confidences": confidence}
        return Outputs(losses=outputs.errors * 0.5, ids=outputs.ids, **known)

    made = abstain.cascade([graded(each) for each in pair()], **OPTIONS)
    fresh = [graded(each) for each in pair(1)]
    combined, stage = made.combined(fresh), made.decide(fresh)["stage"]
    np.testing.assert_array_equal(combined.losses, np.where(stage == "small", *(each.losses for each in fresh)))
    assert "the mean loss among accepted rows is at most 0.05" in made.summary()
    assert 0 < combined.losses[made.accepts(fresh)].mean() < 0.05


def test_errors_of_one_stage_and_losses_of_another_are_losses(pair):
    rows = pair()
    own = [{"own": each.logits.max(axis=1)} for each in rows]
    mixed = [
        Outputs(confidences=own[0], errors=rows[0].errors),
        Outputs(confidences=own[1], losses=rows[1].errors * 0.5),
    ]
    assert abstain.cascade(mixed, **OPTIONS).combined(mixed).is_graded


def test_a_score_that_needs_fitting_gets_rows_of_its_own(pair):
    made = abstain.cascade(pair(), **OPTIONS, scores=["max_logit_pnorm", None])
    data = made.selector.calibration
    assert data.held_out == pytest.approx((0.2 + 0.1) * data.rows, rel=0.02)


def test_three_stages_are_routed_in_turn(pair):
    small, large = pair(n=3000)
    made = abstain.cascade([small, large, large], risk=0.05, costs=[1, 5, 20], human_cost=200)
    decided = made.decide([small, large, large])
    assert made.names == ("stage 1", "stage 2", "stage 3")
    assert set(decided["stage"]) <= set(made.names)


def test_it_is_certified_and_monitored_like_a_selector(made, pair):
    fresh = pair(1, n=3000)
    certificate = abstain.certify(made, fresh)
    assert certificate.verdict in ("consistent", "confirmed")
    assert certificate.selector.digest == made.digest
    assert {each.counts.name for each in certificate.fresh.domains} == {"small", "large"}
    decided = made.decide(fresh)
    monitor = DeploymentMonitor.of(made).observe_errors(decided["error"][decided["accepted"]])
    assert not monitor.alarms
    with pytest.raises(InvalidTypeError, match="must be a list with the outputs of each stage"):
        abstain.certify(made, fresh[0])


def test_rows_that_calibrated_it_cannot_certify_it(made, pair):
    with pytest.raises(InvalidInputError, match="must be rows that the selector has not seen"):
        abstain.certify(made, pair())


def test_alternatives_are_certified_at_the_same_risk(made, pair):
    rows = pair()
    whole, small, large, person = alternatives(made, rows, risk=0.05, delta=0.05)
    assert whole.cost == pytest.approx(made.row_costs(rows).mean())
    alone = abstain.calibrate(rows[1], risk=0.05).threshold
    assert large.cost == pytest.approx(20 + 200 * (1 - alone.accepted / alone.n))
    assert small.name == "small alone"
    assert person.cost == 200


def test_a_guarantee_about_groups_of_rows_is_refused_as_groups_are_stages(pair):
    rows = [
        Outputs(logits=each.logits, labels=each.labels, domain=np.where(np.arange(1500) % 2, "a", "b"))
        for each in pair()
    ]
    known = {name: OPTIONS[name] for name in OPTIONS if name != "risk"}
    with pytest.raises(
        InvalidInputError, match="`target` must not be about groups of rows, since those of a cascade are"
    ):
        abstain.cascade(rows, Risk(0.05, per="domain"), **known)
    assert abstain.cascade(rows, **OPTIONS, stage_risk=0.2).selector.threshold.accepted


def test_combined_outputs_may_have_the_groups_of_the_rows(made, pair):
    groups = np.where(np.arange(1500) % 2, "web", "store")
    combined = made.combined(pair(1), domain=groups)
    assert combined.domain.tolist() == groups.tolist()
    np.testing.assert_array_equal(made.selector.accepts(combined), made.accepts(pair(1)))
