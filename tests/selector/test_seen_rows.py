"""Rows that calibrated a selector are known again in any order or part; fresh ones never are."""

from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs, Selector, calibrate, certify
from abstain.selector import Recertification
from abstain.selector.hash_sample import END, SIZE, HashSample
from abstain.selector.seen_rows import SeenRows

REFUSED = r"must be rows that the selector has not seen, got about {} of {} that calibrated it"


def classified(n, seed, *, ids=None, kind=np.float32):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    logits = (rng.normal(size=(n, 3)) + 4 * np.eye(3)[labels]).astype(kind)
    names = None if ids is None else np.array([ids.format(seed=seed, row=row) for row in range(n)])
    return Outputs(logits=logits, labels=labels, ids=names)


def table(n, seed, decimals=None, ids=None):
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    c = 1 - u if decimals is None else np.round(1 - u, decimals)
    return Outputs(confidences={"vendor": c}, errors=rng.random(n) < 0.3 * u**2, ids=ids)


def about(n, whole, off=0.1):
    """A pattern of numbers near n, by their first digits."""
    return REFUSED.format(
        rf"(?:{'|'.join(f'{k:,}' for k in range(int(n * (1 - off)), int(n * (1 + off)) + 1))})", whole
    )


@pytest.mark.parametrize("make", [classified, table])
@pytest.mark.parametrize(
    "part",
    [
        lambda n: np.random.default_rng(5).permutation(n),
        lambda n: np.arange(n - 1),
        lambda n: np.arange(n // 2),
        lambda n: np.arange(n // 2, n),
    ],
    ids=["permuted", "minus one", "first half", "second half"],
)
def test_rows_of_calibration_are_refused_in_any_order_and_part(make, part):
    known = make(2000, 0)
    again = known.select(part(len(known)))
    with pytest.raises(ValueError, match=REFUSED.format(f"{len(again):,}", f"{len(again):,}")):
        certify(calibrate(known, risk=0.05), again)


@pytest.mark.parametrize("make", [classified, table])
def test_half_fresh_and_half_seen_are_refused(make):
    known = make(2000, 0)
    mixed = Outputs.concat([known[:500], make(500, 1)])
    with pytest.raises(ValueError, match=about(500, "1,000")):
        certify(calibrate(known, risk=0.05), mixed)


def test_few_rows_of_calibration_are_found_among_many():
    known, many = classified(800, 0), classified(50_000, 1)
    assert SeenRows.of(known).share(Outputs.concat([known[:100], many])) == pytest.approx(100 / 50_100)


def test_rows_that_chose_or_fitted_the_score_are_seen_too(tmp_path):
    known = classified(1500, 0)
    calibrate(known, score=["max_softmax", "energy"], risk=0.1).save(tmp_path / "s.abstain")
    selector = Selector.load(tmp_path / "s.abstain")
    assert selector.seen == SeenRows.of(known)
    assert selector.calibration.held_out == 300
    with pytest.raises(ValueError, match=REFUSED.format("1,500", "1,500")):
        certify(selector, known[::-1])


def test_one_known_id_with_its_contents_is_enough():
    known, other = classified(900, 0, ids="a{row}"), classified(300, 1, ids="b{row}")
    selector = calibrate(known, risk=0.1)
    assert certify(selector, other).fresh.compared == ("ids", "contents")
    with pytest.raises(ValueError, match=REFUSED.format(1, 300)):
        certify(selector, Outputs.concat([known[7:8], other[1:]]))


def test_other_samples_of_the_same_names_are_not_taken_for_those_of_calibration():
    selector = calibrate(classified(900, 0, ids="cat/{row}.png"), risk=0.1)
    words = "About 300 of 300 fresh rows have ids of rows that calibrated the selector"
    with pytest.warns(UserWarning, match=words) as message:
        certificate = certify(selector, classified(300, 1, ids="cat/{row}.png"))
    assert message[0].filename == __file__
    assert certificate.fresh.compared == ("contents",)
    assert certificate.verdict != "not tested"


@pytest.mark.parametrize("ids", [np.arange(900), np.arange(900).astype(str)], ids=["numbers", "numbers as text"])
def test_ids_that_number_the_rows_of_each_file_prove_nothing(ids):
    selector = calibrate(table(900, 0, ids=ids), risk=0.1)
    assert certify(selector, table(900, 1, ids=ids)).fresh.compared == ("contents",)
    with pytest.raises(ValueError, match=REFUSED.format(900, 900)):
        certify(selector, table(900, 0, ids=ids)[::-1])


def test_other_ids_and_another_precision_do_not_hide_rows():
    known = classified(900, 0, ids="a{row}")
    renamed = Outputs(logits=known.logits.astype(np.float64), labels=known.labels, ids=[f"b{k}" for k in range(900)])
    with pytest.raises(ValueError, match=REFUSED.format(900, 900)):
        certify(calibrate(known, risk=0.1), renamed)


@pytest.mark.parametrize("decimals", [1, 2, 3, 4, 5])
def test_fresh_rows_of_a_table_with_ties_are_never_refused(decimals):
    seen = SeenRows.of(table(1500, 0, decimals))
    assert not any(seen.share(table(1500, seed, decimals)) for seed in range(1, 100))
    assert not any(seen.share(table(150, seed, decimals)) for seed in range(1, 50))


@pytest.mark.parametrize("decimals", [3, 4])
def test_the_rows_of_a_table_with_ties_are_known_again(decimals):
    known = table(1500, 0, decimals)
    assert SeenRows.of(known).share(known[::-1]) == 1
    assert SeenRows.of(known).share(known[:750]) == 1


@pytest.mark.parametrize("make", [classified, table])
@pytest.mark.parametrize("times", [2, 3])
def test_copies_do_not_hide_rows(make, times):
    known = make(800, 0)
    copies = known.select(np.repeat(np.arange(800), times))
    assert SeenRows.of(known).share(copies[::-1]) == 1
    assert SeenRows.of(copies).share(known) == 1
    assert SeenRows.of(copies).share(copies[::-1]) == 1
    mixed = Outputs.concat([known[:400], make(400, 1)]).select(np.repeat(np.arange(800), times))
    assert SeenRows.of(known).share(mixed) == 0.5


def test_irregular_copies_do_not_hide_rows():
    known, drawn = table(800, 0), np.random.default_rng(0).integers(800, size=2000)
    assert SeenRows.of(known).share(known.select(drawn)) == 1
    assert SeenRows.of(known.select(drawn)).share(known) > 0.9


def test_copies_of_one_id_do_not_hide_rows():
    known = classified(800, 0, ids="a{row}")
    drawn = np.random.default_rng(0).integers(800, size=20_000)
    with pytest.raises(ValueError, match=REFUSED.format(800, 800)):
        certify(calibrate(known.select(drawn), risk=0.3), known)


@pytest.mark.parametrize("times", [2, 3, 10])
@pytest.mark.parametrize("decimals", [1, 2, 3, 4])
def test_copies_of_fresh_rows_with_ties_are_not_refused(times, decimals):
    seen = SeenRows.of(table(1500, 0, decimals))
    for seed in range(1, 30):
        assert not seen.share(table(1500, seed, decimals).select(np.repeat(np.arange(1500), times)))


def test_percentiles_of_each_file_prove_nothing():
    single, other = (table(1000, seed) for seed in (0, 1))
    binned = [Outputs(confidences={"c": np.arange(1000) // 10 / 100}, errors=rows.errors) for rows in (single, other)]
    assert not SeenRows.of(binned[0]).share(binned[1])


def few_values(n, seed, ids, *, rows=1):
    """Rows of six common confidences, whatever their names."""
    rng = np.random.default_rng(seed)
    c = rng.choice([0.5, 0.7, 0.8, 0.9, 0.95, 1], size=n, p=[0.05, 0.05, 0.1, 0.2, 0.2, 0.4])
    return Outputs(
        confidences={"c": c}, errors=rng.random(n) > c, ids=[ids.format(row=row // rows) for row in range(n)]
    )


@pytest.mark.parametrize("rows", [1, 10, 200])
def test_few_values_under_the_same_names_are_not_refused(rows):
    seen = SeenRows.of(few_values(1000, 0, "img_{row}.png", rows=rows))
    assert not any(seen.share(few_values(n, n, "img_{row}.png", rows=rows)) for n in (20, 100, 999, 1000, 5000))
    assert not any(seen.share(few_values(3, seed, "img_{row}.png", rows=rows)) for seed in range(20))


@pytest.mark.parametrize("decimals", [2, 3, 4, 5])
def test_ties_under_the_same_names_are_not_refused(decimals):
    names = [f"img_{row}.png" for row in range(1500)]
    seen = SeenRows.of(table(1500, 0, decimals, ids=names))
    assert not any(seen.share(table(1500, seed, decimals, ids=names)) for seed in range(1, 60))


def test_names_that_tell_the_class_are_not_taken_for_those_of_calibration():
    rng = np.random.default_rng(0)
    names, labels = [f"{row % 3}/{row}.png" for row in range(900)], np.arange(900) % 3
    guesses = [np.where(rng.random(900) < 0.95, labels, rng.integers(3, size=900)) for _ in range(2)]
    single, other = (Outputs(logits=5.0 * np.eye(3)[guess], labels=labels, ids=names) for guess in guesses)
    assert not SeenRows.of(single).share(other)


def test_an_id_of_one_row_and_contents_of_another_are_no_common_row():
    known, other = classified(800, 0, ids="a{row}"), classified(800, 1, ids="a{row}")
    logits = np.concatenate([known.logits[5:6], other.logits[1:]])
    assert not SeenRows.of(known).share(Outputs(logits=logits, labels=other.labels, ids=other.ids))
    assert SeenRows.of(known).share(Outputs.concat([known[:1], other[1:]])) == pytest.approx(1 / 800)


def test_rows_of_few_values_are_known_again_by_their_names():
    known, other = few_values(1000, 0, "img_{row}.png"), few_values(500, 1, "new_{row}.png")
    assert SeenRows.of(known).share(known[::-1]) == 1
    assert SeenRows.of(known).share(known[::2]) == 1
    assert SeenRows.of(known).share(Outputs.concat([known[:500], other])) == 0.5


def test_ties_of_other_distributions_prove_nothing():
    rng = np.random.default_rng(0)
    wide, narrow = ([rng.integers(most, size=1500) / 1e4 for _ in range(60)] for most in (10_000, 1000))
    for each, other in zip(wide, narrow, strict=True):
        a, b = (Outputs(confidences={"c": c}, errors=np.zeros(1500, dtype=bool)) for c in (each, other))
        assert not SeenRows.of(a).share(b)
        assert not SeenRows.of(b).share(a)


def test_fresh_rows_of_a_classifier_are_never_refused():
    seen = SeenRows.of(classified(5000, 0))
    assert not any(seen.share(classified(3000, seed)) for seed in range(1, 30))
    assert not any(seen.share(classified(3000, seed, kind=np.float16)) for seed in range(1, 10))


def test_a_sample_is_bounded_and_estimates_the_share():
    known, other = classified(50_000, 0), classified(50_000, 1)
    seen = SeenRows.of(known)
    assert len(seen.contents.hashes) == SIZE
    mixed = Outputs.concat([known[:20_000], other])
    assert seen.share(mixed) == pytest.approx(2 / 7, abs=0.05)


def test_the_hashes_are_those_of_every_machine():
    rows = Outputs(logits=np.array([[1.5, -2.0]], dtype=">f4"), labels=[0], ids=["x"])
    assert SeenRows.of(rows) == SeenRows(
        HashSample((11773217728322933200,), (1,), END),
        HashSample((18362203765567749720,), (1,), END),
        HashSample((11773217730181965577,), (1,), END),
    )


def test_rows_that_are_not_usable_and_huge_logits_are_no_trouble():
    rows = Outputs(logits=[[np.nan, 1.0], [1e300, 0.0], [-np.inf, 0.0]], labels=[0, 0, 1], nonfinite="reject")
    assert len(SeenRows.of(rows).contents.hashes) == rows.usable.sum()


def test_labels_of_a_recertification_are_seen_by_their_ids():
    known = table(3000, 0)
    old = calibrate(known, risk=0.1)
    names = np.array([f"new-{row}" for row in range(3000)])
    later = table(3000, 1, ids=names)
    asked = Recertification.of(old).ask(old.confidence(later), names, labels=600)
    wrong = dict(zip(names.tolist(), later.errors.tolist(), strict=True))
    new = asked.answer(asked.pending, [wrong[name] for name in asked.pending]).selector(old)
    assert new.seen.contents == old.seen.contents
    with pytest.raises(ValueError, match="that calibrated it"):
        certify(new, later)
    assert certify(new, table(3000, 2, ids=np.char.add("z", names))).fresh.compared == ("ids", "contents")


def test_a_selector_that_keeps_no_rows_says_so():
    certificate = certify(replace(calibrate(table(900, 0), risk=0.1), seen=None), table(900, 1))
    assert certificate.fresh.compared == ()
