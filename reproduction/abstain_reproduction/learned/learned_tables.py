"""What the learned score won and lost, as tables."""

from collections.abc import Iterable, Sequence

from abstain.evaluation.verdict import BASELINE
from abstain.scores import LEARNED
from abstain_reproduction.findings import ResultTable
from abstain_reproduction.learned.cells import SIZES, ScoreCell
from abstain_reproduction.learned.certified_coverage import DELTA, RISK, ROWS, CertifiedCoverage
from abstain_reproduction.learned.density_ratio import NAME as RATIO

NOTE = (
    "Cells better / tied / worse than the best of the paper's ten, chosen in hindsight on the judged rows: each mix at "
    "α = 0.1, 0.5 and 1, paired, copies of a sample counted once, 95% for each cell alone. So of equal scores one cell "
    "in forty would be called better, and somewhat more called worse, as the best is chosen in hindsight."
)


def tables(
    cells: Sequence[ScoreCell], kept: Sequence[CertifiedCoverage], /, *, design: Sequence[str]
) -> tuple[ResultTable, ...]:
    """By model, by mix, by score, and what is accepted at a certified risk."""
    own = [cell for cell in cells if cell.mix == cell.learned_in]
    judging = [cell for cell in own if cell.model not in design]
    learned = _learned(judging)
    everywhere = _learned(cell for cell in cells if cell.model not in design and cell.learned_in == "all")
    models = {_display_name(name, design): group for name, group in _by("model", _learned(own)).items()}
    scores = sorted(_by("score", judging).items(), key=lambda item: -sum(cell.outcome for cell in item[1]))
    in_mix = "The learned score, judged in the mix of its labelled rows"
    in_all = "Learned of all shifts, judged in each mix, judging models"
    of_each = "Every score on the judging models, fitted on the labelled rows of the mix it is judged in"
    return (
        _table(in_mix, "model", models | {"all judging models": learned}, note=NOTE),
        _table("The same by mix, judging models", "mix", _by("mix", learned)),
        _table(in_all, "mix", _by("mix", everywhere)),
        _table(of_each, "score", dict(scores)),
        _certified_table(kept, design),
    )


def unlabelled_table(ratios: Sequence[ScoreCell], /, *, design: Sequence[str]) -> ResultTable:
    """Labelled in-distribution rows with and without a density ratio from unlabelled ones, judging models."""
    judging = [cell for cell in ratios if cell.model not in design]
    mixes = list(dict.fromkeys(cell.mix for cell in judging))
    rows = tuple(
        (score, *(_counts([cell for cell in judging if (cell.score, cell.mix) == (score, mix)]) for mix in mixes))
        for score in (BASELINE, LEARNED.name, RATIO)
    )
    note = "Learned of labelled in-distribution rows alone; the ratio is that of as many unlabelled rows of the mix."
    return ResultTable("Unlabelled rows of deployment, judging models", ("score", *mixes), rows, note)


def words(cells: Sequence[ScoreCell], kept: Sequence[CertifiedCoverage], /, *, design: Sequence[str]) -> str:
    """One paragraph."""
    own = _learned(cell for cell in cells if cell.mix == cell.learned_in and cell.model not in design)
    parts = []
    for size in SIZES:
        some = [cell for cell in own if cell.size == size]
        if some:
            parts.append(f"{_counts(some)} of {len(some)} cells with {size:,} labelled rows")
    judged = [certificate for certificate in kept if certificate.model not in design]
    wins = sum(certificate.learned >= certificate.alone for certificate in judged)
    summary = (
        f"Better / tied / worse than the best of the paper's ten on {len({cell.model for cell in own})} models that it "
        f"was not designed on: {'; '.join(parts) or 'none was there'}."
    )
    if not judged:
        return summary
    return (
        f"{summary} With {ROWS:,} labelled rows in all and a risk of {RISK:g} certified (δ = {DELTA:g}), it accepts at "
        f"least as much as the best single score in hindsight in {wins} of {len(judged)} cases."
    )


def _table(title: str, what: str, groups: dict[str, list[ScoreCell]], *, note: str = "Cells as above.") -> ResultTable:
    rows = [
        (name, *(_counts([cell for cell in group if cell.size == size]) for size in SIZES))
        for name, group in groups.items()
    ]
    return ResultTable(title, (what, *(f"{size:,} rows" for size in SIZES)), tuple(rows), note)


def _counts(some: Iterable[ScoreCell]) -> str:
    outcomes = [cell.outcome for cell in some]
    return "/".join(str(outcomes.count(kind)) for kind in (1, 0, -1)) if outcomes else "–"


def _learned(some: Iterable[ScoreCell]) -> list[ScoreCell]:
    return [cell for cell in some if cell.score == LEARNED.name]


def _by(what: str, some: Iterable[ScoreCell]) -> dict[str, list[ScoreCell]]:
    """The cells of each model, mix or score, in the order in which they come."""
    groups: dict[str, list[ScoreCell]] = {}
    for cell in some:
        groups.setdefault(getattr(cell, what), []).append(cell)
    return groups


def _display_name(model: str, design: Sequence[str]) -> str:
    return f"{model} (design)" if model in design else model


def _certified_table(kept: Sequence[CertifiedCoverage], design: Sequence[str]) -> ResultTable:
    rows = tuple(
        (
            _display_name(certificate.model, design),
            certificate.mix,
            f"{certificate.learned:.1%}",
            f"{certificate.risk:.1%}",
            f"{certificate.alone:.1%} ({certificate.best})",
            f"{100 * (certificate.learned - certificate.alone):+.1f}".replace("-", "−"),
            f"{certificate.share:.1%}",
        )
        for certificate in kept
    )
    columns = ("model", "mix", "learned accepts", "its risk", "best alone, in hindsight", "points", BASELINE)
    note = (
        f"Shares of fresh rows that are accepted at risk {RISK:g}, certified with δ = {DELTA:g} on {ROWS:,} labelled "
        "rows in all, those that a score was fitted on taken off."
    )
    return ResultTable("Coverage at a certified risk", columns, rows, note)
