"""A certificate in words."""

from abstain.selector.certificate import Certificate, FreshData, PromiseTest, SliceTest
from abstain.words import counted, sentence

MEANING = {
    "confirmed": "the fresh rows alone prove {}",
    "consistent": "the fresh rows are consistent with {}",
    "refuted": "the fresh rows refute {}",
    "too little data": "the fresh rows are too few to say",
    "not tested": "{} was not tested on fresh rows",
}


def verdict_words(certificate: Certificate, /) -> str:
    """What the fresh rows say, in a sentence."""
    what = "the promise" if _is_promised(certificate) else "what was aimed at"
    return f"{sentence(MEANING[certificate.verdict].format(what))}."


def _is_promised(certificate: Certificate) -> bool:
    return all(promise.proved for promise in certificate.promises)


def promise_words(certificate: Certificate, /) -> list[str]:
    """Each promise, a sentence."""
    return [sentence(str(promise)) for promise in certificate.promises]


def summary_lines(certificate: Certificate, /) -> list[str]:
    """The promises, the verdict, and what it rests on."""
    return [*promise_words(certificate), verdict_words(certificate), *findings(certificate)]


def findings(certificate: Certificate, /) -> list[str]:
    """What the fresh rows say of each promise, then of classes and domains that stand out; nothing without any."""
    if (fresh := certificate.fresh) is None:
        return []
    unknown = [] if fresh.compared else [f"Which of the fresh rows calibrated it is {compared_words(fresh)}."]
    return [*tests_told(certificate), *slice_words(fresh), *unknown]


def tests_told(certificate: Certificate, /) -> list[str]:
    """What the fresh rows say of each promise, at the share of the level that it has; nothing without any."""
    word = "promised" if _is_promised(certificate) else "aimed at"
    return [told(test, word=word) for test in ([] if certificate.fresh is None else certificate.fresh.tests)]


def told(test: PromiseTest, /, *, word: str = "promised") -> str:
    """What was tested, what was seen, and what follows."""
    about = sentence(test.about)
    if (found := test.result) is None:
        return f"{about}: not tested, as {test.reason}."
    seen = f"{found.events:,} of {found.trials:,} are {test.event}"
    share = f" ({found.events / found.trials:.2%})" if found.trials else ""
    allowed = f"at most {found.limit:.4g} is {word}"
    exact = found.by == "binomial"
    p = f"p = {found.p_value:.3g}{'' if exact else f' (by bets, clusters of at most {found.largest} rows)'}"
    chance = f"probability {'' if exact else 'about '}{found.power:.2f}"
    noticed = f"A share of {found.alternative:.4g} would be noticed with {chance}"
    bound = f"the share itself is at most {found.high:.4g} with probability {1 - found.delta:.4g}"
    return f"{about}: {seen}{share}, {allowed}; {p}, {found.verdict}. {noticed}; {bound}.{_left_out(test)}"


def _left_out(test: PromiseTest) -> str:
    """That the fresh rows refute what the promise assumes of clusters, where they do."""
    if not test.left_out or test.result is None:
        return ""
    return (
        f" {counted(test.left_out, 'row')} left out: their clusters have more than "
        f"{counted(test.result.largest, 'row')}, which the guarantee does not cover. "
        "Calibrate again, on clusters like these or with `largest_cluster`."
    )


def slice_words(fresh: FreshData, /) -> list[str]:
    """The classes and domains whose risk is significantly above what is promised for all rows."""
    kinds = (("class", fresh.classes), ("group", fresh.domains))
    return [
        f"In the {kind} {one.counts.name}, {one.counts.errors:,} of {one.counts.accepted:,} accepted rows are wrong, "
        "significantly more than is promised for all rows together."
        for kind, slices in kinds
        for one in slices
        if one.above
    ]


def compared_words(fresh: FreshData, /) -> str:
    """Whether any of the fresh rows calibrated the selector, and how that is known."""
    if not fresh.compared:
        return "not known: the selector keeps no hashes of its rows, as one from a sketch"
    return f"none that is known by its {' or '.join(fresh.compared)}"


def in_percent(part: int, whole: int, /) -> str:
    """A share in percent, or a dash where there is nothing."""
    return f"{part / whole:.1%}" if whole else "–"


def mark(one: SliceTest, /) -> str:
    """What there is to say of a slice."""
    return "above the promise" if one.above else ""
