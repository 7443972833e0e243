"""A threshold for each group, good for any mix of the groups."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from abstain.metrics.checks import check_samples
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.reject_all import reject_all
from abstain.thresholds.sample import check_names, check_target, cluster_numbers
from abstain.thresholds.target_risk import target_risk
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


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
    seed: int = 0,
) -> dict[str, Threshold]:
    """A threshold by name of the group, each by `target_risk`; a group without a safe one is always rejected.

    ``jointly``: all promises together hold with probability 1 − δ, so each is tested at δ over the number of groups;
    otherwise each holds with that probability. As the risk of a mix is a mean of the risks of its parts, it is at most
    ``risk`` in every mix of the groups. Where no group has a safe threshold, the error says why for the first.
    """
    c, e, names = np.asarray(confidence), np.asarray(losses), check_names("groups", groups)
    if not c.shape == e.shape == names.shape:
        raise ValueError(f"`groups` must name a group for each sample, got {names.shape} for {c.shape}.")
    check_samples(c, e)
    check_target("risk", risk)
    check_target("delta", delta)
    clusters = None if ids is None else cluster_numbers(ids, len(c))
    distinct = np.unique(names[c > -np.inf])  # a group without a usable row is never accepted: nothing to certify
    if not len(distinct):
        raise NoSafeThresholdError("No row is usable, so that no group has a safe threshold. Mend the inputs.")
    inside = {str(name): names == name for name in distinct}

    def certify(name: str, level: float) -> Threshold:
        rows = inside[name]
        known = None if clusters is None else clusters[rows]
        return target_risk(c[rows], e[rows], risk=risk, delta=level, ids=known, seed=seed)

    sizes = {name: int(np.count_nonzero(rows)) for name, rows in inside.items()}
    return certified_groups(sizes, certify, risk=risk, delta=delta, jointly=jointly)


def certified_groups(
    sizes: dict[str, int], certify: Callable[[str, float], Threshold], /, *, risk: float, delta: float, jointly: bool
) -> dict[str, Threshold]:
    """The thresholds of groups of these sizes, by what certifies one of a group at a level; some must have one."""
    level = delta / len(sizes) if jointly else delta
    found: dict[str, Threshold] = {}
    refused: list[tuple[str, NoSafeThresholdError]] = []
    for name, size in sizes.items():
        try:
            threshold = certify(name, level)
        except NoSafeThresholdError as error:
            threshold = reject_all(size, risk=risk, delta=level)
            refused.append((name, error))
        found[name] = _in_group(threshold, name, delta, len(sizes) if jointly else 1)
    if len(refused) == len(sizes):
        name, why = refused[0]
        shared = f" δ is shared by {len(sizes)} groups; `jointly=False` (--each) lifts that." if jointly else ""
        raise NoSafeThresholdError(f"No group has a safe threshold.{shared} {name}: {why}")
    return found


def of_all_groups(found: dict[str, Threshold], /, *, risk: float, delta: float, jointly: bool) -> Threshold:
    """The counts of all groups, and the promise about any mix of those that have a threshold; its value is +inf."""
    n = sum(threshold.n for threshold in found.values())
    words = f"rows of any mix of the {len(found)} groups, drawn as these {n} were"
    promise = Promise(quantity=RISK, target=risk, probability=1 - delta, distribution=words)
    promise = promise.noting("it is so in each group that has a threshold")
    if not jointly:
        promise = promise.noting(f"for each of the {len(found)} by itself, not for all of them together")
    return Threshold(
        value=np.inf,
        method="group_thresholds",
        n=n,
        accepted=sum(threshold.accepted for threshold in found.values()),
        errors=sum(threshold.errors or 0.0 for threshold in found.values()),
        promise=promise,
    )


def _in_group(threshold: Threshold, name: str, delta: float, together: int) -> Threshold:
    """The promise with the group it is about, and the probability with which all of them hold."""
    promise = replace(threshold.promise, distribution=f"{threshold.promise.distribution} in the group {name!r}")
    if together > 1:
        promise = promise.noting(f"it holds for all {together} groups together with probability {1 - delta:.4g}")
    return replace(threshold, promise=promise)
