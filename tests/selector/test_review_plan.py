"""What is reviewed, what overflows, and what an audit tells of the accepted rows, by the command and in simulation."""

import csv
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import Outputs, Risk, calibrate, certify
from abstain.cli.app import app
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.rows import StreamRows
from abstain.selector import AuditedDecisions, Recertification, ReviewPlan

SHARE = 0.1


def table(seed, n, *, slope=0.3, names="row"):
    rng = np.random.default_rng([seed, 5])
    u = rng.random(n)
    ids = np.array([f"{names}-{seed}-{k}" for k in range(n)])
    return Outputs(confidences={"c": 1 - u}, errors=rng.random(n) < slope * u**2, ids=ids)


SELECTOR = calibrate(table(0, 3000, names="calibration"), risk=0.05)


def decided(seed, n=2000, *, slope=0.3, plan=None):
    """Decisions with an audit, the errors of all rows beside them."""
    rows = table(seed, n, slope=slope)
    columns = SELECTOR.decide(rows)
    return columns | (plan or ReviewPlan(audit=SHARE)).columns(columns), rows.errors


def audited(columns, errors):
    return AuditedDecisions.of(*(columns[k] for k in ("id", "confidence", "accepted", "review", "inclusion")), errors)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 9)), min_size=1, max_size=30),
    st.integers(0, 30),
    st.floats(0, 1),
)
def test_every_row_has_one_fate(rows, capacity, audit):
    c, accepted, ids = (np.array(column) for column in zip(*rows, strict=True))
    columns = ReviewPlan(capacity=capacity, audit=audit).columns({"id": ids, "confidence": c, "accepted": accepted})
    review, need, inclusion = columns["review"], columns["need"], columns["inclusion"]
    assert (np.isin(review, ["queue", "overflow"]) == ~accepted).all()
    assert np.count_nonzero(review == "queue") == min(capacity, np.count_nonzero(~accepted))
    assert sorted(need[~accepted]) == list(range(1, np.count_nonzero(~accepted) + 1))
    assert c[review == "queue"].max(initial=-1) <= c[review == "overflow"].min(initial=2)
    assert (inclusion[accepted] == audit).all()
    assert (inclusion[~accepted] == (review[~accepted] == "queue")).all()
    assert all(len(set(review[(ids == k) & accepted])) <= 1 for k in range(10))  # an id is drawn as a whole


def test_the_order_of_rows_decides_nothing_and_other_data_get_another_draw():
    columns, _ = decided(1)
    order = np.random.default_rng(0).permutation(2000)
    plan = ReviewPlan(audit=SHARE)
    shuffled = plan.columns({name: columns[name][order] for name in ("id", "confidence", "accepted")})
    assert (shuffled["review"] == columns["review"][order]).all()
    other = columns | {"confidence": columns["confidence"] + 0.5}
    assert (plan.columns(other)["review"] != columns["review"]).any()


def test_non_finite_rows_need_review_first():
    columns = {"id": np.arange(3), "confidence": np.array([0.1, np.nan, 0.2]), "accepted": np.zeros(3, dtype=bool)}
    assert ReviewPlan().columns(columns)["need"].tolist() == [2, 1, 3]


def test_audited_rows_estimate_the_risk_without_bias_and_found_labels_do_not():
    """Found labels: of every tenth error among the accepted, as by complaints, and some right answers."""
    by_audit, by_reported, truth = [], [], []
    for seed in range(1, 120):
        columns, errors = decided(seed)
        accepted, drawn = columns["accepted"], columns["review"] == "audit"
        rng = np.random.default_rng([seed, 6])
        right = ~errors & (rng.random(len(errors)) < 0.01)
        reported = accepted & ((errors & (rng.random(len(errors)) < 0.1)) | right)
        truth.append(errors[accepted].mean())
        by_audit.append(errors[drawn].mean())
        by_reported.append(errors[reported].mean())
    difference = np.array(by_audit) - truth
    assert abs(difference.mean()) < 3 * difference.std() / sqrt(len(difference))
    assert np.mean(by_reported) > 3 * np.mean(truth)


def test_certify_refutes_a_kept_guarantee_no_more_often_by_an_audit():
    refuted = 0
    for seed in range(1, 61):
        columns, errors = decided(seed, 3000)
        fresh = certify(SELECTOR, audited(columns, np.where(columns["review"] == "audit", errors, np.nan))).fresh
        refuted += fresh.verdict == "refuted"
        assert fresh.errors <= fresh.audited < fresh.accepted < fresh.rows
    assert refuted / 60 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 60)
    columns, errors = decided(1, 6000, slope=1.0)
    assert certify(SELECTOR, audited(columns, errors.astype(float))).verdict == "refuted"


def test_labels_of_rows_that_were_not_audited_change_nothing():
    columns, errors = decided(2)
    drawn = columns["review"] == "audit"
    others = np.where(drawn, errors, 1.0)
    first, another = (certify(SELECTOR, audited(columns, e)) for e in (np.where(drawn, errors, np.nan), others))
    assert first.fresh.tests == another.fresh.tests


