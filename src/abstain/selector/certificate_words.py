"""A certificate in words."""

from abstain.selector.certificate import Certificate, FreshData, PromiseTest, SliceTest

MEANING = {
    "confirmed": "the fresh rows alone prove the promise",
    "consistent": "the fresh rows are consistent with the promise",
    "refuted": "the fresh rows refute the promise",
    "too little data": "the fresh rows are too few to say",
    "not tested": "the promise was not tested on fresh rows",
}


def verdict_words(certificate: Certificate, /) -> str:
    """What the fresh rows say, in a sentence."""
    found = MEANING[certificate.verdict]
    return f"{found[0].upper()}{found[1:]}."


def promise_words(certificate: Certificate, /) -> list[str]:
    """Each promise, a sentence."""
    return [f"{(words := str(promise))[0].upper()}{words[1:]}" for promise in certificate.promises]


def told(test: PromiseTest, level: float, /) -> str:
    """What was tested, what was seen, and what follows."""
    about = f"{test.about[0].upper()}{test.about[1:]}"
    if (found := test.result) is None:
        return f"{about}: not tested, as {test.reason}."
    events = "rejected" if test.about.startswith("the share of rows accepted") else "wrong"
    seen = f"{found.events:,} of {found.trials:,} are {events}"
    share = f" ({found.events / found.trials:.2%})" if found.trials else ""
    allowed = f"at most {found.limit:.4g} is promised"
    how = "" if found.by == "binomial" else f" (by bets, clusters of at most {found.largest} rows)"
    p = f"p = {found.p_value:.3g}{how}"
    noticed = f"a share of {found.alternative:.4g} would be noticed with probability {found.power:.2f}"
    about_power = noticed if found.by == "binomial" else noticed.replace("probability", "probability about")
    bound = f"it is at most {found.high:.4g} with probability {1 - level:.4g}"
    return (
        f"{about}: {seen}{share}, {allowed}; {p}, {found.verdict}. {about_power[0].upper()}{about_power[1:]}; {bound}."
    )


def slice_words(fresh: FreshData, /) -> list[str]:
    """The classes and domains whose risk is significantly above what is promised for all rows."""
    kinds = (("class", fresh.classes), ("domain", fresh.domains))
    return [
        f"In the {kind} {one.counts.name}, {one.counts.errors:,} of {one.counts.accepted:,} accepted rows are wrong, "
        "significantly more than is promised for all rows together."
        for kind, slices in kinds
        for one in slices
        if one.above
    ]


def in_percent(part: int, whole: int, /) -> str:
    """A share in percent, or a dash where there is nothing."""
    return f"{part / whole:.1%}" if whole else "–"


def mark(one: SliceTest, /) -> str:
    """What there is to say of a slice."""
    return "above the promise" if one.above else ""
