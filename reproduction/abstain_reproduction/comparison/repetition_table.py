"""The table of a repeated comparison: the scores of the paper, the best of the others, and the controls."""

from abstain.evaluation.mixes import MIXES
from abstain.evaluation.verdict import BASELINE
from abstain.scores import PAPER
from abstain.scores.registry import as_score
from abstain_reproduction.comparison.control import MARK
from abstain_reproduction.comparison.repetition import Repetition, RepetitionRow
from abstain_reproduction.findings import ResultTable
from abstain_reproduction.paper.areas import EQ_11

ALPHA = 1.0
OTHERS = 5
NOTE = (
    "AURC × 100, the mean over the draws of rows to fit on and, after ±, its standard deviation over them; **lowest**, "
    "*not significantly worse than the lowest in most draws*. Seen: predictions of classes that are absent from the "
    "fitting sample rank last. Gain: AURC × 100 of the control less that of the score, with the draws in which the "
    "gain (+) or the loss (−) is significant; the control is the best, in each draw, of SR_max and RL_conf-M, plain or "
    "seen."
)


def repeated_table(repetition: Repetition, title: str, /, *, others: int = OTHERS) -> ResultTable:
    """A row for each score, a column for each mix, and two of the gain over the control, in the first and last mix."""
    mixes = repetition.first.mixes
    gains = list(dict.fromkeys((mixes[0], mixes[-1])))
    lowest = {mix: min(row.aurc for row in repetition.rows if (row.mix, row.alpha) == (mix, ALPHA)) for mix in mixes}
    rows = []
    for score in _rows_shown(repetition, mixes[-1], others):
        cells = [repetition.row(score, mix, ALPHA) for mix in mixes]
        gained = [repetition.row(score, mix, ALPHA) for mix in gains]
        rows.append(
            (
                _symbol(score),
                *("–" if cell is None else _cell(cell, lowest[cell.mix]) for cell in cells),
                *("–" if cell is None else _gain(cell) for cell in gained),
            )
        )
    draws = max(row.draws for row in repetition.rows)
    columns = ("score", *mixes, *(f"gain over control, {mix}" for mix in gains))
    return ResultTable(f"{title}, α = {ALPHA:g}, {draws} draws", columns, tuple(rows), NOTE)


def repeated_words(repetition: Repetition, /) -> str:
    """Which score ranks best in the widest mix, compared with the usual baseline and the control."""
    mix = repetition.first.mixes[-1]
    column = [row for row in repetition.rows if (row.mix, row.alpha) == (mix, ALPHA)]
    best = min((row for row in column if not _is_control(row.score)), key=lambda row: row.aurc)
    usual = next(row for row in column if row.score == BASELINE)
    first = repetition.first.best(mix)
    return (
        f"{MIXES[mix].words.capitalize()} ({first.n:,} rows, {first.errors / first.n:.1%} errors) "
        f"{_symbol(best.score)} ranks best, AURC {100 * best.aurc:.2f} ± {100 * best.spread:.2f} over {best.draws} "
        f"draws of five times as many rows as classes to fit on, against {100 * usual.aurc:.2f} for "
        f"{_symbol(usual.score)}, the usual baseline, and {100 * (best.aurc + best.gain):.2f} for the control, which "
        f"knows only the classes that were drawn; the gain over the control is significant in {best.better} of "
        f"{best.draws} draws."
    )


def _rows_shown(repetition: Repetition, mix: str, others: int) -> list[str]:
    """The scores of the paper in its order, the best others, then the controls."""
    paper = [
        variant.name for score in PAPER for variant in ((score, EQ_11) if score.name == EQ_11.about.name else (score,))
    ]
    rest = [row for row in repetition.rows if (row.mix, row.alpha) == (mix, ALPHA) and row.score not in paper]
    ranked = sorted(rest, key=lambda row: row.aurc)
    best = [row.score for row in ranked if not _is_control(row.score)][:others]
    return [*paper, *best, *(row.score for row in ranked if _is_control(row.score))]


def _is_control(score: str) -> bool:
    return score.endswith(MARK)


def _symbol(score: str) -> str:
    base = score.removesuffix(MARK)
    return f"{as_score(base).symbol}, seen" if _is_control(score) else as_score(base).symbol


def _cell(row: RepetitionRow, lowest: float) -> str:
    words = f"{100 * row.aurc:.2f}"
    words = f"**{words}**" if row.aurc == lowest else f"*{words}*" if 2 * row.tied > row.draws else words
    return f"{words} ± {100 * row.spread:.2f}"


def _gain(row: RepetitionRow) -> str:
    counted = [f"{sign}{count}/{row.draws}" for sign, count in (("+", row.better), ("−", row.worse)) if count]
    return f"{100 * row.gain:+.2f}".replace("-", "−") + (f" ({', '.join(counted)})" if counted else "")
