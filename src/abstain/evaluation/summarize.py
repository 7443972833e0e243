"""`summarize`: lay out an evaluation as a `Summary`."""

from collections.abc import Mapping, Sequence
from typing import Any

from abstain.evaluation.mixes import ALONE
from abstain.evaluation.summary import Cell, Column, Line, Summary
from abstain.evaluation.table import ScoreTable
from abstain.evaluation.verdict import BASELINE, verdict
from abstain.metrics.registry import as_metric
from abstain.names import check_name

SHOWN = 15  # scores that fit a screen
Cells = dict[str, Cell]


def summarize(
    evaluation: ScoreTable,
    /,
    *,
    mixes: Sequence[str] | None = None,
    alphas: Sequence[float] | None = None,
    shown: int | None = SHOWN,
) -> Summary:
    """Lay out an evaluation: the widest mix unless ``mixes`` names others, and the ``shown`` best scores, or all.

    In each mix AURC-α comes first, then the further metrics that were asked for. The score people use today is always
    among those shown.
    """
    for mix in mixes or ():
        check_name("mixes", mix, evaluation.mixes, rule=f"be among {', '.join(evaluation.mixes)}")
    chosen = list(mixes or evaluation.mixes[-1:])
    table = {
        column: cells for mix in chosen for column, cells in _columns(evaluation, mix, alphas or evaluation.alphas)
    }
    last = next(cells for column, cells in reversed(table.items()) if column.alpha is not None)
    ordered = sorted(evaluation.scores, key=lambda score: last[score].value)
    kept = ordered if shown is None else [*ordered[:shown], *(name for name in ordered[shown:] if name == BASELINE)]
    return Summary(
        verdict=verdict(evaluation, mix=chosen[-1]),
        columns=tuple(table),
        lines=tuple(
            Line(score, evaluation.entries[score].symbol, tuple(cells.get(score) for cells in table.values()))
            for score in kept
        ),
        not_shown=len(ordered) - len(kept),
        of_softmax=tuple(
            (row["metric"], row["mix"], row["value"])
            for row in evaluation.further
            if row["score"] is None and row["mix"] in chosen
        ),
        left_out=by_reason(evaluation.left_out),
        notes=evaluation.notes,
        level=evaluation.level,
    )


def _columns(evaluation: ScoreTable, mix: str, alphas: Sequence[float]) -> list[tuple[Column, Cells]]:
    """The columns of a mix with their cells by score: every α, then every further metric that is defined there."""
    found, alone = [], evaluation.mixes == [ALONE.name]
    for alpha in alphas:
        rows = evaluation.column(mix, alpha)
        size = rows[0]["n"], rows[0]["errors"]
        places = _places({row["score"]: row["aurc"] for row in rows})
        cells = {
            row["score"]: Cell(row["aurc"], row["se"], row["low"], row["high"], places[row["score"]], row["tied"])
            for row in rows
        }
        found.append((Column("aurc", mix, alpha, *size, is_alone=alone), cells))
    further = [row for row in evaluation.further if row["mix"] == mix and row["score"] is not None]
    for name in dict.fromkeys(row["metric"] for row in further):
        metric, _ = as_metric(name)
        cells = _further([row for row in further if row["metric"] == name], metric.better == "large")
        found.append((Column(name, mix, None, *size, metric.better, is_alone=alone), cells))
    return found


def _further(rows: list[dict[str, Any]], is_large_better: bool) -> Cells:
    places = _places({row["score"]: -row["value"] if is_large_better else row["value"] for row in rows})
    cells = {}
    for row in rows:
        score = row["score"]
        cells[score] = Cell(row["value"], row["se"], row["low"], row["high"], places[score], tied=places[score] == 1)
    return cells


def _places(values: Mapping[str, float]) -> dict[str, int]:
    """1 for the smallest and all that are equal to it, and so on."""
    ordered = sorted(values.values())
    return {score: 1 + ordered.index(value) for score, value in values.items()}


def by_reason(left_out: dict[str, str], /) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The names of scores that were left out for the same reason, and the reason."""
    return tuple(
        (tuple(name for name, why in left_out.items() if why == reason), reason)
        for reason in dict.fromkeys(left_out.values())
    )
