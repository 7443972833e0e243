"""The rule of a selector, for rows that come without a verdict."""

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from abstain._errors import InvalidInputError
from abstain.monitor.rows import StreamRows, at, distinct
from abstain.monitor.text_cells import UNKNOWN
from abstain.outputs.columns import text
from abstain.selector import Recertification, Selector


@final
@dataclass(frozen=True)
class Rule:
    """Accept iff the confidence is above the threshold, or that of the row's group; NaN never is."""

    value: float
    per: str | None
    """class, or the column whose values are groups, where each has a threshold."""
    values: dict[str, float]
    """The threshold of each group, by name; a group that is not here is rejected."""
    class_names: tuple[str, ...]
    """Names that a prediction may have instead of its number."""
    recertifiable: bool = True
    """Whether `abstain recertify` can certify its thresholds again."""

    @classmethod
    def of(cls, selector: Selector, /) -> Self:
        """That of a selector."""
        groups = selector.groups
        values = (
            {}
            if groups is None
            else {text(name) or name: threshold.value for name, threshold in groups.thresholds.items()}
        )
        if groups is not None and groups.is_by_class:
            values = {str(k): float(value) for k, value in enumerate(np.atleast_1d(selector.class_values))}
        per = None if groups is None else "class" if groups.is_by_class else groups.per
        class_names = tuple(text(name) or name for name in selector.class_names or ())
        return cls(selector.threshold.value, per, values, class_names, _is_recertifiable(selector))

    @property
    def column(self) -> str | None:
        """The column whose values are groups, if it is not the prediction."""
        return None if self.per == "class" else self.per

    def monitored_per(self, per: str | None, /) -> str | None:
        """What the monitored groups are, if ``per`` is asked for; rows have one column for those and the selector's."""
        if self.column is None or per in (None, "class", self.per) or {per, self.per} == {"group", "domain"}:
            return per or self.per
        raise InvalidInputError(
            f"`--per` must be class, or {self.per} as in the selector, got {per}. Leave it out to monitor each "
            f"{self.per}."
        )

    def decided(self, rows: StreamRows, /) -> StreamRows:
        """The rows, with verdicts where they have a confidence and no verdict; an error carries the index of its row.

        A row with an error and neither is the label of an earlier decision, unless its table has confidences.
        """
        has_verdict = rows.accepted != UNKNOWN
        unclear = np.flatnonzero(~has_verdict & ~rows.has_confidence & (rows.error != UNKNOWN) & rows.scored)
        if unclear.size:
            at(int(unclear[0]), _refuse, None)
        undecided = np.flatnonzero(~has_verdict & rows.has_confidence)
        thresholds = np.full(len(undecided), self.value)
        if self.per is not None:
            names, number = distinct(rows.predictions if self.per == "class" else rows.domains)
            asked, first, which = np.unique(number[undecided], return_index=True, return_inverse=True)
            numbered = zip(undecided[first].tolist(), asked.tolist(), strict=True)
            thresholds = np.array([at(row, self._threshold, names[code]) for row, code in numbered])[which]
        accepted = rows.accepted.copy()
        accepted[undecided] = rows.confidence[undecided] > thresholds
        return replace(rows, accepted=accepted)

    def _threshold(self, name: str | None) -> float:
        """That of a class, by its number or name, or of a group."""
        if self.per == "class" and name is not None:
            number = str(self.class_names.index(name)) if name in self.class_names else name
            if number in self.values:
                return self.values[number]
        if self.per != "class" and name is not None:
            return self.values.get(name, float("inf"))
        column = "prediction" if self.per == "class" else self.per
        raise InvalidInputError(
            f"`{column}` must name a {self.per} if `accepted` is missing, since each has its own threshold, got "
            f"{'none' if name is None else repr(name)}. Run `abstain select` first."
        )


def _is_recertifiable(selector: Selector) -> bool:
    try:
        Recertification.of(selector)
    except ValueError:
        return False
    return True


def _refuse(_: None) -> None:
    raise InvalidInputError(
        "A labelled row must have `confidence` or `accepted`, got neither. Run "
        "`abstain select` first; a file of later labels has no column of confidences."
    )
