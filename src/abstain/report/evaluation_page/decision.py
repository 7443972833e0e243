"""The decision, in plain words."""

import numpy as np

from abstain.evaluation import verdict
from abstain.report.evaluation_page.bounds import upper_bound_of
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.slices import KIND_WORDS, KINDS
from abstain.report.page import Section, shortened, text, tiles
from abstain.thresholds.refutation import refutation, untestable


def decision(case: Case, /) -> Section:
    """Which score, which threshold, what it costs in coverage, and what is promised."""
    parts = [f'<p class="decision">{_rule(case)}</p>', _tiles(case), _promise(case), _reason(case)]
    return Section(name="decision", title="The decision", html="".join(parts))


def _rule(case: Case) -> str:
    point = case.point
    if not point.accepted.any():
        return f"Accept nothing: by {_score(point.score)} no answer is above its threshold."
    if point.threshold is None:
        return f"Rank answers by {_score(point.score)}; with these rows no threshold can be promised to help."
    if point.value == -np.inf:
        return (
            f"Accept every answer: {_rounded(point.risk)} is wrong, and what was asked for holds without a threshold."
        )
    above = "the threshold of its group" if point.value is None else _number(case, point.value)
    return (
        f"Trust an answer if its {_score(point.score)} is above {above}, and hand the others to a person. "
        f"Of what is accepted {_rounded(point.risk)} is wrong, instead of {_rounded(float(point.errors.mean()))} of "
        f"everything; {_rounded(1 - point.coverage)} has to be looked at."
    )


def _number(case: Case, value: float) -> str:
    """A threshold, and as the literature would print it where that is another number."""
    selector, entries = case.point.selector, case.evaluation.entries
    entry = entries[case.point.score] if selector is None else selector.entry
    literal = entry.literal_value(value)
    shown, units = (f"{one:.6g}".replace("-", "−") for one in (value, literal))
    return shown if literal == value else f"{shown} ({text(shortened(entry.symbol))} {units})"


def _rounded(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.01 or not share else f"{100 * share:.2g}%"


def _score(score: str) -> str:
    return f"<strong><bdi>{text(shortened(score))}</bdi></strong>"


def _tiles(case: Case) -> str:
    point, n = case.point, case.n
    accepted, errors = int(np.count_nonzero(point.accepted)), int(np.count_nonzero(point.errors))
    wrong = int(np.count_nonzero(point.errors & point.accepted))
    clusters = None if case.clusters is None else case.clusters[point.accepted]
    bound = upper_bound_of(point.errors[point.accepted], clusters, delta=case.delta)
    caught = f"{100 * (errors - wrong) / errors:.1f}%" if errors else "–"
    return tiles(
        ("Accepted", case.percent(point.coverage), f"{accepted:,} of {n:,} rows"),
        (
            "Wrong among the accepted",
            case.percent(point.risk) if accepted else "–",
            f"{wrong:,} rows; upper bound {case.percent(bound)}",
        ),
        ("Wrong if all were accepted", case.percent(errors / n), f"{errors:,} of {n:,} rows"),
        ("Errors caught", caught, f"{errors - wrong:,} of {errors:,} are rejected"),
    )


def _promise(case: Case) -> str:
    point = case.point
    if point.threshold is None:
        return f'<div class="note bad"><p>Nothing is promised. {text(point.objection)}</p></div>'
    words = [f"<p><strong>What is promised.</strong> {text(_sentence(point.threshold.words))}</p>"]
    if point.selector is None:
        words.append(f"<p>{text(_preview(case))}</p>")
    else:
        words.append(f"<p>{text(_kept(case))}</p>")
    return f'<div class="note">{"".join(words)}</div>'


def _preview(case: Case) -> str:
    point = case.point
    aim = "" if point.was_asked else f"No target was given, so this page aims at a risk of {point.target:g}. "
    return (
        f"{aim}The score was chosen on these same rows, which the promise does not count: calibrate on fresh rows, "
        "with the command below, before anything rests on it."
    )


def _kept(case: Case) -> str:
    """Whether the promise about the risk is consistent with these rows, by the test of `abstain certify`."""
    point, promise = case.point, case.point.promise
    if promise is None or untestable(promise) or not point.accepted.any():
        return "The numbers above are those of this selector on these rows."
    found = refutation(
        point.errors,
        point.accepted,
        case.clusters,
        limit=promise.limit,
        delta=1 - (promise.probability or 0.0),
        largest=point.largest,
        counting=promise.counting,
    )
    seen = (
        f"On these rows {case.percent(point.risk)} of the accepted are wrong; {case.percent(found.limit)} is promised"
    )
    p = f"(p = {found.p_value:.2g})"
    if found.verdict == "refuted":
        return f"{seen}: more than chance explains {p}. The promise does not hold for rows like these."
    few = ", but too few rows to notice twice as much" if found.verdict == "too little data" else ""
    return f"{seen}: consistent with the promise {p}{few}. Rows it was calibrated on would say so in any case."


def _reason(case: Case) -> str:
    words = text(verdict(case.evaluation).words)
    shares = {KIND_WORDS[kind]: float(np.mean(case.kinds == place)) for place, kind in enumerate(KINDS)}
    mixed = ", ".join(f"{share:.1%} {kind}" for kind, share in shares.items() if share)
    law = f"All numbers are of rows mixed as these {case.n:,} ({mixed}); another mix has others."
    return f'<p class="lead">{words}</p><p class="quiet">{text(law)}</p>'


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
