"""The claims of §4 about scores, tested on any evaluation: paired differences, joint intervals, verdicts.

Each claim is a list of comparisons in every mix and at α = 0.1, 0.5 and 1. It held if every one speaks for it, did not
hold if one speaks against it, and is undecided otherwise; the intervals of one claim hold together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from abstain.evaluation import Evaluation
from abstain.experiments.claims import Outcome, Verdict
from abstain.experiments.paper.areas import EQ_11, FULL, NEAR_ZERO, Areas, Contrast, EvaluatedAreas, Term
from abstain.experiments.paper.drawn_areas import DrawnAreas
from abstain.metrics.intervals import ALPHAS

MARGINS = ("confidence_margin", "geometric_margin")
SOFTMAX = ("sirc", "max_softmax", "neg_entropy", "doctor")
FOR_OOD = ("max_logit", "energy", "knn", "vim")
PAPER_SCORES = (*MARGINS, *SOFTMAX, *FOR_OOD)
"""The ten scores of the paper's tables, in their order: those made for selection, then those for OOD detection."""
BY_THE_PAPER = tuple(EQ_11 if name == EQ_11.about.name else name for name in PAPER_SCORES)
"""The same to be evaluated, in the form that the paper defines."""

COMPARABLE = (0.1, 0.001)  # within 10% of the other, or 0.1 points of AURC × 100
OVERLAPPING = (0.05, 0.0005)
SHOWN = 2  # comparisons that are told one by one

Relation = Literal["better", "not worse", "alike"]


@dataclass(frozen=True)
class Comparison:
    """What a claim says of a sum of areas in a mix: below zero, at most a tolerance, or within it on both sides."""

    words: str
    mix: str
    terms: tuple[Term, ...]
    relation: Relation = "better"
    tolerance: tuple[float, float] = COMPARABLE


def score_claims(evaluations: Sequence[Evaluation], /, *, data: str) -> tuple[Verdict, ...]:
    """What evaluations, one for each draw of rows to fit on, say about the claims on scores.

    A claim that they have no rows or scores for is left out. ``data`` says what was evaluated. "Comparable" means
    within 10% of the other's AURC-α, or 0.1 points of AURC × 100.
    """
    areas = EvaluatedAreas(*evaluations) if len(evaluations) == 1 else DrawnAreas(evaluations)
    return claims_on(areas, data=data)


def claims_on(areas: Areas, /, *, data: str) -> tuple[Verdict, ...]:
    """The verdicts on areas, wherever they come from."""
    tested = ((claim, list(comparisons(areas))) for claim, comparisons in CLAIMED.items())
    return tuple(_verdict(claim, areas, found, data) for claim, found in tested if found)


def _verdict(claim: str, areas: Areas, comparisons: Sequence[Comparison], data: str) -> Verdict:
    outside = 0.05 / len(comparisons)
    judged = [_judge(areas, one, outside) for one in comparisons]
    outcomes = [outcome for outcome, _, _ in judged]
    against, speaking = outcomes.count("not held"), outcomes.count("held")
    outcome: Outcome = "not held" if against else "held" if speaking == len(judged) else "undecided"
    told = sorted(
        (each for each in judged if each[0] == ("not held" if against else outcome)), key=lambda each: -each[1]
    )
    shown = "; ".join(words for _, _, words in told[:SHOWN])
    evidence = (
        f"{speaking} of {len(judged)} comparisons speak for it, {against} against. "
        f"{_head(outcome)}: {shown}. AURC × 100, {areas.certainty.format(len(judged))}."
    )
    return Verdict(claim, outcome, evidence, data)


def _head(outcome: Outcome) -> str:
    return {"held": "Closest", "not held": "Most against it", "undecided": "Most in doubt"}[outcome]


def _judge(areas: Areas, one: Comparison, outside: float) -> tuple[Outcome, float, str]:
    """The outcome, how far it is from speaking for the claim, and the numbers in words."""
    found = areas.contrast(one.terms, one.mix, outside=outside)
    share, least = one.tolerance
    other = areas.area(one.terms[1].score, one.mix, one.terms[1].alpha)
    bound = 0.0 if one.relation == "better" else max(share * other, least)
    spread = "" if found.spread is None else f" ± {100 * found.spread:.2f}"
    words = f"{one.words} {_signed(found.value)}{spread} [{_signed(found.low)}, {_signed(found.high)}] on {one.mix}"
    return _outcome(found, one.relation, bound), (found.high - bound) / max(other, least), words


