"""Certificates: what they hold, what fresh rows say, and what breaks them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from abstain import JointRisk, Outputs, Risk, Selector, calibrate, certify
from abstain.selector.certificate import Certificate
from abstain.selector.certificate_changes import changes
from abstain.selector.certificate_words import findings, guarantee_words, slice_words, verdict_words, words_of_test


def rows(n, seed, *, steep=0.3, domains=("a", "b"), copies=1):
    """Confidences with errors that get rarer as they rise."""
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    ids = np.array([f"{seed}-{i // copies}" for i in range(n)])
    domain = np.array(domains)[np.arange(n) % len(domains)]
    return Outputs(confidences={"vendor": 1 - u}, errors=rng.random(n) < steep * u**2, ids=ids, domain=domain)


CAL, FRESH = rows(3000, 0), rows(3000, 1)
SELECTOR = calibrate(CAL, risk=0.05)


@pytest.fixture(scope="module")
def certificate():
    return certify(SELECTOR, FRESH, sources={"selector": "s.abstain", "on": "fresh/"})


def test_a_selector_remembers_its_rows_in_the_file_too(tmp_path):
    SELECTOR.save(tmp_path / "s.abstain")
    result = Selector.load(tmp_path / "s.abstain").calibration
    assert result == SELECTOR.calibration
    assert (result.rows, result.samples, result.unusable, result.held_out, result.largest) == (3000, 3000, 0, 0, 1)
    assert [each.name for each in result.domains] == ["a", "b"]
    accepted = SELECTOR.accepts(CAL)
    assert sum(each.accepted for each in result.domains) == accepted.sum() == SELECTOR.threshold.accepted
    assert sum(each.errors for each in result.domains) == (CAL.errors & accepted).sum()


def test_the_digest_is_that_of_the_file(tmp_path):
    SELECTOR.save(tmp_path / "s.abstain")
    contents = (tmp_path / "s.abstain").read_bytes()
    assert contents.count(SELECTOR.digest.encode()) == 1
    assert Selector.load(tmp_path / "s.abstain").digest == SELECTOR.digest


def test_rows_that_differ_in_a_bit_have_another_digest():
    other = CAL.confidences.copy()
    other[7, 0] = np.nextafter(other[7, 0], 0)
    changed = Outputs(confidences={"vendor": other[:, 0]}, errors=CAL.wrong, ids=CAL.ids, domain=CAL.domain)
    assert calibrate(changed, risk=0.05).calibration.digest != SELECTOR.calibration.digest


def test_rows_that_fit_the_score_are_held_out_and_classes_are_told_by_name():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=1500)
    logits = rng.normal(size=(1500, 3)) + 4 * np.eye(3)[labels]
    known = Outputs(logits=logits, labels=labels, class_names=["cat", "dog", "<b>"])
    selector = calibrate(known, score="gen", risk=0.1).calibration
    assert [each.name for each in selector.classes] == ["<b>", "cat", "dog"]
    held = calibrate(known, score=["max_softmax", "energy"], risk=0.1).calibration
    assert held.held_out == 300
    assert sum(each.n for each in held.classes) == 1200


def test_a_kept_guarantee_is_confirmed_or_consistent(certificate):
    assert certificate.verdict in ("confirmed", "consistent")
    fresh = certificate.fresh
    accepted = SELECTOR.accepts(FRESH)
    assert (fresh.accepted, fresh.errors) == (accepted.sum(), (accepted & FRESH.errors).sum())
    assert fresh.tests[0].result.by == "binomial"


def test_a_broken_guarantee_is_refuted_and_its_slices_are_told():
    bad = rows(3000, 2, steep=0.9)
    result = certify(SELECTOR, bad)
    assert result.verdict == "refuted"
    assert all(each.above for each in result.fresh.domains)
    assert "In the group a, " in slice_words(result.fresh)[0]
    assert verdict_words(result) == "The fresh rows refute the guarantee."


def test_slices_are_tested_together_one_after_the_other():
    sizes, wrong = (100, 110, 40), (20, 11, 0)
    errors = np.concatenate([np.arange(size) < some for size, some in zip(sizes, wrong, strict=True)])
    confidence = 1 - 1e-4 * np.random.default_rng(7).random(250)
    result = certify(
        SELECTOR, Outputs(confidences={"vendor": confidence}, errors=errors, domain=np.repeat(["a", "b", "c"], sizes))
    )
    assert result.fresh.accepted == 250
    assert [each.above for each in result.fresh.domains] == [True, True, False]  # b: p = 0.022, more than 0.05 / 3


def test_few_rows_say_little_and_the_power_is_told():
    result = certify(SELECTOR, rows(60, 3))
    assert result.verdict == "too little data"
    assert "A share of 10% would be noticed with probability " in words_of_test(result.fresh.tests[0])


def test_clusters_are_tested_by_bets():
    clustered = calibrate(rows(4000, 0, copies=4), risk=0.08)
    result = certify(clustered, rows(4000, 5, copies=4))
    assert result.fresh.tests[0].result.by == "betting"
    assert "would be noticed with probability about " in findings(result)[0]
    assert (result.calibration.largest, result.calibration.samples) == (4, 1000)
    assert certify(clustered, rows(4000, 6, copies=4, steep=1.0)).verdict == "refuted"


def test_each_group_is_tested_and_the_level_shared():
    grouped = calibrate(CAL, Risk(0.05, per="domain"))
    mixed = rows(4000, 7, domains=("a", "c"))
    result = certify(grouped, mixed)
    assert [test.about[-11:] for test in result.fresh.tests[1:]] == ["the group a", "the group b"]
    assert result.fresh.unseen == ("c",)
    assert result.selector.per == "domain"
    assert result.fresh.tests[2].result.trials == 0


def test_risk_and_coverage_are_both_tested():
    both = calibrate(CAL, risk=0.08, coverage=0.5)
    result = certify(both, FRESH)
    covered = result.fresh.tests[1].result
    assert (covered.limit, covered.trials) == (0.5, 3000)
    assert covered.events == (~both.accepts(FRESH)).sum()
    assert "are rejected" in words_of_test(result.fresh.tests[1])


@pytest.mark.parametrize("options", [{"coverage": 0.7, "delta": None}, {"cost": 0.2}], ids=["in expectation", "cost"])
def test_what_rows_cannot_refute_is_not_tested(options):
    result = certify(calibrate(CAL, **options), FRESH)
    assert result.verdict == "not tested"
    assert "not tested, as" in words_of_test(result.fresh.tests[0])


def test_without_fresh_rows_nothing_is_tested():
    result = certify(SELECTOR)
    assert (result.fresh, result.verdict, findings(result)) == (None, "not tested", [])
    assert guarantee_words(result)[0].startswith("The share of errors among accepted rows is at most 0.05")


def test_rows_that_are_not_usable_are_counted_and_never_accepted():
    confidence = np.append(np.full(400, 0.99), np.full(10, np.nan))
    fresh = Outputs(confidences={"vendor": confidence}, errors=np.zeros(410, dtype=bool), nonfinite="reject")
    result = certify(SELECTOR, fresh).fresh
    assert (result.unusable, result.accepted, result.errors) == (10, 400, 0)


@pytest.mark.parametrize(("n", "wrong"), [(1, 0), (2, 1), (500, 0), (500, 1)])
def test_one_row_no_errors_and_all_errors(n, wrong):
    fresh = Outputs(confidences={"vendor": np.full(n, 0.999)}, errors=np.full(n, bool(wrong)))
    verdict = certify(SELECTOR, fresh).verdict
    expected = {(1, 0): "too little data", (2, 1): "refuted", (500, 0): "confirmed", (500, 1): "refuted"}
    assert verdict == expected[n, wrong]


def test_the_json_is_stable_sorted_and_read_again(certificate):
    text = certificate.to_json()
    assert text == certify(SELECTOR, FRESH, sources={"selector": "s.abstain", "on": "fresh/"}).to_json()
    document = json.loads(text)
    assert list(document) == sorted(document)
    assert Certificate.from_json(text).to_json() == text
    assert document["fresh"]["tests"][0]["result"]["p_value"] == float(
        f"{certificate.fresh.tests[0].result.p_value:.6g}"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d | {"format": "x"}, "got another kind of document"),
        (lambda d: d | {"version": 9}, "got version 9, not 5"),
        (lambda d: d | {"verdict": "refuted"}, "the verdict 'refuted' where its test says"),
        (lambda d: {key: value for key, value in d.items() if key != "selector"}, "instead of the fields"),
        (lambda _: [], "got another kind of document"),
    ],
)
def test_other_documents_are_refused(certificate, change, message):
    text = json.dumps(change(json.loads(certificate.to_json())))
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(text, location="c.json")


@pytest.mark.parametrize("text", ["", "[" * 100_000, "{}", "null"])
def test_what_is_no_certificate_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"`c\.json` must be a certificate as \.json, got"):
        Certificate.from_json(text, location="c.json")


def test_the_same_again_stands(certificate):
    assert changes(certificate, certify(SELECTOR, FRESH, sources=certificate.sources)) == changes(
        certificate, certificate
    )
    assert changes(certificate, Certificate.from_json(certificate.to_json())).stands


def test_other_software_is_only_noticed(certificate):
    newer = replace(certificate, software=certificate.software | {"numpy": "9.9"})
    result = changes(certificate, newer)
    assert result.stands
    assert result.notices[0].startswith("software.numpy: ")


def test_another_selector_breaks_it(certificate):
    other = certify(calibrate(CAL, risk=0.06), FRESH, sources=certificate.sources)
    result = changes(certificate, other)
    assert result.breaks[0].startswith(f"another selector (digest {other.selector.digest[:12]}")
    assert len(result.breaks) < 7
    assert any("more numbers differ" in words for words in result.breaks)
    assert any(words.startswith("guarantees[0].target: 0.05 → 0.06") for words in result.breaks)


def test_other_rows_at_the_same_place_break_it(certificate):
    result = changes(certificate, certify(SELECTOR, rows(3000, 8), sources=certificate.sources))
    assert any(words.startswith("fresh.digest: ") for words in result.breaks)


def test_what_is_not_proved_is_aimed_at():
    threshold = SELECTOR.threshold
    aimed = replace(SELECTOR, threshold=replace(threshold, guarantee=threshold.guarantee.unproved("as rows depend")))
    result = certify(aimed, FRESH)
    assert "guarantee" not in verdict_words(result)
    assert verdict_words(result).endswith(" what was aimed at.")
    assert "at most 5% is aimed at" in findings(result)[0]


def test_rows_with_classes_and_tables_are_told_apart():
    classes = Outputs(logits=3 * np.eye(3), labels=[0, 1, 2])
    with pytest.raises(ValueError, match="must have confidences alone, as in calibration, got 3 cl"):
        certify(SELECTOR, classes)


def test_rows_from_elsewhere_are_noticed_unless_they_say_less(certificate):
    elsewhere = {"selector": "s.abstain", "on": "later/"}
    assert changes(certificate, certify(SELECTOR, rows(6000, 9), sources=elsewhere)).stands
    few = changes(certificate, certify(SELECTOR, rows(20, 9), sources=elsewhere))
    assert "The fresh rows say 'too little data' where the certificate says" in few.breaks[0]


def test_a_refuted_guarantee_breaks_it_wherever_the_rows_are_from(certificate):
    bad = certify(SELECTOR, rows(3000, 2, steep=0.9), sources={"selector": "s.abstain", "on": "later/"})
    assert "The guarantee is refuted by the fresh rows." in changes(certificate, bad).breaks


def test_an_edited_certificate_is_broken(certificate):
    document = json.loads(certificate.to_json())
    document["fresh"]["errors"] -= 1
    edited = Certificate.from_json(json.dumps(document))
    assert changes(edited, certificate).breaks[0].startswith("fresh.errors: ")


def test_rows_that_calibrated_it_and_rows_without_labels_are_refused():
    with pytest.raises(ValueError, match="`fresh` must be rows that the selector has not seen"):
        certify(SELECTOR, CAL)
    with pytest.raises(ValueError, match="`fresh` must have labels, got none"):
        certify(SELECTOR, Outputs(confidences={"vendor": [0.5]}))
    with pytest.raises(TypeError, match="`selector` must be a Selector or a Cascade, got str"):
        certify("s.abstain")


def test_fresh_rows_do_not_break_a_certificate_that_had_none():
    before = certify(SELECTOR)
    result = changes(before, certify(SELECTOR, FRESH, sources={"on": "fresh"}))
    assert result.stands
    assert any("rows for none" in words for words in result.notices)


def test_what_is_confirmed_is_within_the_bound_told_beside_it():
    for seed in range(30):
        result = certify(SELECTOR, rows(400, 100 + seed)).fresh.tests[0].result
        assert (result.verdict == "confirmed") == (result.high <= result.limit)


def test_a_certificate_is_told_in_words_and_its_repr_is_a_line(certificate):
    words = certificate.summary()
    assert words == "\n".join([*guarantee_words(certificate), verdict_words(certificate), *findings(certificate)])
    assert repr(certificate) == str(certificate)
    assert repr(certificate).startswith(f"<Certificate: {certificate.verdict}; vendor > ")
    assert repr(certificate).endswith("; print(certificate.summary()) shows its guarantee>")
    assert "vendor for each domain" in repr(certify(calibrate(CAL, Risk(0.05, per="domain"))))
    assert len(repr(certificate)) < 120


def test_the_bound_is_said_of_the_share_itself(certificate):
    assert "; the share itself is at most " in words_of_test(certificate.fresh.tests[0])


def test_rows_without_labels_are_told_what_a_table_needs():
    with pytest.raises(
        ValueError,
        match=r"got none. A table has them in a column `label`, .* errors= or losses= to Outputs",
    ):
        certify(SELECTOR, Outputs(confidences={"vendor": [0.5]}))


def hard_group(n, seed, rate=None):
    """Rows of which a few are of a group that may be wrong more often than the others."""
    rng = np.random.default_rng(seed)
    u, group = rng.random(n), rng.choice(["a", "b"], n, p=[0.9, 0.1])
    errors = rng.random(n) < 0.1 * u**2
    errors = errors if rate is None else np.where(group == "b", rng.random(n) < rate, errors)
    return Outputs(confidences={"vendor": 1 - u}, errors=errors, domain=group)


JOINT = calibrate(hard_group(6000, 0), JointRisk(0.05, 0.1, per="domain"))


def test_a_guarantee_of_every_group_is_tested_in_each():
    bad = certify(JOINT, hard_group(6000, 1, rate=0.17))
    assert bad.verdict == "refuted"
    assert [test.about for test in bad.fresh.tests[1:]] == [
        f"the share of errors among accepted rows in the group {name}" for name in "ab"
    ]
    assert [test.result.limit for test in bad.fresh.tests] == [0.05, 0.1, 0.1]
    assert [test.result.verdict for test in bad.fresh.tests] == ["consistent", "confirmed", "refuted"]
    assert certify(JOINT, hard_group(6000, 1)).verdict == "confirmed"


def test_nothing_is_confirmed_of_which_a_part_is_not_tested():
    fresh = hard_group(6000, 1)
    without = Outputs(confidences={"vendor": fresh.confidence("vendor")}, errors=fresh.errors)
    result = certify(JOINT, without)
    assert (result.fresh.tests[0].result.verdict, result.verdict) == ("confirmed", "consistent")
    assert "not tested, as the fresh rows do not name their groups" in findings(result)[2]
    assert certify(calibrate(hard_group(6000, 0), risk=0.05), without).verdict == "confirmed"


def test_predicted_classes_are_groups_as_well(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=8000)
    logits = 4 * np.eye(2)[labels] + rng.normal(size=(8000, 2)) * 1.5
    first, second = Outputs(logits=logits, labels=labels, class_names=("no", "yes")).split(0.5, seed=0)
    calibrate(first, JointRisk(0.05, 0.1, per="class")).save(tmp_path / "s.abstain")
    result = certify(Selector.load(tmp_path / "s.abstain"), second)
    assert [test.about.split()[-1] for test in result.fresh.tests[1:]] == ["no", "yes"]
    assert all(test.result.trials for test in result.fresh.tests)


def test_kept_guarantees_of_ten_groups_are_seldom_refuted_together():
    groups = [f"g{k}" for k in range(10)]
    names, trials = np.tile(groups, 150), 400
    whole, each = JOINT.threshold.guarantee, replace(JOINT.threshold.further[0], groups=tuple(groups))
    selector = replace(
        JOINT, threshold=replace(JOINT.threshold, value=-np.inf, guarantee=replace(whole, target=0.1), further=(each,))
    )
    single, together = 0, 0
    for seed in range(trials):
        wrong = np.random.default_rng([seed, 30]).random(1500) < 0.1  # just what is guaranteed, of all and of each
        fresh = Outputs(confidences={"vendor": np.linspace(0, 1, 1500)}, errors=wrong, domain=names)
        tests = certify(selector, fresh).fresh.tests
        together += any(test.result.verdict == "refuted" for test in tests)
        single += any(test.result.p_value <= 0.05 for test in tests)
    assert together / trials <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / trials)
    assert single / trials > 0.15  # each at the whole level
