"""Who is rejected: coverage, risk and misses of groups, with intervals that hold for all groups together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_fraction
from abstain._errors import InvalidInputError
from abstain.metrics.slices import RATES, Rate, Slice, slices

WORDS: dict[Rate, str] = {
    "coverage": "share accepted",
    "risk": "share of errors, or mean loss, among accepted rows",
    "missed": "share accepted with a wrong answer",
}
MISSED = "share accepted with another answer among rows of the true class "
SEPARATOR = " × "


@final
@dataclass(frozen=True)
class Gap:
    """The largest difference between two groups.

    Attributes
    ----------
    rate : str
        Coverage, risk or missed; else the true class whose misses are meant.
    high, low : str
        The groups of the highest and of the lowest rate.
    difference : float
        Of these two rates.
    at_least : float
        Some two groups differ by so much, with the level of all intervals together; 0 where they may be equal.
    """

    rate: str
    high: str
    low: str
    difference: float
    at_least: float

    @property
    def words(self) -> str:
        """A sentence."""
        beyond = f"at least {self.at_least:.1%} beyond chance" if self.at_least > 0 else "within chance"
        between = f"{self.difference:.1%} ({self.high} and {self.low})"
        words = WORDS[self.rate] if self.rate in RATES else MISSED + self.rate
        return f"Largest difference in the {words}: {between}, {beyond}."


@final
@dataclass(frozen=True)
class GroupComparison:
    """The rates of all groups, whose intervals hold together with probability ``level``.

    Attributes
    ----------
    groups : tuple of Slice
        In the order of their names.
    level : float
        Of all intervals together.
    """

    groups: tuple[Slice, ...]
    level: float

    def gap(self, rate: str, /) -> Gap | None:
        """The largest difference of a rate, or of the misses of a true class; None where fewer than two groups have it.

        All intervals hold together, so any two groups may be compared: they differ where their intervals lie apart.
        """
        rates = {group.name: each for group in self.groups if (each := group.rate(rate)) is not None}
        if len(rates) < 2:
            return None
        high, low = (pick(rates, key=lambda name: (rates[name].value, name)) for pick in (max, min))
        apart = max(each.low for each in rates.values()) - min(each.high for each in rates.values())
        return Gap(rate, high, low, rates[high].value - rates[low].value, max(0.0, apart))

    def gaps(self) -> list[Gap]:
        """That of each rate that has one."""
        classes = dict.fromkeys(name for group in self.groups for name in group.misses)
        return [gap for rate in (*RATES, *classes) if (gap := self.gap(rate)) is not None]


def compare_groups(
    names: ArrayLike,
    accepted: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    ids: ArrayLike | None = None,
    level: float = 0.95,
    classes: Mapping[str, ArrayLike] | None = None,
) -> GroupComparison:
    """Coverage, risk and accepted errors of each group, with intervals that hold for all of them together.

    Each of the r intervals of G groups, three and one for each of ``classes``, has the level 1 − (1 − level)/(rG), so
    that all hold with probability ``level`` (Bonferroni), as far as those of `share` hold. So groups may be compared
    after looking at all.

    Parameters
    ----------
    names : (n,) array
        The group of each row; `intersection` makes those of several columns.
    accepted : (n,) array of bool
        Which rows are accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    ids : (n,) array, optional
        Rows with the same id are one cluster, counted once in standard errors.
    level : float
        Of all intervals together.
    classes : dict of str to (n,) array of bool, optional
        The rows of each true class whose misses are compared: those accepted with another answer.

    Returns
    -------
    GroupComparison
        The groups in the order of their names.

    Examples
    --------
    >>> groups = np.repeat(["north", "south"], 500)
    >>> accepted = np.arange(1000) % 500 < np.repeat([450, 300], 500)
    >>> print(compare_groups(groups, accepted, np.zeros(1000)).gap("coverage").words)
    Largest difference in the share accepted: 30.0% (north and south), at least 20.2% beyond chance.
    """
    check_fraction("level", level)
    intervals = (len(RATES) + len(classes or {})) * max(1, len(np.unique(np.asarray(names))))
    alone = 1 - (1 - level) / intervals
    return GroupComparison(tuple(slices(names, accepted, losses, ids=ids, level=alone, classes=classes)), level)


def intersection(columns: Mapping[str, ArrayLike], /) -> NDArray[np.str_]:
    """(n,) the name of each row's group where several columns divide the rows.

    Parameters
    ----------
    columns : dict of str to (n,) array
        The columns by name.

    Returns
    -------
    (n,) array of str
        The values of a row, joined.

    Examples
    --------
    >>> intersection({"sex": ["f", "m"], "region": ["north", "south"]}).tolist()
    ['f × north', 'm × south']
    """
    if not columns:
        raise InvalidInputError("`columns` must have at least one column, got none.")
    names = [np.asarray(values).astype(str) for values in columns.values()]
    if len({each.shape for each in names}) > 1:
        raise InvalidInputError("`columns` must be of one length, got several.")
    return np.array([SEPARATOR.join(row) for row in zip(*names, strict=True)])
