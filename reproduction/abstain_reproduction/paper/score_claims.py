"""The claims of §4 about scores, tested on any evaluation: paired differences, joint decisions, verdicts.

Each claim is one part or several, each a list of comparisons, most in every mix and at α = 0.1, 0.5 and 1, and the
number of them that the claim speaks of (`Quantifier`). The decisions of one claim are right together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

from abstain.evaluation import Evaluation
from abstain.metrics.intervals import ALPHAS
from abstain_reproduction.claims import CLAIMS, ClaimVerdict
from abstain_reproduction.outcome import Outcome
from abstain_reproduction.paper.areas import EQ_11, FULL, NEAR_ZERO, Areas, Contrast, EvaluatedAreas, Term
from abstain_reproduction.paper.mean_areas import MeanAreas
from abstain_reproduction.quantifier import OUTSIDE, Quantifier, jointly

MARGINS = ("confidence_margin", "geometric_margin")
SOFTMAX = ("sirc", "max_softmax", "neg_entropy", "doctor")
FOR_OOD = ("max_logit", "energy", "knn", "vim")
PAPER_SCORES = (*MARGINS, *SOFTMAX, *FOR_OOD)
"""The ten scores of the paper's tables, in their order: those made for selection, then those for OOD detection."""
BY_THE_PAPER = tuple(EQ_11 if name == EQ_11.about.name else name for name in PAPER_SCORES)
"""The same to be evaluated, in the form that the paper defines."""

COMPARABLE = (0.1, 0.001)  # within 10% of the other, or 0.1 points of AURC × 100
OVERLAPPING = (0.05, 0.0005)
SHOWN = 2  # comparisons that are reported one by one
STEADY = (*MARGINS, "knn")
"""The scores whose risk does not rise again at low coverage, as the paper says."""

Relation = Literal["better", "not worse", "alike"]


@dataclass(frozen=True)
class AreaComparison:
    """What a claim says of a sum of areas in a mix: below zero, at most a tolerance, or within it on both sides."""

    words: str
    mix: str
    terms: tuple[Term, ...]
    relation: Relation = "better"
    tolerance: tuple[float, float] = COMPARABLE
    can_refute: bool = True
    """Whether the numbers can speak against it; where they lie too far from what the claim is about, they cannot."""


@dataclass(frozen=True)
class ClaimPart:
    """What a claim says of so many of some comparisons."""

    quantifier: Quantifier
    comparisons: Sequence[AreaComparison]


def score_claims(evaluations: Sequence[Evaluation], /, *, data: str) -> tuple[ClaimVerdict, ...]:
    """What evaluations, one for each draw of rows to fit on, say about the claims on scores.

    A claim that they have no rows or scores for is left out. ``data`` says what was evaluated. "Comparable" means
    within 10% of the other's AURC-α, or 0.1 points of AURC × 100.
    """
    areas = EvaluatedAreas(*evaluations) if len(evaluations) == 1 else MeanAreas(evaluations)
    return claims_on(areas, data=data)


def margins_alike(areas: Areas, /, *, data: str) -> ClaimVerdict:
    """Over all experiments together: the margins alike in most columns, RL_conf-M clearly better in few of them."""
    alike, not_behind = (
        _duels(areas, ["geometric_margin"], ["confidence_margin"], relation=relation)
        for relation in ("alike", "not worse")
    )
    parts = [ClaimPart(Quantifier.MOST, alike), ClaimPart(Quantifier.NEARLY_ALL, not_behind)]
    return _verdict("geo-like-conf", areas, parts, data)


def claims_on(areas: Areas, /, *, data: str) -> tuple[ClaimVerdict, ...]:
    """The verdicts on areas, wherever they come from."""
    tested = ((claim, find_comparisons(areas)) for claim, find_comparisons in CLAIMED.items())
    return tuple(
        _verdict(claim, areas, [ClaimPart(CLAIMS[claim].quantifier, comparisons)], data)
        for claim, comparisons in tested
        if comparisons
    )


def _verdict(claim: str, areas: Areas, parts: Sequence[ClaimPart], data: str) -> ClaimVerdict:
    """Held where every part is, not held where one is not."""
    by_part, outcomes = _decided(areas, parts)
    outcome = _joint(outcomes)
    at = next(index for index, part_outcome in enumerate(outcomes) if part_outcome == outcome)  # the part that decides
    wanted: Outcome = "not held" if "not held" in by_part[at] else "undecided" if "undecided" in by_part[at] else "held"
    examples = [
        comparison
        for comparison, decision in zip(parts[at].comparisons, by_part[at], strict=True)
        if decision == wanted
    ]
    examples.sort(key=lambda comparison: -_distance(areas, comparison))
    evidence = (
        f"{'; '.join(_counts(part, part_outcomes) for part, part_outcomes in zip(parts, by_part, strict=True))}. "
        f"{HEADS[wanted]}: {'; '.join(_description(areas, comparison) for comparison in examples[:SHOWN])}. "
        f"AURC × 100, {areas.certainty.format(sum(map(len, by_part)))}.{_tolerance_note(areas, parts, outcome)}"
        f"{_of_logits(areas, parts)}"
    )
    return ClaimVerdict(claim, outcome, evidence, data)


