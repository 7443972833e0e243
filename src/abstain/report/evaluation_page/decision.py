"""The decision, in plain words."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstain.outputs.digest import outputs_digest
from abstain.report.bounds import upper_bound_of
from abstain.report.divisions import KIND_WORDS, KINDS
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.groups import group_thresholds
from abstain.report.page import Section, shortened, text, tiles
from abstain.scores.score import Score
from abstain.selector.certificate_words import tests_told, verdict_words
from abstain.selector.certify import certify
from abstain.thresholds.promise import COST, Promise
from abstain.words import sentence

ACCEPTED, WRONG, CAUGHT = "Accepted", "Wrong among the accepted", "Errors caught"
Tile = tuple[str, str, str]


def decision(case: Case, /) -> Section:
    """Which score, which threshold, what it costs in coverage, and what is promised."""
    rule = f'<p class="decision">{_rule(case, _score)}</p>'
    shown = [_plain(case), _scale(case), group_thresholds(case), _tiles(case), _promise(case), _mixed(case)]
    parts = [_suspicion(case), rule, *shown]
    return Section(name="decision", title="The decision", html="".join(parts))


def decision_words(case: Case, /) -> str:
    """The decision in plain words, and why it is not what was aimed at where it is not."""
    point = case.point
    why = point.objection if point.threshold is None else _aim(case) if point.missed is not None else ""
    return f"{_rule(case, shortened)} {why}{fitted_words(case)}".strip()


def fitted_words(case: Case, /) -> str:
    """Why the threshold of the command is a little apart, where rows were drawn to fit scores on."""
    if case.point.places is None or case.point.threshold is None:
        return ""
    return f"On all rows calibrate moves the threshold a little: here are the {case.n:,} left after fitting. "


def _rule(case: Case, shown: Callable[[str], str]) -> str:
    point, score = case.point, shown(case.point.score)
    if not point.accepted.any():
        return f"Accept nothing: by {score} no answer is above its threshold."
    if point.threshold is None:
        target = "" if point.target is None else f" at most {percent(point.target)} errors among accepted answers"
        what = f"guarantee{target}" if point.was_asked else "be guaranteed to help"
        return f"With these rows no threshold can {what}; rank answers by {score}, and guarantee nothing."
    if point.value == -np.inf:
        return (
            f"Accept every answer: {_rounded(point.risk)} is wrong, and what was asked for holds without a threshold."
        )
    above = "the threshold of its group" if point.value is None else _digits(_units(case)[0])
    return (
        f"Trust an answer if its {score} is above {above}, and hand the others to a person. "
        f"Of what is accepted {_rounded(point.risk)} is wrong, instead of {_rounded(float(point.errors.mean()))} of "
        f"everything; {_rounded(1 - point.coverage)} has to be looked at."
    )


def _suspicion(case: Case) -> str:
    """What to check before anything rests on the page."""
    found = case.evaluation.suspicion
    return f'<div class="note bad"><p><strong>{text(found)}</strong></p></div>' if found else ""


def _units(case: Case) -> tuple[float, float]:
    """The threshold as the literature would print it, if four digits tell that from 0 and 1, and as a confidence."""
    value = case.point.value or 0.0
    literal = float(np.asarray(_entry(case).literal(np.array([value])))[0])
    return (value if _digits(literal) in ("0", "−0", "1") else literal), value


def _entry(case: Case) -> Score:
    selector = case.point.selector
    return case.evaluation.entries[case.point.score] if selector is None else selector.entry


def _digits(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _scale(case: Case) -> str:
    """In small print the threshold as files hold it, where that is another number."""
    if case.point.value is None or not np.isfinite(case.point.value):
        return ""
    shown, value = _units(case)
    if shown == value:
        return ""
    return (
        f'<p class="quiet">{text(shortened(_entry(case).symbol))} above {_digits(shown)} is a confidence above '
        f"{_digits(value)}, on the scale that loses no order to rounding: files and the tables below have that.</p>"
    )


def percent(share: float, /) -> str:
    """A target in percent, with no more digits than it has.

    >>> percent(0.02), percent(0.125), percent(0.0005)
    ('2%', '12.5%', '0.05%')
    """
    return f"{100 * share:.6g}%"


def _rounded(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.01 or not share else f"{100 * share:.2g}%"


def _score(score: str) -> str:
    return f"<strong><bdi>{text(shortened(score))}</bdi></strong>"


def _plain(case: Case) -> str:
    """The score in plain words, in small print."""
    words = _entry(case).about.summary
    return f'<p class="quiet"><bdi>{text(shortened(case.point.score))}</bdi>: {text(words)}</p>' if words else ""


def _tiles(case: Case) -> str:
    """What the point does; where it promises nothing, what the point in reach would do, or dashes."""
    point, n = case.point, case.n
    errors = int(np.count_nonzero(point.errors))
    everything = ("Wrong if all were accepted", case.percent(errors / n), f"{errors:,} of {n:,} rows")
    if point.threshold is not None:
        return tiles(*_done(case, point.accepted, everything))
    if point.in_reach is None:
        accepted, wrong, caught = ((title, "–", "nothing is decided") for title in (ACCEPTED, WRONG, CAUGHT))
        return tiles(accepted, wrong, everything, caught)
    label = f"What a risk of {percent(point.in_reach.promise.limit)} would do, about the lowest achievable"
    shown = tiles(*_done(case, point.confidence > point.in_reach.value, everything))
    return f"<p><strong>{label}:</strong></p>{shown}"


def _done(case: Case, chosen: NDArray[np.bool_], everything: Tile) -> tuple[Tile, ...]:
    """The tiles where these rows are accepted."""
    wrongs, n = case.point.errors, case.n
    accepted, errors, wrong = (int(np.count_nonzero(one)) for one in (chosen, wrongs, wrongs & chosen))
    clusters = None if case.clusters is None else case.clusters[chosen]
    bound = upper_bound_of(wrongs[chosen], clusters, delta=case.delta)
    risk = case.percent(wrong / accepted) if accepted else "–"
    caught = f"{100 * (errors - wrong) / errors:.1f}%" if errors else "–"
    return (
        (ACCEPTED, case.percent(accepted / n), f"{accepted:,} of {n:,} rows"),
        (WRONG, risk, f"{wrong:,} rows; upper bound {case.percent(bound)}"),
        everything,
        (CAUGHT, caught, f"{errors - wrong:,} of {errors:,} are rejected"),
    )


def _promise(case: Case) -> str:
    point = case.point
    if point.threshold is None:
        return f'<div class="note bad"><p>Nothing is guaranteed. {text(point.objection)}</p></div>'
    full = text(sentence(point.threshold.words))
    if point.selector is None:
        return (
            f'<div class="note"><p><strong>What is guaranteed.</strong> {full}</p><p>{text(_preview(case))}</p></div>'
        )
    verdict, *tests = _kept(case)
    details = "".join(f"<p>{part}</p>" for part in (full, *map(text, tests)))
    short = " ".join(_short(promise) for promise in (point.threshold.promise, *point.threshold.further))
    return (
        f'<div class="note"><p><strong>What is guaranteed.</strong> {text(short)} {text(verdict)}</p>'
        f"<details><summary>In full, with p-values</summary>{details}</details></div>"
    )


def _short(promise: Promise) -> str:
    """What is guaranteed with what probability, in a sentence; all of it where it is about costs or not proved."""
    if not promise.proved or promise.quantity == COST:
        return sentence(str(promise))
    number = promise.certified if promise.target is None else promise.target
    chance = "in expectation" if promise.probability is None else f"with probability {percent(promise.probability)}"
    return f"{sentence(promise.quantity)} is {promise.relation} {percent(number)}, {chance}."


def _preview(case: Case) -> str:
    """What was aimed at, why by this score, and what the promise does not count."""
    point = case.point
    chosen = [
        *(["the score"] if len(case.evaluation.scores) > 1 else []),
        *([] if point.was_asked else ["the target"]),
    ]
    fresh = (
        f"{sentence(' and '.join(chosen))} {'were' if len(chosen) > 1 else 'was'} chosen on these same rows, which "
        "the promise does not count: calibrate on fresh rows, with the command below, before anything rests on it."
    )
    return f"{_aim(case)}{fitted_words(case)}{fresh if chosen else ''}"


def _aim(case: Case) -> str:
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


def _kept(case: Case) -> list[str]:
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
    found = None if selector is None else certify(selector, point.outputs)
    if found is None or found.fresh is None:
        return [""]
    return [verdict_words(found), *tests_told(found), "This takes these rows to be fresh, as abstain certify does."]


def _mixed(case: Case) -> str:
    shares = {KIND_WORDS[kind]: float(np.mean(case.kinds == place)) for place, kind in enumerate(KINDS)}
    mixed = ", ".join(f"{share:.1%} {kind}" for kind, share in shares.items() if share)
    if sum(share > 0 for share in shares.values()) < 2:
        return ""
    words = f"All numbers are of rows mixed as these {case.n:,} ({mixed}); another mix has others."
    return f'<p class="quiet">{text(words)}</p>'
