"""The decision, in plain words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._text import percent, sentence
from abstain.evaluation.bounds import upper_bound_of
from abstain.evaluation.divisions import KIND_WORDS, KINDS
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.groups import group_thresholds
from abstain.outputs.hashes import outputs_digest
from abstain.report.page import Section, render, shortened
from abstain.report.page.parts import Tile
from abstain.scores.score import Score
from abstain.selector.certificate_words import all_test_words, verdict_words
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
        if point.value == np.inf:
            return f"Hand every answer to a person: the selector accepts none, whatever its {SCORE}."
        return f"Hand every answer to a person: no {SCORE} is above {_threshold_words(case)}."
    if point.threshold is None:
        target = "" if point.target is None else f" {_limit(case, point.target)} among accepted answers"
        what = f"guarantee{target}" if point.was_asked else "be guaranteed to help"
        return f"With these rows no threshold can {what}; rank answers by {SCORE}, and guarantee nothing."
    if point.value == -np.inf:
        risk = f"their mean loss is {point.risk:.3g}" if case.is_graded else f"{_rounded(point.risk)} is wrong"
        return f"Accept every answer: {risk}, and what was asked for holds without a threshold."
    return (
        f"Trust an answer if its {SCORE} score is above {_threshold_words(case)}, and hand the others to a person. "
        f"{_improvement(case)}; {_rounded(1 - point.coverage)} has to be looked at."
    )


def _threshold_words(case: PageContext) -> str:
    return "the threshold of its group" if case.point.value is None else _digits(_units(case)[0])


def _limit(case: PageContext, target: float) -> str:
    return f"a mean loss of at most {target:g}" if case.is_graded else f"at most {percent(target)} errors"


def _improvement(case: PageContext) -> str:
    """What is accepted, compared with accepting everything."""
    risk, whole = case.point.risk, float(case.point.errors.mean())
    if case.is_graded:
        return f"What is accepted has a mean loss of {risk:.3g}, instead of {whole:.3g} of everything"
    return f"Of what is accepted {_rounded(risk)} is wrong, instead of {_rounded(whole)} of everything"


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


def _rounded(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.01 or not share else f"{100 * share:.2g}%"


def _tiles(case: PageContext) -> list[Tile]:
    """What the point does; where it guarantees nothing, what the achievable point would do, or dashes."""
    point, n = case.point, case.n
    errors = case.total(np.ones(n, dtype=bool))
    counts = f"{n:,} rows" if case.is_graded else f"{errors:,} of {n:,} rows"
    title = "Mean loss if all were accepted" if case.is_graded else "Wrong if all were accepted"
    everything = (title, case.outcome(errors, n), counts, "")
    if point.threshold is not None:
        return _done(case, point.accepted, everything)
    if point.achievable is None:
        accepted, wrong, caught = ((title, "–", "nothing is decided", "") for title in _titles(case))
        return [accepted, wrong, everything, caught]
    return _done(case, point.confidence > point.achievable.value, everything)


def _done(case: PageContext, chosen: NDArray[np.bool_], everything: Tile) -> list[Tile]:
    """The tiles where these rows are accepted."""
    n, accepted = case.n, int(np.count_nonzero(chosen))
    errors, wrong = case.total(np.ones(n, dtype=bool)), case.total(chosen)
    clusters = None if case.clusters is None else case.clusters[chosen]
    bound = case.outcome(upper_bound_of(case.point.errors[chosen], clusters, delta=case.delta), 1)
    caught = f"{100 * (errors - wrong) / errors:.1f}%" if errors else "–"
    first, second, third = _titles(case)
    observed = f"{wrong:,.6g} {_unit(case)}; upper bound {bound}" if accepted else "nothing is accepted"
    return [
        (first, case.percent(accepted / n), f"{accepted:,} of {n:,} rows", ""),
        (second, case.outcome(wrong, accepted), observed, ""),
        everything,
        (third, caught, f"{errors - wrong:,.6g} of {errors:,.6g} are rejected", ""),
    ]


def _titles(case: PageContext) -> tuple[str, str, str]:
    return (ACCEPTED, "Mean loss among the accepted", "Loss avoided") if case.is_graded else (ACCEPTED, WRONG, CAUGHT)


def _unit(case: PageContext) -> str:
    return "in all" if case.is_graded else "rows"


def _guarantee(case: PageContext) -> dict[str, Any]:
    """What is guaranteed in full and in short, what it does not count, and what these rows say of it."""
    point = case.point
    if point.threshold is None:
        return {"objection": point.objection}
    guarantees = point.threshold.guarantees
    full = sentence(" And, together with it: ".join(guarantee.in_percent for guarantee in guarantees))
    words = {"objection": "", "guarantee": full}
    if point.selector is None:
        return words | {"preview": _preview(case)}
    verdict, *tests = _kept(case)
    return words | {"preview": None, "short": " ".join(map(_short, guarantees)), "verdict": verdict, "tests": tests}


def _short(guarantee: Guarantee) -> str:
    """What is guaranteed with what probability, in a sentence; all of it where it is about costs or not proved."""
    if not guarantee.proved or guarantee.quantity is Quantity.COST:
        return sentence(guarantee.in_percent)
    number = guarantee.certified if guarantee.target is None else guarantee.target
    amount = percent(number) if guarantee.quantity.is_share else f"{number:g}"
    chance = "in expectation" if guarantee.probability is None else f"with probability {percent(guarantee.probability)}"
    return f"{sentence(guarantee.about)} is {guarantee.relation} {amount}, {chance}."


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
    half = "half of the mean loss" if case.is_graded else "half of the errors"
    target = case.outcome(point.target or 0.0, 1) if case.is_graded else percent(point.target or 0.0)
    if point.missed is None:
        return f"No target was given, so this page aims at {half}, a risk of {target}. "
    missed = case.outcome(point.missed, 1) if case.is_graded else percent(point.missed)
    return (
        f"No target was given. {sentence(half)}, a risk of {missed}, cannot be certified on these "
        f"{case.n:,} rows, so this page aims at {target}, which can. "
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
