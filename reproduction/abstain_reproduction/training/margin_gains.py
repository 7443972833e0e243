"""What objectives gain over cross-entropy, from all runs: tables, a figure and verdicts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from abstain.evaluation import MIXES
from abstain.scores.registry import SCORES
from abstain_reproduction.claims import CLAIMS, ClaimVerdict
from abstain_reproduction.findings import Findings, ResultTable
from abstain_reproduction.outcome import Outcome
from abstain_reproduction.paper.score_claims import MARGINS
from abstain_reproduction.quantifier import jointly
from abstain_reproduction.training.difference import difference_figure
from abstain_reproduction.training.margin_of_loss import MarginOfLoss
from abstain_reproduction.training.seed_interval import SeedInterval, seed_interval, spread

BASE = "cross-entropy"
PROMOTING = ("hinge", "additive margin")
POST_HOC = (*MARGINS, "max_softmax")
SYMBOLS = {name: SCORES[name].symbol for name in POST_HOC} | {"abstention": "abstention"}
Gains = dict[str, dict[str, SeedInterval]]
"""By score and mix, as "confidence_margin in", and by objective."""


@dataclass(frozen=True)
class TrainedRun:
    """The results of one objective with one seed."""

    objective: str
    seed: int
    rate: float
    error: float
    """Share of errors on clean images."""
    areas: dict[str, float]
    """AURC by score and mix, as "confidence_margin in"."""
    testing: dict[str, float]
    """Of each area less that after cross-entropy with the same seed, the standard error by chance of test images."""


def findings(runs: Sequence[TrainedRun], margins: Sequence[MarginOfLoss], data: str, /) -> Findings:
    """Tables, a figure and verdicts from all runs."""
    names = [name for name in _objectives(runs) if name != BASE]
    gains = {
        f"{score} {mix}": {name: _gain(runs, name, f"{score} {mix}") for name in names}
        for score in POST_HOC
        for mix in MIXES
    }
    figure = {mix: {name: {SYMBOLS[s]: gains[f"{s} {mix}"][name] for s in MARGINS} for name in names} for mix in MIXES}
    return Findings(
        words=f"{data}. AURC × 100 of margin scores after training by other objectives, against {BASE}.",
        verdicts=(*(_verdict(name, gains, data) for name in PROMOTING), _footnote(margins, data)),
        tables=(_levels(runs), *(_differences(score, gains, names) for score in POST_HOC)),
        numbers={
            "runs": [asdict(each) for each in runs],
            "margin_of_loss": [asdict(each) for each in margins],
            "differences": {key: {name: gain.to_dict() for name, gain in row.items()} for key, row in gains.items()},
        },
        figures={"differences": lambda: difference_figure(figure, against=BASE)},
    )


def _objectives(runs: Sequence[TrainedRun]) -> list[str]:
    """In the order they were trained."""
    return list(dict.fromkeys(each.objective for each in runs))


def _values(runs: Sequence[TrainedRun], name: str, key: str) -> list[float]:
    """Of one objective, by seed."""
    return [each.areas[key] for each in runs if each.objective == name and key in each.areas]


def _gain(runs: Sequence[TrainedRun], name: str, key: str) -> SeedInterval:
    pairs = zip(_values(runs, name, key), _values(runs, BASE, key), strict=True)
    testing = [each.testing[key] for each in runs if each.objective == name]
    return seed_interval([other - base for other, base in pairs], testing)


def _levels(runs: Sequence[TrainedRun]) -> ResultTable:
    """Errors and areas as they are, mean ± standard deviation over seeds."""
    rows = []
    for name in _objectives(runs):
        of_objective = [each for each in runs if each.objective == name]
        for score, symbol in SYMBOLS.items():
            cells = [spread(_values(runs, name, f"{score} {mix}")) for mix in MIXES]
            if cells[0]:
                rows.append(
                    (name, f"{of_objective[0].rate:g}", spread([each.error for each in of_objective]), symbol, *cells)
                )
    columns = ("objective", "learning rate", "errors, %", "score", *MIXES)
    return ResultTable("AURC × 100, mean ± standard deviation over seeds", columns, tuple(rows))


def _differences(score: str, gains: Gains, names: Sequence[str]) -> ResultTable:
    rows = tuple((name, *(gains[f"{score} {mix}"][name].marked() for mix in MIXES)) for name in names)
    return ResultTable(
        f"{SYMBOLS[score]}: AURC × 100 minus that after {BASE}",
        ("objective", *MIXES),
        rows,
        "Paired by seed and image, 95% interval over seeds and test images; **bold**: better than cross-entropy, "
        "*italic*: worse.",
    )


def _verdict(name: str, gains: Gains, data: str) -> ClaimVerdict:
    """Held if margins get better in most comparisons, not held if they get worse in half of them."""
    gaps = [gains[f"{score} {mix}"][name] for score in MARGINS for mix in MIXES]
    outcomes = jointly([gap.is_better for gap in gaps])
    better, worse = outcomes.count("held"), outcomes.count("not held")
    outcome = CLAIMS["margin-training"].quantifier.outcome(outcomes)
    cells = "; ".join(f"{SYMBOLS[s]} {mix} {gains[f'{s} {mix}'][name]}" for s in MARGINS for mix in MIXES)
    words = (
        f"{name}: better in {better}, worse in {worse} of {len(outcomes)} comparisons, jointly (Holm). "
        f"AURC × 100, 95% intervals, minus that of {BASE}: {cells}"
    )
    return ClaimVerdict("margin-training", outcome, words, data)


def _footnote(margins: Sequence[MarginOfLoss], data: str) -> ClaimVerdict:
    """Held if loss and margin rank samples similarly and the strongest rival makes nearly all of the loss."""
    correlation, share = (min(getattr(each, name) for each in margins) for name in ("correlation", "share"))
    outcome: Outcome = "held" if min(correlation, share) > 0.9 else "not held" if correlation < 0.5 else "undecided"
    dominated = np.mean([each.dominated for each in margins])
    words = (
        f"rank correlation of cross-entropy with the margin at least {correlation:.4f}; the strongest rival alone "
        f"gives at least {share:.1%} of the loss; it outweighs all others tenfold in {dominated:.0%} of the samples"
    )
    return ClaimVerdict("cross-entropy-margin", outcome, words, data)
