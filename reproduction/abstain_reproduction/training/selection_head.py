"""What a selection head gains over post-hoc scores on the same classifier, over seeds: tables, curves and verdicts."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np
from scipy.special import expit

from abstain.evaluation import MIXES, Evaluation
from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
from abstain.metrics.compare import ScoreDifference, compare_all
from abstain.metrics.intervals import ALPHAS
from abstain.scores.registry import as_score
from abstain_reproduction.claims import CLAIMS, ClaimVerdict
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.outcome import Outcome
from abstain_reproduction.paper.areas import EQ_11
from abstain_reproduction.paper.score_claims import COMPARABLE
from abstain_reproduction.quantifier import jointly
from abstain_reproduction.training.seed_interval import SeedInterval, seed_interval, spread

HEAD, MARGIN = "selection_head", "confidence_margin"
POST_HOC = (MARGIN, EQ_11.name, "max_softmax", "sirc")
SYMBOLS = {HEAD: "ScNet"} | {name: as_score(name).symbol for name in POST_HOC}
PANELS = ("in", "all")
"""Those of Fig. 6, "In-D" and "In-D + Shift (Both)"."""
CAPTION = ("in", "in+cov")
"""What the caption of Fig. 6 says in their place; the claims are tested on these panels too, as ours."""
Pairs = Mapping[tuple[str, str, str, float], SeedInterval]
Levels = Mapping[tuple[str, str], float]
Two = tuple[str, str]


def findings(evaluations: Sequence[Evaluation], data: str, /) -> Findings:
    """Tables, curves of the seed whose head is the middle one, and verdicts."""
    gaps = pairs(evaluations)
    errors = [float(each.outputs.errors[each.outputs.shift == "none"].mean()) for each in evaluations]
    selected = [_selected(each) for each in evaluations]
    words = (
        f"{data}. The classifier errs on {spread(errors)}% of clean images; the selection head gives them a mean of "
        f"{', '.join(f'{share:.1%}' for share in selected)} by seed, where 70% were asked for in training."
    )
    return Findings(
        words=words,
        verdicts=head_claims(evaluations, data),
        tables=(*(_areas(evaluations, alpha) for alpha in ALPHAS), *(_against_head(gaps, alpha) for alpha in ALPHAS)),
        numbers={
            "errors": errors,
            "selected": selected,
            "rows": [row | {"run": number} for number, each in enumerate(evaluations) for row in each.rows],
            "differences": {" ".join(map(str, key)): value.to_dict() for key, value in gaps.items()},
        },
        figures={"risk-coverage": lambda: risk_coverage_figure(_middle(evaluations), scores=list(SYMBOLS))},
    )


def head_claims(evaluations: Sequence[Evaluation], data: str, /) -> tuple[ClaimVerdict, ...]:
    """What §4.2 says of a selection head, on networks trained with different seeds, or on one.

    None where a score that it speaks of could not be fitted, or a mix is not there.
    """
    if not all(each.confidence.keys() >= SYMBOLS.keys() and set(MIXES) <= set(each.mixes) for each in evaluations):
        return ()
    gaps, levels = pairs(evaluations), _levels(evaluations)
    ours = f"{data}; with covariate shift alone, as the caption of Fig. 6 has it"
    return (
        comparable(gaps, levels, data),
        comparable(gaps, levels, ours, mixes=CAPTION),
        all_better(gaps, levels, data),
        all_better(gaps, levels, ours, mixes=CAPTION),
        not_best(gaps, data),
    )


def _middle(evaluations: Sequence[Evaluation]) -> Evaluation:
    """By the area of the head on clean images: neither the luckiest nor the unluckiest."""
    ranked = sorted(evaluations, key=lambda each: float(each.row(HEAD, "in", 1.0).aurc))
    return ranked[len(ranked) // 2]


def _selected(evaluation: Evaluation) -> float:
    """The mean that the head gives to clean images, after the sigmoid."""
    return float(expit(evaluation.confidence[HEAD][evaluation.outputs.shift == "none"]).mean())


def pairs(evaluations: Sequence[Evaluation], /) -> Pairs:
    """The AURC-α of the first minus that of the second, for every two scores, by mix and α."""
    comparisons: dict[tuple[str, str, str, float], list[ScoreDifference]] = {}
    for each in evaluations:
        for mix, alpha in product(MIXES.values(), ALPHAS):
            rows = mix.rows(each.outputs.shift)
            ids = None if each.outputs.ids is None else each.outputs.ids[rows]
            confidences = {name: each.confidence[name][rows] for name in SYMBOLS}
            for names, comparison in compare_all(confidences, each.outputs.errors[rows], alpha=alpha, ids=ids).items():
                comparisons.setdefault((*names, mix.name, alpha), []).append(comparison)
    return {
        key: seed_interval([comparison.difference for comparison in each], [comparison.se for comparison in each])
        for key, each in comparisons.items()
    }


def _levels(evaluations: Sequence[Evaluation]) -> Levels:
    """Mean AURC over seeds, by score and mix."""
    return {
        (score, mix): float(np.mean([each.row(score, mix, 1.0).aurc for each in evaluations]))
        for score in SYMBOLS
        for mix in MIXES
    }


def _areas(evaluations: Sequence[Evaluation], alpha: float) -> ResultTable:
    rows = tuple(
        (symbol, *(spread([each.row(score, mix, alpha).aurc for each in evaluations]) for mix in MIXES))
        for score, symbol in SYMBOLS.items()
    )
    return ResultTable(f"AURC-{alpha:g} × 100, mean ± standard deviation over seeds", ("score", *MIXES), rows)


def _against_head(differences: Pairs, alpha: float) -> ResultTable:
    rows = tuple(
        (SYMBOLS[score], *(differences[HEAD, score, mix, alpha].marked() for mix in MIXES)) for score in POST_HOC
    )
    return ResultTable(
        f"AURC-{alpha:g} × 100 of the selection head minus that of the score",
        ("score", *MIXES),
        rows,
        "Paired on the same images, 95% interval over seeds and test images; **bold**: the head is better, *italic*: "
        "the post-hoc score is.",
    )


def comparable(differences: Pairs, levels: Levels, data: str, /, *, mixes: Sequence[str] = PANELS) -> ClaimVerdict:
    """Head and confidence margin alike, both better than SR_max and SIRC, as in Fig. 6 (a, b)."""
    better = list(product((HEAD, MARGIN), ("max_softmax", "sirc")))
    return _verdict("scnet-cifar", differences, levels, mixes=mixes, alike=[(HEAD, MARGIN)], better=better, data=data)


def all_better(differences: Pairs, levels: Levels, data: str, /, *, mixes: Sequence[str] = PANELS) -> ClaimVerdict:
    """The post-hoc scores alike, and each better than the head, as in Fig. 6 (c, d)."""
    better = [(score, HEAD) for score in POST_HOC]
    alike = list(combinations(POST_HOC, 2))
    return _verdict("scnet-imagenet", differences, levels, mixes=mixes, alike=alike, better=better, data=data)


def _verdict(
    claim: str,
    differences: Pairs,
    levels: Levels,
    *,
    mixes: Sequence[str],
    alike: Sequence[Two],
    better: Sequence[Two],
    data: str,
) -> ClaimVerdict:
    """Held where all pairs in both mixes speak for it, not held where one speaks against it."""
    texts: list[str] = []
    judges: list[Callable[[float], Outcome]] = []
    for mix, (a, b) in product(mixes, (*alike, *better)):
        gap = _between(differences, a, b, mix)
        bound = max(COMPARABLE[0] * levels[b, mix], COMPARABLE[1])
        judges.append(partial(gap.is_within, bound) if (a, b) in alike else gap.is_better)
        texts.append(f"{SYMBOLS[a]} − {SYMBOLS[b]} {mix} {gap}")
    outcomes = jointly(judges)
    words = (
        f"{outcomes.count('held')} of {len(outcomes)} comparisons speak for it, {outcomes.count('not held')} against, "
        "jointly (Holm). AURC × 100, 95% intervals: "
    )
    return ClaimVerdict(claim, CLAIMS[claim].quantifier.outcome(outcomes), words + "; ".join(texts), data)


def _between(differences: Pairs, a: str, b: str, mix: str) -> SeedInterval:
    """The first less the second, whichever way round they were compared."""
    return differences[a, b, mix, 1.0] if (a, b, mix, 1.0) in differences else -differences[b, a, mix, 1.0]


def not_best(differences: Pairs, data: str, /) -> ClaimVerdict:
    """Held where some post-hoc score is better in some mix, not held where the head is better than each in all."""
    against = {(score, mix): differences[HEAD, score, mix, 1.0] for score in POST_HOC for mix in MIXES}
    outcomes = jointly([(-gap).is_better for gap in against.values()])
    better, worse = outcomes.count("held"), outcomes.count("not held")
    outcome = CLAIMS["scnet-not-best"].quantifier.outcome(outcomes)
    worst = max(against, key=lambda key: against[key].mean)
    words = (
        f"of {len(against)} comparisons of AURC, decided jointly (Holm), the post-hoc score is better in {better}, "
        f"the head in {worse}; largest gap: {SYMBOLS[worst[0]]}, {worst[1]}, head minus score {against[worst]}"
    )
    return ClaimVerdict("scnet-not-best", outcome, words, data)