def _outcome(found: Contrast, relation: Relation, bound: float) -> Outcome:
    strictly = relation == "better"
    if found.low > bound or (relation == "alike" and found.high < -bound):
        return "not held"
    inside = found.high < bound if strictly else found.high <= bound
    return "held" if inside and (relation != "alike" or found.low >= -bound) else "undecided"


def _signed(value: float) -> str:
    return f"{round(100 * value, 2) + 0.0:+.2f}".replace("-", "−").replace("inf", "∞")


def _duels(
    areas: Areas,
    ones: Sequence[str],
    others: Sequence[str],
    *,
    mixes: Iterable[str] | None = None,
    relation: Relation = "better",
    tolerance: tuple[float, float] = COMPARABLE,
) -> list[Comparison]:
    """Each of some scores against each of others, where both are there."""
    found = (
        (f"{one} − {other} at α = {alpha:g}", mix, (Term(1, one, alpha), Term(-1, other, alpha)))
        for mix, alpha, one, other in product(mixes or areas.mixes, ALPHAS, ones, others)
    )
    return [Comparison(words, mix, terms, relation, tolerance) for words, mix, terms in found if areas.has(mix, *terms)]


def _spike(areas: Areas) -> list[Comparison]:
    """The mean risk up to coverage 0.1 against that up to 0.5: rising again for all scores but the margins and KNN."""
    low, middle = ALPHAS[:2]
    found = []
    for score in PAPER_SCORES:
        one, other = (low, middle) if score in (*MARGINS, "knn") else (middle, low)
        terms = (Term(1, score, one), Term(-1, score, other))
        if areas.has("in+label", *terms):
            found.append(Comparison(f"{score} AURC-{one:g} − AURC-{other:g}", "in+label", terms))
    return found


def _spike_to_full(areas: Areas) -> list[Comparison]:
    """The risk at full coverage less the mean risk up to coverage 0.01, of all scores but the margins and KNN."""
    found = []
    for score in PAPER_SCORES:
        terms = (Term(1, FULL, NEAR_ZERO), Term(-1, score, NEAR_ZERO))
        if score not in (*MARGINS, "knn") and areas.has("in+label", *terms):
            words = f"risk at full coverage − AURC-{NEAR_ZERO:g} of {score}"
            found.append(Comparison(words, "in+label", terms, "not worse"))
    return found


def _larger_gain(areas: Areas) -> list[Comparison]:
    """What the confidence margin gains on SR_max at α = 0.1 against what it gains at α = 1."""
    one, other, low, full = "confidence_margin", "max_softmax", ALPHAS[0], ALPHAS[-1]
    terms = (Term(1, one, low), Term(-1, other, low), Term(-1, one, full), Term(1, other, full))
    words = f"({one} − {other} at α = {low:g}) − (the same at α = {full:g})"
    return [Comparison(words, mix, terms) for mix in areas.mixes if areas.has(mix, *terms)]


CLAIMED: dict[str, Callable[[Areas], list[Comparison]]] = {
    "label-shift-spike": _spike,
    "spike-to-full": _spike_to_full,
    "margins-beat-knn-in": lambda areas: _duels(areas, MARGINS, ["knn"], mixes=("in", "in+cov")),
    "margins-best-all": lambda areas: _duels(
        areas, MARGINS, (*SOFTMAX, *FOR_OOD), mixes=("all",), relation="not worse"
    ),
    "margins-best-low-risk": _larger_gain,
    "ood-scores-poor": lambda areas: _duels(areas, ["confidence_margin"], FOR_OOD),
    "margins-par-sr": lambda areas: _duels(areas, MARGINS, SOFTMAX, relation="not worse"),
    "sr-beats-ood": lambda areas: _duels(areas, SOFTMAX, FOR_OOD),
    "doctor-is-sr-max": lambda areas: _duels(
        areas, ["doctor"], ["max_softmax"], relation="alike", tolerance=OVERLAPPING
    ),
    "geo-like-conf": lambda areas: _duels(areas, ["geometric_margin"], ["confidence_margin"], relation="alike"),
}