def test_the_monitor_counts_labels_of_the_audit_alone():
    """Every error among the accepted is reported by somebody, right answers only where they are audited."""
    alarms = {"audit": 0, "reported": 0}
    for seed in range(1, 31):
        columns, errors = decided(seed, 3000)
        drawn = columns["review"] == "audit"
        error = [bool(e) if e or d else None for e, d in zip(errors, drawn, strict=True)]
        stream = {name: columns[name].tolist() for name in ("id", "confidence", "accepted", "review")}
        for name in alarms:
            given = dict(stream) if name == "audit" else {k: v for k, v in stream.items() if k != "review"}
            rows = StreamRows.of_columns(given | {"error": error})
            counted = np.where((rows.error >= 0) & (rows.accepted == 1), rows.error, np.nan).astype(float)
            monitor = DeploymentMonitor.of(SELECTOR).observe_errors(counted, ids=np.array(rows.ids))
            alarms[name] += "risk" in monitor.alarms
    assert alarms["audit"] <= 30 * (0.05 + 3 * sqrt(0.05 * 0.95 / 30))
    assert alarms["reported"] == 30


def test_an_audit_certifies_a_new_threshold_that_keeps_the_risk():
    """The risk at coverage c is 0.15·c² under the new distribution."""
    broken = made = 0
    for seed in range(1, 26):
        columns, errors = decided(seed, 6000, slope=0.45)
        threshold = Recertification.of(SELECTOR).take(audited(columns, errors.astype(float))).threshold
        if threshold is not None:
            made += 1
            broken += 0.15 * (1 - threshold.value) ** 2 > 0.05
            assert threshold.n == 6000
    assert broken / 25 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 25)
    assert made > 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"review": "queue"}, "`review` must mark audited rows, got none"),
        ({"inclusion": np.arange(2000) / 4000}, "`inclusion` must be the same for all accepted rows, got"),
        ({"errors": np.nan}, r"`error` must be known for every audited row, got none for \d+ of \d+"),
    ],
)
def test_an_audit_that_would_mislead_is_refused(change, message):
    columns, errors = decided(1)
    columns |= {name: np.broadcast_to(value, 2000) for name, value in change.items()}
    with pytest.raises(ValueError, match=message):
        audited(columns, columns.get("errors", errors.astype(float)))


@pytest.mark.parametrize(("option", "value"), [("capacity", -1), ("audit", 1.5)])
def test_a_plan_checks_its_options(option, value):
    with pytest.raises(ValueError, match=f"`{option}` must be a"):
        ReviewPlan(**{option: value})


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as done:
        app([str(argument) for argument in arguments])
    return done.value.code, capsys.readouterr()


def test_the_commands_take_the_file_of_decisions_back(tmp_path, capsys):
    SELECTOR.save(tmp_path / "s.abstain")
    rows, decisions = table(3, 4000, slope=0.45), tmp_path / "d.csv"
    unlabelled = Outputs(confidences={"c": rows.confidence("c")}, ids=rows.ids)
    unlabelled.save(tmp_path / "new")
    options = ("--capacity", 100, "--audit", 0.2)
    code, printed = call(capsys, "select", tmp_path / "s.abstain", tmp_path / "new", "-o", decisions, *options)
    words = " ".join(printed.err.split() + printed.out.split())
    assert code == 0
    assert "beyond the capacity of 100 (overflow): not answered, not accepted" in words
    assert "drawn at random with probability 0.2, in addition" in words
    with open(decisions, newline="") as stream:
        table_rows = list(csv.DictReader(stream))
    assert {row["review"] for row in table_rows} == {"", "queue", "overflow", "audit"}
    errors = dict(zip(rows.ids.tolist(), rows.errors.tolist(), strict=True))
    for row in table_rows:
        row["error"] = int(errors[row["id"]]) if row["review"] in ("audit", "queue") else ""
    with open(decisions, "w", newline="") as stream:
        writer = csv.DictWriter(stream, table_rows[0])
        writer.writeheader()
        writer.writerows(table_rows)
    code, printed = call(capsys, "certify", tmp_path / "s.abstain", "--on", decisions)
    assert code in (0, 3)
    assert "are wrong" in printed.out + printed.err
    code, printed = call(capsys, "monitor", decisions, "--selector", tmp_path / "s.abstain")
    assert code in (0, 3)
    new = ("--audited", "--state", tmp_path / "again.json", "-o", tmp_path / "new.abstain")
    code, printed = call(capsys, "recertify", tmp_path / "s.abstain", decisions, *new)
    assert code == 0
    assert "Certified after" in printed.out + printed.err


def test_an_audit_of_a_threshold_per_group_is_refused_with_what_to_give():
    rng = np.random.default_rng(0)
    n = 2000
    rows = Outputs(
        confidences={"c": rng.random(n)},
        errors=rng.random(n) < 0.01,
        domain=np.tile(["a", "b"], n // 2),
        ids=np.arange(n),
    )
    selector = calibrate(rows, Risk(0.1, per="domain"))
    decisions = selector.decide(rows)
    decisions |= ReviewPlan(audit=0.3).columns(decisions)
    audited = AuditedDecisions.of(
        *(decisions[name] for name in ("id", "confidence", "accepted", "review", "inclusion", "error"))
    )
    with pytest.raises(ValueError, match=r"must have one threshold .*, got several\. Give labelled outputs\."):
        certify(selector, audited)