def _decided(areas: Areas, parts: Sequence[ClaimPart]) -> tuple[list[list[Outcome]], list[Outcome]]:
    """The outcomes of each part's comparisons, which are right together, and of each part."""
    flat = [comparison for part in parts for comparison in part.comparisons]
    decided = iter(jointly([partial(_decision, areas, comparison) for comparison in flat]))
    by_part = [[next(decided) for _ in part.comparisons] for part in parts]
    return by_part, [part.quantifier.outcome(outcomes) for part, outcomes in zip(parts, by_part, strict=True)]


def _joint(outcomes: Sequence[Outcome]) -> Outcome:
    return "not held" if "not held" in outcomes else "undecided" if "undecided" in outcomes else "held"


def _of_logits(areas: Areas, parts: Sequence[ClaimPart]) -> str:
    """The verdict with KNN of the logits, as the paper's text has it, where KNN takes part."""
    parts_of_logits = [
        replace(part, comparisons=[_with_logits(comparison) for comparison in part.comparisons]) for part in parts
    ]
    comparisons = [comparison for part in parts_of_logits for comparison in part.comparisons]
    if parts_of_logits == list(parts) or not all(areas.has(each.mix, *each.terms) for each in comparisons):
        return ""
    by_part, outcomes = _decided(areas, parts_of_logits)
    counts = "; ".join(_counts(part, each) for part, each in zip(parts_of_logits, by_part, strict=True))
    return f" With KNN of the logits, as §4.1 (iii) writes it: {_joint(outcomes)}, {counts}."


def _with_logits(comparison: AreaComparison) -> AreaComparison:
    terms = (replace(term, score="knn_logits") if term.score == "knn" else term for term in comparison.terms)
    return replace(comparison, terms=tuple(terms))


HEADS: dict[Outcome, str] = {"held": "Closest", "not held": "Most against it", "undecided": "Most in doubt"}


def _counts(part: ClaimPart, outcomes: list[Outcome]) -> str:
    n, speaking, against = len(outcomes), outcomes.count("held"), outcomes.count("not held")
    about = (
        "" if {comparison.can_refute for comparison in part.comparisons} == {True} else ", where the numbers can tell"
    )
    return (
        f"{speaking} of {n} comparisons speak for it, {against} against{about} "
        f"(it needs {part.quantifier.value}: {part.quantifier.needed(n)})"
    )


def _tolerance_note(areas: Areas, parts: Sequence[ClaimPart], outcome: Outcome) -> str:
    """The tolerance at which a claim of comparable scores would hold, where it does not."""
    if outcome != "not held" or any(
        comparison.relation == "better" for part in parts for comparison in part.comparisons
    ):
        return ""
    least = max(_tolerance_of(areas, part) for part in parts)
    return f" By the values alone it would hold with a tolerance of {least:.0%}."


def _tolerance_of(areas: Areas, part: ClaimPart) -> float:
    """The share by which areas may differ for as many of the comparisons as the claim speaks of, by their values."""
    shares = []
    for comparison in part.comparisons:
        value = areas.contrast(comparison.terms, comparison.mix, outside=OUTSIDE).value
        apart = abs(value) if comparison.relation == "alike" else max(value, 0.0)
        shares.append(
            0.0 if apart <= comparison.tolerance[1] else apart / max(_other(areas, comparison), comparison.tolerance[1])
        )
    return sorted(shares)[part.quantifier.needed(len(shares)) - 1]


def _other(areas: Areas, comparison: AreaComparison) -> float:
    return areas.area(comparison.terms[1].score, comparison.mix, comparison.terms[1].alpha)


def _bound(areas: Areas, comparison: AreaComparison) -> float:
    share, least = comparison.tolerance
    return 0.0 if comparison.relation == "better" else max(share * _other(areas, comparison), least)


def _decision(areas: Areas, comparison: AreaComparison, outside: float) -> Outcome:
    """The outcome by intervals that miss the truth by ``outside``; being apart on either side takes both tails."""
    bound = _bound(areas, comparison)
    outcome = _outcome(areas.contrast(comparison.terms, comparison.mix, outside=outside), comparison.relation, bound)
    if outcome == "not held" and comparison.relation == "alike":
        outcome = _outcome(
            areas.contrast(comparison.terms, comparison.mix, outside=outside / 2), comparison.relation, bound
        )
    return outcome if comparison.can_refute or outcome != "not held" else "undecided"


