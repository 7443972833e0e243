"""The rule of a selector, for rows that come without a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from abstain.monitor.row import Row
from abstain.outputs.column_names import spelled
from abstain.selector import Selector

SCORED = ("confidence", "logit", "proba")  # how columns of outputs begin, from which a selector decides


@final
@dataclass(frozen=True)
class Rule:
    """Accept iff the confidence is above the threshold, or that of the row's group; NaN never is."""

    value: float
    per: str | None
    """class or domain, where each has a threshold."""
    values: dict[str, float]
    """The threshold of each group, by name; a domain that is not here is rejected."""
    class_names: tuple[str, ...]
    """Names that a prediction may have instead of its number."""

    def __post_init__(self) -> None:
        if self.per not in (None, "class", "domain"):
            raise ValueError(f"`per` must be class or domain or none, got {self.per!r}.")

    @classmethod
    def of(cls, selector: Selector, /) -> Self:
        """That of a selector."""
        groups = selector.groups
        values = {} if groups is None else {name: one.value for name, one in groups.thresholds.items()}
        if groups is not None and groups.is_by_class:
            values = {str(k): float(value) for k, value in enumerate(np.atleast_1d(selector.class_values))}
        per = None if groups is None else "class" if groups.is_by_class else "domain"
        return cls(selector.threshold.value, per, values, selector.class_names or ())

    def decided(self, row: Row, columns: Mapping[str, Any], /) -> Row:
        """The row with its verdict, where it has a confidence and none; a label that tells neither is a later one."""
        if row.accepted is not None:
            return row
        if row.confidence is not None:
            return replace(row, accepted=row.confidence > self._threshold(row))
        if row.error is not None and "accepted" not in columns and _is_scored(columns):
            raise ValueError(
                "`confidence` or `accepted` must tell whether a sample with a label was accepted, got neither. Run "
                "`abstain select` first; in a file of later labels leave columns of confidence out."
            )
        return row

    def _threshold(self, row: Row) -> float:
        if self.per is None:
            return self.value
        if self.per == "class" and row.prediction is not None:
            name = row.prediction
            name = str(self.class_names.index(name)) if name in self.class_names else name
            if name in self.values:
                return self.values[name]
        if self.per == "domain" and row.domain is not None:
            return self.values.get(row.domain, float("inf"))
        column, got = ("prediction", row.prediction) if self.per == "class" else ("domain", row.domain)
        raise ValueError(
            f"`{column}` must name a {self.per} where `accepted` is not given, since each has a threshold, got "
            f"{'none' if got is None else repr(got)}. Run `abstain select` first."
        )


def _is_scored(columns: Mapping[str, Any]) -> bool:
    return any(name.startswith(SCORED) for name in spelled(columns).values())
