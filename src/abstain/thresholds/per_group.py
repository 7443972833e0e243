"""A threshold for each group, good for any mix of the groups."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from abstain._errors import InvalidInputError
from abstain._text import counted
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import ELSEWHERE, NOTHING_ACHIEVABLE, Achievable, NoSafeThresholdError
from abstain.thresholds.risk import reject_all
from abstain.thresholds.sample import as_samples, check_chance, check_names, check_target, cluster_numbers
from abstain.thresholds.target_risk import target_risk
from abstain.thresholds.threshold import Threshold

FIXED_GROUPS = "the groups were fixed before the sample, since they share clusters"


def group_thresholds(
    confidence: ArrayLike,
    losses: ArrayLike,
    groups: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    jointly: bool = True,
    ids: ArrayLike | None = None,
    largest: int | None = None,
    seed: int = 0,
) -> dict[str, Threshold]:
    """A threshold for each group, each by `target_risk`; a group without a safe one is always rejected.

    The risk of a mix is a mean of the risks of its parts, so it is at most ``risk`` in every mix of the groups.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    groups : (n,) array
        The name of each row's group. With ``ids`` the groups must be fixed before the sample.
    risk : float
        The largest selective risk allowed in each group, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    jointly : bool
        Whether all guarantees hold together with probability 1 − δ (each is tested at δ over the number of groups),
        or each by itself.
    ids : (n,) array, optional
        Rows with the same id are one cluster.
    largest : int, optional
        The most rows of a cluster in a group; by default those of the largest here.
    seed : int
        Of the draws of `target_risk`.

    Returns
    -------
    dict of str to Threshold
        By name of the group.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no group has a safe threshold; it names the lowest risk at which one has.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> group_thresholds(1 - u, errors, np.where(u < 0.5, "low", "high"), risk=0.05)["low"].accepted
    1007
    """
    (c, e), names = as_samples(confidence, losses), check_names("groups", groups)
    if names.shape != c.shape:
        raise InvalidInputError(f"`groups` must name a group for each sample, got {names.shape} for {c.shape}.")
    check_target("risk", risk)
    check_chance("delta", delta)
    clusters = None if ids is None else cluster_numbers(ids, len(c))
    distinct = np.unique(names[c > -np.inf])  # a group without a usable row is never accepted: nothing to certify
    if not len(distinct):
        raise NoSafeThresholdError("No row is finite, so that no group has a safe threshold. Fix the inputs.")
    inside = {str(name): names == name for name in distinct}

    def certify(name: str, level: float) -> Threshold:
        rows = inside[name]
        known = None if clusters is None else clusters[rows]
        return target_risk(c[rows], e[rows], risk=risk, delta=level, ids=known, largest=largest, seed=seed)

    sizes = {name: int(np.count_nonzero(rows)) for name, rows in inside.items()}
    share_clusters = clusters is not None and max(largest or 1, int(np.bincount(clusters).max())) > 1
    return certified_groups(sizes, certify, risk=risk, delta=delta, jointly=jointly, share_clusters=share_clusters)


def certified_groups(
    sizes: dict[str, int],
    certify: Callable[[str, float], Threshold],
    /,
    *,
    risk: float,
    delta: float,
    jointly: bool,
    share_clusters: bool = False,
) -> dict[str, Threshold]:
    """The thresholds of groups of these sizes, by what certifies one of a group at a level; some must have one."""
    together = len(sizes) if jointly else 1
    level = delta / together
    thresholds: dict[str, Threshold] = {}
    refused: dict[str, NoSafeThresholdError] = {}
    for name, size in sizes.items():
        try:
            threshold = certify(name, level)
        except NoSafeThresholdError as error:
            threshold = reject_all(size, risk=risk, delta=level)
            refused[name] = error
        thresholds[name] = in_group(threshold, name, delta, together, share_clusters)
    if len(refused) == len(sizes):
        raise _no_group(sizes, refused, certify, risk=risk, delta=delta, level=level)
    return thresholds


def _no_group(
    sizes: dict[str, int],
    refused: dict[str, NoSafeThresholdError],
    certify: Callable[[str, float], Threshold],
    /,
    *,
    risk: float,
    delta: float,
    level: float,
) -> NoSafeThresholdError:
    """The error that names the lowest risk at which a group has a threshold, and a group that has one by itself."""

    def search() -> tuple[Achievable, ...]:
        """The lowest risk of each group, the lowest of all first."""
        firsts = ((name, next(iter(error.achievable), None)) for name, error in refused.items())
        rows = [replace(row, group=name) for name, row in firsts if row is not None and row.delta == level]
        return tuple(sorted(rows, key=lambda row: row.risk))

    def is_certified_alone(name: str) -> bool:
        with suppress(NoSafeThresholdError):
            certify(name, delta)
            return True
        return False

    def describe(rows: tuple[Achievable, ...]) -> str:
        words = f"{NOTHING_ACHIEVABLE} in any of them"
        if rows:
            first = rows[0]
            words = f"Achievable: risk {first.risk:.2g} in {first.group!r}, which has {sizes[str(first.group)]:,} rows"
        alone = next(filter(is_certified_alone, sizes), None) if level < delta else None
        return f"{words}." if alone is None else f"{words}; with `jointly=False` (--each) this risk in {alone!r}."

    shared = f", each of the {len(sizes)} tested at delta {level:.2g}" if level < delta else ""
    plan = f"`abstain plan --risk {risk:.4g} --delta {level:.2g}`"
    return NoSafeThresholdError(
        f"No group has a safe threshold for risk <= {risk:.4g} with probability {1 - delta:.4g}{shared}.",
        advice=f"Label more rows of each group ({plan}), or {ELSEWHERE}.",
        delta=level,
        search=search,
        describe=describe,
    )


def of_all_groups(
    thresholds: dict[str, Threshold], /, *, risk: float, delta: float, jointly: bool, largest: int | None = None
) -> Threshold:
    """The counts of all groups, and the guarantee about any mix of those that have a threshold; its value is +inf.

    The ``largest`` cluster is that of all groups together, None where rows are independent.
    """
    n = sum(threshold.n for threshold in thresholds.values())
    words = f"rows of any mix of the {len(thresholds)} groups, drawn as these {n} were"
    if largest == 1:
        words += ", of which no two share an id"
    elif largest is not None:
        words += f", in clusters of at most {counted(largest, 'row')}"
    guarantee = Guarantee(
        quantity=Quantity.RISK, target=risk, probability=1 - delta, distribution=words, largest=largest
    )
    guarantee = guarantee.noting("it is so in each group that has a threshold")
    if not jointly:
        guarantee = guarantee.noting(f"for each of the {len(thresholds)} by itself, not for all of them together")
    elif largest is not None and largest > 1 and len(thresholds) > 1:
        guarantee = guarantee.noting(f"if {FIXED_GROUPS}")
    return Threshold(
        value=np.inf,
        method="group_thresholds",
        n=n,
        accepted=sum(threshold.accepted for threshold in thresholds.values()),
        errors=sum(threshold.errors or 0.0 for threshold in thresholds.values()),
        guarantee=guarantee,
    )


def in_group(threshold: Threshold, name: str, delta: float, together: int, share_clusters: bool, /) -> Threshold:
    """The guarantee with the group it is about, and the probability with which all of them hold."""
    guarantee = replace(threshold.guarantee, distribution=f"{threshold.guarantee.distribution} in the group {name!r}")
    if together > 1:
        words = f"it holds for all {together} groups together with probability {1 - delta:.4g}"
        guarantee = guarantee.noting(f"{words}, if {FIXED_GROUPS}" if share_clusters else words)
    return replace(threshold, guarantee=guarantee)
