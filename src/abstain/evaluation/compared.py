"""Every score on a mix of shifts, and how far each is behind the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.mixes import Mix
from abstain.kernels.ranks import Order, order_rows
from abstain.kernels.threads import in_threads
from abstain.metrics.checks import rejected_last
from abstain.metrics.clusters import Clusters
from abstain.metrics.compare import Comparison, compare_with
from abstain.metrics.intervals import Estimate, estimates
from abstain.metrics.lowest import lowest
from abstain.metrics.ranking import Ranking, Rows
from abstain.outputs import Outputs

FIRST = 1000  # rows
Floats = NDArray[np.float64]
Behind = dict[tuple[str, str, float], Comparison]
"""By score, mix and α, the paired difference to the score of lowest AURC-α."""


@dataclass(frozen=True)
class Ranked:
    """All rows in their order under every score, found once: a mix has some of the rows in the same order."""

    outputs: Outputs
    confidence: dict[str, Floats]
    orders: dict[str, Order]
    clusters: Clusters | None

    @classmethod
    def of(cls, outputs: Outputs, confidence: dict[str, Floats], /) -> Self:
        """Rank by each confidence; rows that are not usable are below all others."""
        found = in_threads(lambda one: order_rows(rejected_last(one)), list(confidence.values()), len(outputs))
        clusters = None if outputs.clusters is None else Clusters(*outputs.samples)
        return cls(outputs, confidence, dict(zip(confidence, found, strict=True)), clusters)

    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Groups of two scores or more that put all rows in the same order, with the same ties."""
        groups: list[list[str]] = []
        for name, order in self.orders.items():
            group = next((one for one in groups if _is_same(self.orders[one[0]], order)), None)
            groups.append([name]) if group is None else group.append(name)
        return tuple(tuple(group) for group in groups if len(group) > 1)

    def on(self, mix: Mix, /) -> "RankedMix":
        """The rows of a mix."""
        chosen = mix.rows(self.outputs.shift)
        clusters = None if self.clusters is None else self.clusters.among(chosen)
        return RankedMix(Rows(self.outputs.errors[chosen], None, clusters), np.flatnonzero(chosen), self)


@dataclass(frozen=True)
class RankedMix:
    """The rows of a mix, which any score ranks."""

    rows: Rows
    numbers: NDArray[np.int64]
    """(n,) of these rows among all."""
    ranked: Ranked

    def rankings(self, rows: Rows | None = None, /) -> dict[str, Ranking]:
        """The rows, or the same with more known of them, ranked by each score."""
        rows, every = rows or self.rows, len(self.ranked.outputs)
        place = np.full(every, -1)
        place[self.numbers] = np.arange(len(self.numbers))

        def one(name: str) -> Ranking:
            order, values = self.ranked.orders[name], self.ranked.confidence[name]
            some = order if len(rows) == every else order.among(place, len(rows))
            return Ranking(some, lambda these: rejected_last(values[self.numbers[these]]), rows)

        names = list(self.ranked.orders)
        return dict(zip(names, in_threads(one, names, every), strict=True))


def compared(
    ranked: Ranked, mix: Mix, /, *, alphas: Sequence[float], level: float
) -> tuple[list[dict[str, Any]], Behind]:
    """The rows of the table for a mix, α by α, and how far each score is behind the best."""
    on_mix = ranked.on(mix)
    rankings, size = on_mix.rankings(), len(on_mix.rows)
    each = in_threads(lambda one: estimates(one, alphas=alphas, level=level), list(rankings.values()), size)
    errors = int(np.count_nonzero(on_mix.rows.given_losses))
    table: list[dict[str, Any]] = []
    behind: Behind = {}
    for alpha, found in zip(alphas, zip(*each, strict=True), strict=True):
        best = found[lowest([one.value for one in found])]
        others = {name: one for name, one in zip(rankings, found, strict=True) if one is not best}
        apart = dict(zip(others, compare_with(best, list(others.values()), level=level), strict=True))
        behind |= {(name, mix.name, alpha): one for name, one in apart.items()}
        for name, one in zip(rankings, found, strict=True):
            is_best = one.value <= best.value
            is_worse = not is_best and apart[name].low > 0
            row = {"score": name, "mix": mix.name, "alpha": float(alpha)} | _numbers(one)
            table.append(row | {"n": size, "errors": errors, "best": is_best, "tied": not is_worse})
    return table, behind


def _is_same(a: Order, b: Order) -> bool:
    """Whether two orders are, to the ties; most differ among the first rows."""
    first = np.array_equal(a.rows[:FIRST], b.rows[:FIRST])
    return first and np.array_equal(a.rows, b.rows) and np.array_equal(a.begins, b.begins)


def _numbers(found: Estimate) -> dict[str, float]:
    return {"aurc": found.value, "se": found.se, "low": found.low, "high": found.high}