def _distance(areas: Areas, comparison: AreaComparison) -> float:
    """How far a comparison is from speaking for the claim."""
    contrast = areas.contrast(comparison.terms, comparison.mix, outside=OUTSIDE)
    end = max(contrast.high, -contrast.low) if comparison.relation == "alike" else contrast.high
    return (end - _bound(areas, comparison)) / max(_other(areas, comparison), comparison.tolerance[1])


def _description(areas: Areas, comparison: AreaComparison) -> str:
    contrast = areas.contrast(comparison.terms, comparison.mix, outside=OUTSIDE)
    spread = "" if contrast.spread is None else f" ± {100 * contrast.spread:.2f}"
    interval = f"[{_signed(contrast.low)}, {_signed(contrast.high)}]"
    return f"{comparison.words} {_signed(contrast.value)}{spread} {interval} on {comparison.mix}"


def _outcome(contrast: Contrast, relation: Relation, bound: float) -> Outcome:
    strictly = relation == "better"
    if contrast.low > bound or (relation == "alike" and contrast.high < -bound):
        return "not held"
    inside = contrast.high < bound if strictly else contrast.high <= bound
    return "held" if inside and (relation != "alike" or contrast.low >= -bound) else "undecided"


def _signed(value: float) -> str:
    return f"{round(100 * value, 2) + 0.0:+.2f}".replace("-", "−").replace("inf", "∞")


def _duels(
    areas: Areas,
    scores: Sequence[str],
    others: Sequence[str],
    *,
    mixes: Iterable[str] | None = None,
    relation: Relation = "better",
    tolerance: tuple[float, float] = COMPARABLE,
) -> list[AreaComparison]:
    """Each of some scores against each of others, where both are there."""
    candidates = (
        (f"{score} − {other} at α = {alpha:g}", mix, (Term(1, score, alpha), Term(-1, other, alpha)))
        for mix, alpha, score, other in product(mixes or areas.mixes, ALPHAS, scores, others)
    )
    return [
        AreaComparison(words, mix, terms, relation, tolerance)
        for words, mix, terms in candidates
        if areas.has(mix, *terms)
    ]


def _spike(areas: Areas) -> list[AreaComparison]:
    """The mean risk at the smallest coverages against that up to 0.5: higher for all scores but the margins and KNN.

    The printed tables end at coverage 0.1; what they show there can speak for a rise, and not against one further down.
    """
    low, middle = (NEAR_ZERO if NEAR_ZERO in areas.alphas else ALPHAS[0]), ALPHAS[1]
    comparisons = []
    for score in PAPER_SCORES:
        steady = score in STEADY
        first, second = (low, middle) if steady else (middle, low)
        terms = (Term(1, score, first), Term(-1, score, second))
        if areas.has("in+label", *terms):
            words = f"{score} AURC-{first:g} − AURC-{second:g}"
            can_refute = low == NEAR_ZERO or steady
            comparisons.append(AreaComparison(words, "in+label", terms, can_refute=can_refute))
    return comparisons


def _spike_to_full(areas: Areas) -> list[AreaComparison]:
    """The risk at full coverage less that at the smallest coverages, of all scores but the margins and KNN."""
    low = NEAR_ZERO if NEAR_ZERO in areas.alphas else ALPHAS[0]
    comparisons = []
    for score in PAPER_SCORES:
        terms = (Term(1, FULL, low), Term(-1, score, low))
        if score not in STEADY and areas.has("in+label", *terms):
            words = f"risk at full coverage − AURC-{low:g} of {score}"
            comparisons.append(AreaComparison(words, "in+label", terms, "not worse", can_refute=low == NEAR_ZERO))
    return comparisons


def _larger_gain(areas: Areas) -> list[AreaComparison]:
    """What the confidence margin gains on SR_max at α = 0.1 against what it gains at α = 1."""
    margin, softmax, low, full = "confidence_margin", "max_softmax", ALPHAS[0], ALPHAS[-1]
    terms = (Term(1, margin, low), Term(-1, softmax, low), Term(-1, margin, full), Term(1, softmax, full))
    words = f"({margin} − {softmax} at α = {low:g}) − (the same at α = {full:g})"
    return [AreaComparison(words, mix, terms) for mix in areas.mixes if areas.has(mix, *terms)]


CLAIMED: dict[str, Callable[[Areas], list[AreaComparison]]] = {
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
