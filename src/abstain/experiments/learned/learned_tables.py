"""What the learned score won and lost, as tables."""

from collections.abc import Iterable, Sequence

from abstain.experiments.findings import Table
from abstain.experiments.learned.cells import SIZES, Cell
from abstain.experiments.learned.certified import DELTA, RISK, ROWS, Certified
from abstain.experiments.learned.unlabelled import NAME as RATIO

NOTE = (
    "Cells better / tied / worse than the best of the paper's ten, chosen in hindsight on the judged rows: each mix at "
    "α = 0.1, 0.5 and 1, paired, copies of a sample counted once, 95% for each cell alone. So of equal scores one cell "
    "in forty would be called better, and somewhat more called worse, as the best is chosen in hindsight."
)


def tables(found: Sequence[Cell], kept: Sequence[Certified], /, *, design: Sequence[str]) -> tuple[Table, ...]:
    """By model, by mix, by score, and what is accepted at a certified risk."""
    own = [cell for cell in found if cell.mix == cell.learned_in]
    judging = [cell for cell in own if cell.model not in design]
    other = [
        cell for cell in found if cell.model not in design and cell.learned_in == "all" and cell.score == "learned"
    ]
    learned = [cell for cell in judging if cell.score == "learned"]
    models = list(dict.fromkeys(cell.model for cell in own))
    return (
        _table(
            "The learned score, judged in the mix of its labelled rows",
            "model",
            {
                model + (" (design)" if model in design else ""): [
                    cell for cell in own if cell.model == model and cell.score == "learned"
                ]
                for model in models
            }
            | {"all judging models": learned},
            note=NOTE,
        ),
        _table(
            "The same by mix, judging models",
            "mix",
            {mix: [cell for cell in learned if cell.mix == mix] for mix in dict.fromkeys(cell.mix for cell in learned)},
        ),
        _table(
            "Learned of all shifts, judged in each mix, judging models",
            "mix",
            {mix: [cell for cell in other if cell.mix == mix] for mix in dict.fromkeys(cell.mix for cell in other)},
        ),
        _table(
            "Every score on the judging models, fitted on the labelled rows of the mix it is judged in",
            "score",
            _by_net(
                {
                    score: [cell for cell in judging if cell.score == score]
                    for score in dict.fromkeys(cell.score for cell in judging)
                }
            ),
        ),
        _certified_table(kept, design),
    )


def unlabelled_table(ratios: Sequence[Cell], /, *, design: Sequence[str]) -> Table:
    """Labelled in-distribution rows with and without a density ratio from unlabelled ones, judging models."""
    judging = [cell for cell in ratios if cell.model not in design]
    mixes = list(dict.fromkeys(cell.mix for cell in judging))
    rows = tuple(
        (score, *(_counts([cell for cell in judging if (cell.score, cell.mix) == (score, mix)]) for mix in mixes))
        for score in ("max_softmax", "learned", RATIO)
    )
    note = "Learned of labelled in-distribution rows alone; the ratio is that of as many unlabelled rows of the mix."
    return Table("Unlabelled rows of deployment, judging models", ("score", *mixes), rows, note)


def words(found: Sequence[Cell], kept: Sequence[Certified], /, *, design: Sequence[str]) -> str:
    """One paragraph."""
    own = [c for c in found if c.score == "learned" and c.mix == c.learned_in and c.model not in design]
    parts = []
    for size in SIZES:
        some = [cell for cell in own if cell.size == size]
        if some:
            parts.append(f"{_counts(some)} of {len(some)} cells with {size:,} labelled rows")
    judged = [one for one in kept if one.model not in design]
    wins = sum(one.learned >= one.alone for one in judged)
    told = (
        f"Better / tied / worse than the best of the paper's ten on {len({cell.model for cell in own})} models that it "
        f"was not designed on: {'; '.join(parts) or 'none was there'}."
    )
    if not judged:
        return told
    return (
        f"{told} With {ROWS:,} labelled rows in all and a risk of {RISK:g} certified (δ = {DELTA:g}), it accepts at "
        f"least as much as the best single score in hindsight in {wins} of {len(judged)} cases."
    )


def _table(title: str, what: str, groups: dict[str, list[Cell]], *, note: str = "Cells as above.") -> Table:
    rows = [
        (name, *(_counts([cell for cell in group if cell.size == size]) for size in SIZES))
        for name, group in groups.items()
    ]
    return Table(title, (what, *(f"{size:,} rows" for size in SIZES)), tuple(rows), note)


def _counts(some: Iterable[Cell]) -> str:
    outcomes = [cell.outcome for cell in some]
    return "/".join(str(outcomes.count(kind)) for kind in (1, 0, -1)) if outcomes else "–"


def _by_net(groups: dict[str, list[Cell]]) -> dict[str, list[Cell]]:
    """Those with most cells better, less those worse, first."""
    return dict(sorted(groups.items(), key=lambda one: -sum(cell.outcome for cell in one[1])))


def _certified_table(kept: Sequence[Certified], design: Sequence[str]) -> Table:
    rows = tuple(
        (
            one.model + (" (design)" if one.model in design else ""),
            one.mix,
            f"{one.learned:.1%}",
            f"{one.risk:.1%}",
            f"{one.alone:.1%} ({one.best})",
            f"{100 * (one.learned - one.alone):+.1f}".replace("-", "−"),
            f"{one.share:.1%}",
        )
        for one in kept
    )
    columns = ("model", "mix", "learned accepts", "its risk", "best alone, in hindsight", "points", "max_softmax")
    note = (
        f"Shares of fresh rows that are accepted at risk {RISK:g}, certified with δ = {DELTA:g} on {ROWS:,} labelled "
        "rows in all, those that a score was fitted on taken off."
    )
    return Table("Coverage at a certified risk", columns, rows, note)
