"""The decision, in plain words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._text import sentence
from abstain.outputs.hashes import outputs_digest
from abstain.report.bounds import upper_bound_of
from abstain.report.divisions import KIND_WORDS, KINDS
from abstain.report.evaluation_page.context import PageContext
from abstain.report.evaluation_page.groups import group_thresholds
from abstain.report.page import Section, render, shortened
from abstain.report.page.parts import Tile
from abstain.scores.score import Score
from abstain.selector.certificate import all_test_words, verdict_words
from abstain.selector.certify import certify
from abstain.thresholds.guarantee import Guarantee, Quantity

ACCEPTED, WRONG, CAUGHT = "Accepted", "Wrong among the accepted", "Errors caught"
SCORE = "{score}"


def decision(case: PageContext, /) -> Section:
    """Which score, which threshold, what it costs in coverage, and what is guaranteed."""
    point = case.point
    before, _, after = _rule(case).partition(SCORE)
    html = render(
        "decision.html",
        suspicion=case.evaluation.suspicion,
        rule=(before, after),
        score=shortened(point.score),
        summary=_entry(case).about.summary,
        scale=_scale(case),
        groups=group_thresholds(case),
        achievable=percent(point.achievable.guarantee.limit) if point.achievable and not point.threshold else "",
        tiles=_tiles(case),
        n=f"{case.n:,}",
        mixed=_mixed(case),
        **_guarantee(case),
    )
    return Section(name="decision", title="The decision", html=html)


def decision_words(case: PageContext, /) -> str:
    """The decision in plain words, and why it is not what was aimed at where it is not."""
    point = case.point
    why = point.objection if point.threshold is None else _aim(case) if point.missed is not None else ""
    return f"{_rule(case).replace(SCORE, shortened(point.score))} {why}{fitted_words(case)}".strip()


def fitted_words(case: PageContext, /) -> str:
    """Why the threshold of the command is a little apart, where rows were drawn to fit scores on."""
    if case.point.indices is None or case.point.threshold is None:
        return ""
    return f"On all rows calibrate moves the threshold a little: here are the {case.n:,} left after fitting. "


def _rule(case: PageContext) -> str:
    """With `SCORE` where the score is named."""
    point = case.point
    if not point.accepted.any():
        return f"Accept nothing: by {SCORE} no answer is above its threshold."
    if point.threshold is None:
        target = "" if point.target is None else f" at most {percent(point.target)} errors among accepted answers"
        what = f"guarantee{target}" if point.was_asked else "be guaranteed to help"
        return f"With these rows no threshold can {what}; rank answers by {SCORE}, and guarantee nothing."
    if point.value == -np.inf:
        return (
            f"Accept every answer: {_rounded(point.risk)} is wrong, and what was asked for holds without a threshold."
        )
    above = "the threshold of its group" if point.value is None else _digits(_units(case)[0])
    return (
        f"Trust an answer if its {SCORE} is above {above}, and hand the others to a person. "
        f"Of what is accepted {_rounded(point.risk)} is wrong, instead of {_rounded(float(point.errors.mean()))} of "
        f"everything; {_rounded(1 - point.coverage)} has to be looked at."
    )


def _units(case: PageContext) -> tuple[float, float]:
    """The threshold as the literature prints it, if four digits distinguish it from 0 and 1, and as a confidence."""
    value = case.point.value or 0.0
    literal = float(np.asarray(_entry(case).literal(np.array([value])))[0])
    return (value if _digits(literal) in ("0", "−0", "1") else literal), value


def _entry(case: PageContext) -> Score:
    selector = case.point.selector
    return case.evaluation.entries[case.point.score] if selector is None else selector.entry


def _digits(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _scale(case: PageContext) -> dict[str, str] | None:
    """The threshold as files hold it, where that is another number."""
    if case.point.value is None or not np.isfinite(case.point.value):
        return None
    shown, value = _units(case)
    symbol = shortened(_entry(case).symbol)
    return None if shown == value else {"symbol": symbol, "shown": _digits(shown), "value": _digits(value)}


def percent(share: float, /) -> str:
    """A target in percent, with no more digits than it has.

    >>> percent(0.02), percent(0.125), percent(0.0005)
    ('2%', '12.5%', '0.05%')
    """
    return f"{100 * share:.6g}%"


def _rounded(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.01 or not share else f"{100 * share:.2g}%"


def _tiles(case: PageContext) -> list[Tile]:
    """What the point does; where it guarantees nothing, what the achievable point would do, or dashes."""
    point, n = case.point, case.n
    errors = int(np.count_nonzero(point.errors))
    everything = ("Wrong if all were accepted", case.percent(errors / n), f"{errors:,} of {n:,} rows", "")
    if point.threshold is not None:
        return _done(case, point.accepted, everything)
    if point.achievable is None:
        accepted, wrong, caught = ((title, "–", "nothing is decided", "") for title in (ACCEPTED, WRONG, CAUGHT))
        return [accepted, wrong, everything, caught]
    return _done(case, point.confidence > point.achievable.value, everything)


def _done(case: PageContext, chosen: NDArray[np.bool_], everything: Tile) -> list[Tile]:
    """The tiles where these rows are accepted."""
    wrongs, n = case.point.errors, case.n
    accepted, errors, wrong = (int(np.count_nonzero(rows)) for rows in (chosen, wrongs, wrongs & chosen))
    clusters = None if case.clusters is None else case.clusters[chosen]
    bound = upper_bound_of(wrongs[chosen], clusters, delta=case.delta)
    risk = case.percent(wrong / accepted) if accepted else "–"
    caught = f"{100 * (errors - wrong) / errors:.1f}%" if errors else "–"
    return [
        (ACCEPTED, case.percent(accepted / n), f"{accepted:,} of {n:,} rows", ""),
        (WRONG, risk, f"{wrong:,} rows; upper bound {case.percent(bound)}", ""),
        everything,
        (CAUGHT, caught, f"{errors - wrong:,} of {errors:,} are rejected", ""),
    ]


def _guarantee(case: PageContext) -> dict[str, Any]:
    """What is guaranteed in full and in short, what it does not count, and what these rows say of it."""
    point = case.point
    if point.threshold is None:
        return {"objection": point.objection}
    guarantees = (point.threshold.guarantee, *point.threshold.further)
    full = sentence(" And, together with it: ".join(guarantee.in_percent for guarantee in guarantees))
    words = {"objection": "", "guarantee": full}
    if point.selector is None:
        return words | {"preview": _preview(case)}
    return words | {"preview": None, "short": " ".join(map(_short, guarantees)), "tests": _kept(case)}


def _short(guarantee: Guarantee) -> str:
    """What is guaranteed with what probability, in a sentence; all of it where it is about costs or not proved."""
    if not guarantee.proved or guarantee.quantity is Quantity.COST:
        return sentence(guarantee.in_percent)
    number = guarantee.certified if guarantee.target is None else guarantee.target
    chance = "in expectation" if guarantee.probability is None else f"with probability {percent(guarantee.probability)}"
    return f"{sentence(guarantee.about)} is {guarantee.relation} {percent(number)}, {chance}."


def _preview(case: PageContext) -> str:
    """What was aimed at, why by this score, and what the guarantee does not count."""
    point = case.point
    chosen = [
        *(["the score"] if len(case.evaluation.scores) > 1 else []),
        *([] if point.was_asked else ["the target"]),
    ]
    fresh = (
        f"{sentence(' and '.join(chosen))} {'were' if len(chosen) > 1 else 'was'} chosen on these same rows, which "
        "the guarantee does not count: calibrate on fresh rows, with the command below, before anything rests on it."
    )
    return f"{_aim(case)}{fitted_words(case)}{fresh if chosen else ''}"


def _aim(case: PageContext) -> str:
    point = case.point
    if point.was_asked:
        return ""
    if point.missed is None:
        return (
            f"No target was given, so this page aims at half of the errors, a risk of {percent(point.target or 0.0)}. "
        )
    return (
        f"No target was given. Half of the errors, a risk of {percent(point.missed)}, cannot be certified on these "
        f"{case.n:,} rows, so this page aims at {percent(point.target or 0.0)}, which can. "
    )


def _kept(case: PageContext) -> list[str]:
    """What these rows say of the guarantees, the verdict first, tested as `abstain certify` does."""
    point, selector = case.point, case.point.selector
    known = None if selector is None else selector.calibration
    if known is not None and known.digest == outputs_digest(point.outputs):
        return ["These are the rows it was calibrated on, which cannot test the guarantee; fresh ones can."]
    if selector is not None and selector.seen is not None and (share := selector.seen.share(point.outputs)):
        return [
            f"About {max(1, round(share * case.n)):,} of these {case.n:,} rows calibrated it, so that they cannot test "
            "the guarantee; fresh ones can."
        ]
    certificate = None if selector is None else certify(selector, point.outputs)
    if certificate is None or certificate.fresh is None:
        return [""]
    return [
        verdict_words(certificate),
        *all_test_words(certificate),
        "This takes these rows to be fresh, as abstain certify does.",
    ]


def _mixed(case: PageContext) -> str:
    """The share of each kind of shift, "" where there is one kind."""
    shares = {KIND_WORDS[kind]: float(np.mean(case.kinds == index)) for index, kind in enumerate(KINDS)}
    present = [f"{share:.1%} {kind}" for kind, share in shares.items() if share]
    return ", ".join(present) if len(present) > 1 else ""
