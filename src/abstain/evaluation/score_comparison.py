"""Every score on a mix of shifts, and how far each is behind the best."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._kernels.blocks import in_threads
from abstain._kernels.ranking import Order, order_rows
from abstain.evaluation.mixes import Mix
from abstain.evaluation.score_table import AreaRow, Behind
from abstain.metrics.aurc import lowest
from abstain.metrics.checks import rejected_last
from abstain.metrics.clusters import RowClusters
from abstain.metrics.compare import ScoreDifference, compare_with
from abstain.metrics.estimates import Estimate, estimates
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.outputs import Outputs

FIRST = 1000  # rows
Column = Mapping[str, Estimate]
"""The estimates at an α, by score."""


@dataclass(frozen=True)
class Ranked:
    """All rows ranked by every score, sorted once: the rows of a mix keep their order."""

    outputs: Outputs
    confidence: dict[str, Floats]
    orders: dict[str, Order]
    clusters: RowClusters | None

    @classmethod
    def of(cls, outputs: Outputs, confidence: dict[str, Floats], /) -> Self:
        """Rank by each confidence; non-finite rows are below all others."""
        orders = in_threads(lambda values: order_rows(rejected_last(values)), list(confidence.values()), len(outputs))
        clusters = None if outputs.clusters is None else RowClusters(*outputs.samples)
        return cls(outputs, confidence, dict(zip(confidence, orders, strict=True)), clusters)

    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Groups of two scores or more that put all rows in the same order, with the same ties."""
        groups: list[list[str]] = []
        for name, order in self.orders.items():
            group = next((names for names in groups if _is_same(self.orders[names[0]], order)), None)
            groups.append([name]) if group is None else group.append(name)
        return tuple(tuple(group) for group in groups if len(group) > 1)

    def on(self, mix: Mix, /) -> "RankedMix":
        """The rows of a mix."""
        chosen = mix.rows(self.outputs.shift)
        clusters = None if self.clusters is None else self.clusters.among(chosen)
        return RankedMix(SampleRows(self.outputs.outcomes[chosen], None, clusters), np.flatnonzero(chosen), self)


@dataclass(frozen=True)
class RankedMix:
    """The rows of a mix, which any score ranks."""

    rows: SampleRows
    numbers: NDArray[np.int64]
    """(n,) of these rows among all."""
    ranked: Ranked

    def rankings(self, rows: SampleRows | None = None, /) -> dict[str, Ranking]:
        """The rows, or the same with more known of them, ranked by each score."""
        rows, every = rows or self.rows, len(self.ranked.outputs)
        index = np.full(every, -1)
        index[self.numbers] = np.arange(len(self.numbers))

        def ranking(name: str) -> Ranking:
            order, values = self.ranked.orders[name], self.ranked.confidence[name]
            some = order if len(rows) == every else order.among(index, len(rows))
            return Ranking(some, lambda these: rejected_last(values[self.numbers[these]]), rows)

        names = list(self.ranked.orders)
        return dict(zip(names, in_threads(ranking, names, every), strict=True))


def compared(ranked: Ranked, mix: Mix, /, *, alphas: Sequence[float], level: float) -> tuple[list[AreaRow], Behind]:
    """The rows of the table for a mix, α by α, and how far each score is behind the best."""
    on_mix = ranked.on(mix)
    rankings, rows = on_mix.rankings(), on_mix.rows

    def behind(best: str, column: Column) -> dict[str, ScoreDifference]:
        others = {name: estimate for name, estimate in column.items() if name != best}
        return dict(zip(others, compare_with(column[best], list(others.values()), level=level), strict=True))

    each = in_threads(
        lambda ranking: estimates(ranking, alphas=alphas, level=level), list(rankings.values()), len(rows)
    )
    columns = [dict(zip(rankings, column, strict=True)) for column in zip(*each, strict=True)]
    return table_of(mix, columns, behind, n=len(rows), errors=rows.total)


def table_of(
    mix: Mix,
    columns: Sequence[Column],
    behind: Callable[[str, Column], Mapping[str, ScoreDifference]],
    /,
    *,
    n: int,
    errors: float,
) -> tuple[list[AreaRow], Behind]:
    """The rows of a mix from its estimates at each α; ``behind`` compares the others of a column with the best."""
    table: list[AreaRow] = []
    differences: Behind = {}
    for column in columns:
        best = list(column)[lowest([estimate.value for estimate in column.values()])]
        apart = behind(best, column)
        for name, estimate in column.items():
            is_best, alpha = estimate.value <= column[best].value, float(estimate.alpha)
            if name in apart:
                differences[name, mix.name, alpha] = apart[name]
            row = AreaRow(
                score=name,
                mix=mix.name,
                alpha=alpha,
                aurc=estimate.value,
                se=estimate.se,
                low=estimate.low,
                high=estimate.high,
                n=n,
                errors=errors,
                best=is_best,
                tied=is_best or apart[name].low <= 0,
            )
            table.append(row)
    return table, differences


def _is_same(a: Order, b: Order) -> bool:
    """Whether two orders are, to the ties; most differ among the first rows."""
    first = np.array_equal(a.rows[:FIRST], b.rows[:FIRST])
    return first and np.array_equal(a.rows, b.rows) and np.array_equal(a.begins, b.begins)
