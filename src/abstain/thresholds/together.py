"""Several targets together: a risk and a coverage, or a risk overall and one in each group."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.draws import generator
from abstain.thresholds.binomial import p_value
from abstain.thresholds.coverage import rank_for_coverage
from abstain.thresholds.fallback import lowest_certified, proposed
from abstain.thresholds.promise import COVERAGE, RISK, Promise
from abstain.thresholds.risk import certified, lowest_in_reach, reach_words
from abstain.thresholds.sample import Sample, check_names, check_target, one_per_cluster
from abstain.thresholds.step_down import largest_safe_rank
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold
from abstain.thresholds.trade_off import trade_off

Floats = NDArray[np.float64]
COVERAGE_SHARE = 0.25  # of δ
PILOT = 0.2


def risk_and_coverage(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    coverage: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """A threshold with risk at most ``risk`` *and* coverage at least ``coverage``, both with probability 1 − δ.

    A quarter of δ fixes the rank from which on the coverage is kept; `step_down` with the rest of δ begins there, which
    certifies more than it does from lower ranks. Where both cannot be kept, the error names pairs that can.
    """
    for name, value in (("risk", risk), ("coverage", coverage), ("delta", delta)):
        check_target(name, value)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    part = COVERAGE_SHARE * delta
    first = rank_for_coverage(len(sample), coverage, part)

    def rank_for(trial: float) -> int:
        return largest_safe_rank(sample, trial, delta - part, first=first) if first <= len(sample) else 0

    rank = rank_for(risk)
    if not rank:

        @cache
        def reach() -> float | None:
            return lowest_in_reach(lambda trial: rank_for(trial) > 0, risk)

        def message() -> str:
            pairs = trade_off(confidence, losses, delta=delta, ids=ids, seed=seed)
            listed = ", ".join(f"{t.promise.target:g} at {t.accepted / t.n:.0%}" for t in pairs) or "none"
            instead = reach_words(reach())
            return (
                f"Risk <= {risk:.4g} and coverage >= {coverage:.4g} cannot be certified together on n={len(sample)} "
                f"calibration samples. At this coverage {instead}; without it these risks are, at coverages: {listed}."
            )

        raise NoSafeThresholdError(message, in_reach=reach)
    found = certified("risk_and_coverage", sample, rank, risk=risk, delta=delta)
    covers = Promise(
        quantity=COVERAGE,
        target=coverage,
        relation="at least",
        probability=1 - delta,
        distribution=sample.distribution,
        counting=sample.counting,
    )
    return replace(found, further=(covers,))


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
    """One threshold with at most ``risk`` overall and ``group_risk`` in every group, with probability 1 − δ.

    A random fifth of the rows proposes thresholds; on the others a threshold passes only if it does so overall and in
    each group (an intersection–union test, which needs no correction), in a sequence with fallback. A group without an
    accepted row does not pass. The ranks of the sample itself cannot serve here: those of a group depend on the others.
    """
    for name, value in (("risk", risk), ("group_risk", group_risk), ("delta", delta)):
        check_target(name, value)
    whole = Sample.of(confidence, losses)
    c, e, names = np.asarray(confidence, np.float64), np.asarray(losses, np.float64), check_names("groups", groups)
    if names.shape != c.shape:
        raise ValueError(f"`groups` must name a group for each sample, got {names.shape} for {c.shape}.")
    rows = one_per_cluster(c, e, ids=ids, seed=seed)
    rows = rows[np.lexsort((names[rows], e[rows], c[rows]))]
    c, e, names = c[rows], e[rows], names[rows]
    in_pilot = generator("pilot of groups", seed, c, e).permutation(len(c)) < ceil(PILOT * len(c))
    parts = {name: (names == name) for name in np.unique(names[c > -np.inf])}  # others are never accepted
    limits = {None: risk} | dict.fromkeys(parts, group_risk)

    def worst(threshold: float, scale: float = 1.0) -> tuple[float, object]:
        """The largest p-value, and whose it is."""
        kept = ~in_pilot & (c > threshold)
        found = []
        for name, limit in limits.items():
            inside = kept if name is None else kept & parts[name]
            found.append((_p(e[inside], min(limit * scale, 0.999), whole.are_errors), name))
        return max(found, key=lambda pair: pair[0])

    sequence = proposed(c[in_pilot], np.ones(np.count_nonzero(in_pilot)), _safe_in_all(c, e, in_pilot, parts, limits))
    value = lowest_certified(sequence, lambda threshold, level: worst(threshold)[0] <= level, delta)
    if value == np.inf:
        best = min(sequence, key=lambda pair: worst(pair[0])[0])[0]
        blocking = worst(best)[1]
        whose = "the overall risk" if blocking is None else f"the risk in the group {str(blocking)!r}"
        of_groups = lowest_in_reach(
            lambda trial: (
                lowest_certified(sequence, lambda t, level: worst(t, trial / group_risk)[0] <= level, delta) < np.inf
            ),
            group_risk,
        )
        raise NoSafeThresholdError(
            f"No threshold certifies risk <= {risk:.4g} overall and <= {group_risk:.4g} in every group together on "
            f"n={len(c)} calibration samples: {whose} stands in the way. With both targets raised alike, in groups "
            f"{reach_words(of_groups)}."
        )
    certifying = ~in_pilot
    accepted = certifying & (c > value)
    like = whole if len(rows) == len(whole) else Sample.of(confidence, losses, ids=ids)
    overall, each = (
        Promise(
            quantity=quantity,
            target=limit,
            probability=1 - delta,
            distribution=like.distribution,
            counting=like.counting,
        )
        for quantity, limit in ((RISK, risk), (f"{RISK} of each of the groups {_named(parts)}", group_risk))
    )
    return Threshold(
        value=value,
        method="joint_risk",
        n=int(np.count_nonzero(certifying)),
        accepted=int(np.count_nonzero(accepted)),
        errors=float(e[accepted].sum()),
        promise=overall,
        further=(each,),
    )


def _named(groups: Iterable[object]) -> str:
    names = [str(name) for name in groups]
    return ", ".join(names if len(names) <= 12 else [*names[:10], f"… ({len(names)} in all)"])


def _p(losses: Floats, risk: float, are_errors: bool) -> float:
    return p_value(float(losses.sum()), len(losses), risk, are_errors=are_errors)


def _safe_in_all(
    c: Floats,
    e: Floats,
    in_pilot: NDArray[np.bool_],
    parts: dict[object, NDArray[np.bool_]],
    limits: dict[object, float],
) -> float | None:
    """The largest coverage at which every risk looks safe on the pilot."""
    order = np.argsort(-c[in_pilot], kind="stable")
    safe = np.ones(len(order), dtype=bool)
    for name, limit in limits.items():
        inside = np.ones(len(order)) if name is None else parts[name][in_pilot][order].astype(float)
        safe &= np.cumsum(inside * (e[in_pilot][order] - limit)) <= 0
    return float(np.flatnonzero(safe)[-1] + 1) / len(order) if safe.any() else None
