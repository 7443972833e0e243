"""`joint_risk`: one threshold that keeps a risk overall and one in each group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Floats
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain.metrics.groups import are_errors
from abstain.thresholds.binomial import p_value
from abstain.thresholds.fallback import certified_in_turn, proposed
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import ELSEWHERE, NoSafeThresholdError, lowest_achievable, two_digits_up
from abstain.thresholds.sample import as_samples, check_chance, check_names, check_target, ordered_rows, population_of
from abstain.thresholds.threshold import Threshold

Mask = NDArray[np.bool_]
PILOT = 0.2


def joint_risk(
    confidence: ArrayLike,
    losses: ArrayLike,
    groups: ArrayLike,
    /,
    *,
    risk: float,
    group_risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """One threshold with at most ``risk`` overall and ``group_risk`` in every group, together with probability 1 − δ.

    A random fifth of the rows proposes thresholds. On the others a threshold passes only if it does overall and in
    each group (an intersection–union test, which needs no correction). A group without an accepted row does not
    pass.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    groups : (n,) array
        The name of each row's group.
    risk : float
        The largest selective risk overall, between 0 and 1.
    group_risk : float
        The largest selective risk in each group, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of the fifth, and of one row from each cluster.

    Returns
    -------
    Threshold
        Its guarantee is about all rows, the one in ``further`` about the groups.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If both cannot be certified together; it names what stands in the way.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> groups = np.where(np.arange(2000) % 2, "even", "odd")
    >>> joint_risk(1 - u, errors, groups, risk=0.05, group_risk=0.08).further[0].target
    0.08
    """
    check_target("risk", risk)
    check_target("group_risk", group_risk)
    check_chance("delta", delta)
    rows = _Grouped.of(confidence, losses, groups, ids=ids, seed=seed)
    limits = rows.limits(risk, group_risk)
    value = rows.lowest(limits, delta)
    if value == inf:
        raise _nothing_certified(rows, risk, group_risk, delta)
    quantity = Quantity.RISK if rows.are_errors else Quantity.LOSS
    overall = Guarantee(quantity=quantity, target=risk, probability=1 - delta, **population_of(len(rows.losses), ids))
    quantity = Quantity.GROUP_RISK if rows.are_errors else Quantity.GROUP_LOSS
    each = replace(overall, quantity=quantity, target=group_risk, groups=tuple(str(name) for name in rows.parts))
    rest = ~rows.pilot
    return Threshold.counted(value, "joint_risk", rows.confidence[rest], rows.losses[rest], overall, each)


@dataclass(frozen=True)
class _Grouped:
    """Independent rows in an order that carries no information, of which a pilot proposes and the others certify."""

    confidence: Floats
    losses: Floats
    pilot: Mask
    parts: dict[object, Mask]
    """The rows of each group, by its name; not of those whose rows are never accepted."""
    are_errors: bool
    """Whether every loss is 0 or 1."""

    @classmethod
    def of(
        cls, confidence: ArrayLike, losses: ArrayLike, groups: ArrayLike, /, *, ids: ArrayLike | None, seed: int
    ) -> Self:
        (c, e), names = as_samples(confidence, losses), check_names("groups", groups)
        if names.shape != c.shape:
            raise InvalidInputError(f"`groups` must name a group for each sample, got {names.shape} for {c.shape}.")
        rows = ordered_rows(c, e, names, ids=ids, seed=seed)
        c, e, names = c[rows], e[rows], names[rows]
        pilot = generator("pilot of groups", seed, coarse(c), e).permutation(len(c)) < ceil(PILOT * len(c))
        parts = {name: (names == name) for name in np.unique(names[c > -inf])}
        return cls(c, e, pilot, parts, are_errors(e))

    def limits(self, risk: float, group_risk: float) -> dict[object, float]:
        """The limit of each group, and of all rows under None."""
        return {None: risk} | dict.fromkeys(self.parts, group_risk)

    def worst(self, threshold: float, limits: dict[object, float]) -> tuple[float, object]:
        """The largest p-value, and whose it is."""
        kept, p_values = ~self.pilot & (self.confidence > threshold), []
        for name, limit in limits.items():
            losses = self.losses[kept if name is None else kept & self.parts[name]]
            p_values.append((p_value(float(losses.sum()), len(losses), limit, are_errors=self.are_errors), name))
        return max(p_values, key=lambda pair: pair[0])

    def looks_safe(self, limits: dict[object, float]) -> float | None:
        """The largest coverage at which every risk looks safe on the pilot."""
        order = np.argsort(-self.confidence[self.pilot], kind="stable")
        safe = np.ones(len(order), dtype=bool)
        for name, limit in limits.items():
            inside = np.ones(len(order)) if name is None else self.parts[name][self.pilot][order].astype(float)
            safe &= np.cumsum(inside * (self.losses[self.pilot][order] - limit)) <= 0
        return float(np.flatnonzero(safe)[-1] + 1) / len(order) if safe.any() else None

    def sequence(self, limits: dict[object, float]) -> list[tuple[float, float]]:
        """The thresholds that the pilot proposes for these limits, and their shares of δ."""
        return proposed(self.confidence[self.pilot], np.ones(np.count_nonzero(self.pilot)), self.looks_safe(limits))

    def lowest(self, limits: dict[object, float], delta: float) -> float:
        """The lowest threshold of the sequence that is certified, +inf for none."""

        def passes(threshold: float, levels: tuple[float, ...]) -> bool:
            return self.worst(threshold, limits)[0] <= levels[0]

        return min(certified_in_turn(self.sequence(limits), passes, delta), default=inf)


def _nothing_certified(rows: _Grouped, risk: float, group_risk: float, delta: float) -> NoSafeThresholdError:
    """Which risk stands in the way, and which would be achievable."""
    limits = rows.limits(risk, group_risk)
    _, blocking = min(
        (rows.worst(threshold, limits) for threshold, _ in rows.sequence(limits)), key=lambda pair: pair[0]
    )
    whose = "the overall risk" if blocking is None else f"the risk in the group {str(blocking)!r}"

    def overall(trial: float) -> float:
        return min(two_digits_up(risk * trial / group_risk), 0.999)

    def is_certified(trial: float) -> bool:
        return rows.lowest(rows.limits(overall(trial), trial), delta) < inf

    def describe(_: object) -> str:
        lowest = lowest_achievable(is_certified, group_risk)
        if lowest is None:
            return "No risk below 1 is achievable with both targets raised by the same factor."
        return f"Achievable together: risk {overall(lowest):.3g} overall and {lowest:.2g} in every group."

    return NoSafeThresholdError(
        f"No threshold certifies risk <= {risk:.4g} overall and <= {group_risk:.4g} in every group together on "
        f"n={len(rows.losses):,} calibration rows: {whose} stands in the way.",
        advice=f"Label more rows, or {ELSEWHERE}.",
        search=tuple,
        describe=describe,
    )
