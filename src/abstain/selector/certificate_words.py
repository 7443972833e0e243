"""A certificate in words: the guarantees, and the results of testing them on fresh rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain._text import counted, percent, sentence

if TYPE_CHECKING:
    from abstain.selector.calibration_data import SliceCounts
    from abstain.selector.certificate import Certificate, FreshData, GuaranteeTest, SliceTest

MEANING = {
    "confirmed": "the fresh rows alone prove {}",
    "consistent": "the fresh rows are consistent with {}",
    "refuted": "the fresh rows refute {}",
    "too little data": "the fresh rows are too few to say",
    "not tested": "{} was not tested on fresh rows",
}


def verdict_words(certificate: Certificate, /) -> str:
    """The verdict, in a sentence."""
    what, fresh = "the guarantee" if _is_guaranteed(certificate) else "what was aimed at", certificate.fresh
    if certificate.verdict == "too little data" and fresh is not None and not fresh.accepted:
        return f"None of the fresh rows is accepted, so they cannot test {what}."
    return f"{sentence(MEANING[certificate.verdict].format(what))}."


def _is_guaranteed(certificate: Certificate) -> bool:
    return all(guarantee.proved for guarantee in certificate.guarantees)


def guarantee_words(certificate: Certificate, /) -> list[str]:
    """Each guarantee, a sentence."""
    return [sentence(str(guarantee)) for guarantee in certificate.guarantees]


def summary_lines(certificate: Certificate, /) -> list[str]:
    """The guarantees, the verdict, and what it rests on."""
    return [*guarantee_words(certificate), verdict_words(certificate), *findings(certificate)]


def findings(certificate: Certificate, /) -> list[str]:
    """The test of each guarantee, then the classes and domains above it; nothing without fresh rows."""
    if (fresh := certificate.fresh) is None:
        return []
    unknown = [] if fresh.compared else [f"Which of the fresh rows calibrated it is {compared_words(fresh)}."]
    return [*all_test_words(certificate), *slice_words(fresh), *unknown]


def all_test_words(certificate: Certificate, /) -> list[str]:
    """The test of each guarantee, at its share of the level; nothing without fresh rows."""
    word = "guaranteed" if _is_guaranteed(certificate) else "aimed at"
    return [words_of_test(test, word=word) for test in ([] if certificate.fresh is None else certificate.fresh.tests)]


def words_of_test(test: GuaranteeTest, /, *, word: str = "guaranteed") -> str:
    """What was tested, what was observed, and what follows."""
    about = sentence(test.about)
    if (result := test.result) is None:
        return f"{about}: not tested, as {test.reason}."
    if not result.trials:
        return f"{about}: {result.verdict}, as no fresh row counts towards it.{_left_out(test)}"
    mean, graded = result.events / result.trials, test.event == "loss"
    observed = (
        f"{mean:.4g} among {result.trials:,}"
        if graded
        else (f"{result.events:,} of {result.trials:,} are {test.event} ({mean:.2%})")
    )
    allowed = f"at most {result.limit if graded else percent(result.limit)} is {word}"
    exact = result.by == "binomial"
    clusters = f", clusters of at most {result.largest} rows" if result.largest > 1 else ""
    p = f"p = {result.p_value:.3g}{'' if exact else f' (by bets{clusters})'}"
    chance = f"probability {'' if exact else 'about '}{result.power:.0%}"
    what, other, high = "share", percent(result.alternative), f"{result.high:.2%}"
    if graded:
        what, other, high = "mean", f"{result.alternative:.4g}", f"{result.high:.4g}"
    noticed = f"A {what} of {other} would be noticed with {chance}"
    bound = f"the {what} itself is at most {high} with probability {100 * (1 - result.delta):.4g}%"
    return f"{about}: {observed}, {allowed}; {p}, {result.verdict}. {noticed}; {bound}.{_left_out(test)}"


def _left_out(test: GuaranteeTest) -> str:
    """That the fresh rows refute what the guarantee assumes of clusters, where they do."""
    if not test.left_out or test.result is None:
        return ""
    return (
        f" {counted(test.left_out, 'row')} left out: their clusters have more than "
        f"{counted(test.result.largest, 'row')}, which the guarantee does not cover. "
        "Calibrate again, on clusters like these or with `largest_cluster`."
    )


def slice_words(fresh: FreshData, /) -> list[str]:
    """The classes and domains whose risk is significantly above what is guaranteed for all rows."""
    kinds = (("Where the answer is", fresh.classes), ("In the group", fresh.domains))
    return [
        f"{where} {part.counts.name}, {_observed(part.counts)}, significantly more than is guaranteed for all "
        "rows together."
        for where, slices in kinds
        for part in slices
        if part.above
    ] + [
        f"In the group {part.counts.name}, {part.counts.errors:,} of {part.counts.n:,} rows of this true class are "
        "accepted with another answer, significantly more than is guaranteed for all rows together."
        for part in fresh.missed
        if part.above
    ]


def _observed(counts: SliceCounts) -> str:
    if isinstance(counts.errors, int):
        return f"{counts.errors:,} of {counts.accepted:,} accepted rows are wrong"
    return f"the mean loss of {counts.accepted:,} accepted rows is {counts.errors / counts.accepted:.4g}"


def compared_words(fresh: FreshData, /) -> str:
    """Whether any of the fresh rows calibrated the selector, and how that is known."""
    if not fresh.compared:
        return "not known: the selector keeps no hashes of its rows, as one from a sketch"
    return f"none that is known by its {' or '.join(fresh.compared)}"


def in_percent(part: float, whole: int, /) -> str:
    """A share in percent, or a dash where there is nothing."""
    return f"{part / whole:.1%}" if whole else "–"


def mark(part: SliceTest, /) -> str:
    """The remark on a slice."""
    return "above the guarantee" if part.above else ""
