"""A selector with the thresholds that a recertification has certified."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from abstain._text import counted
from abstain.selector.calibration_data import CalibrationData, SliceCounts
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.seen_rows import seen_with
from abstain.selector.selector import Selector
from abstain.thresholds.per_group import of_all_groups
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold

if TYPE_CHECKING:
    from abstain.selector.recertification import Recertification


def renewed(old: Selector, new: "Recertification", /) -> Selector:
    """The old selector with what is certified, and the distribution of the rows that were offered for labels."""
    threshold, groups = new.threshold, None
    counts: tuple[SliceCounts, ...] = ()
    if old.groups is not None:
        groups = replace(old.groups, thresholds=old.groups.thresholds | new.thresholds)
        counts = tuple(_counts(new.offered, groups.thresholds))
        threshold = _of_all(groups, new, counts)
    assert threshold is not None
    if old.threshold.guarantee.quantity.event == "loss":
        threshold, groups = threshold.of_losses(), None if groups is None else groups.of_losses()
    offered = np.concatenate([np.array(values) for values in new.offered.values()])
    by_class = groups is not None and groups.is_by_class
    return replace(
        old,
        threshold=threshold,
        groups=groups,
        distribution=ScoreDistribution.of(offered),
        calibration=CalibrationData(
            digest=sha256(new.to_json().encode()).hexdigest(),
            rows=threshold.n,
            samples=threshold.n,
            unusable=int(np.count_nonzero(offered == -np.inf)),
            held_out=0,
            largest=1,
            classes=counts if by_class else (),
            domains=() if by_class else counts,
        ),
        seen=seen_with(old.seen, new.ids),
        class_sets=None,  # they were for the rows that the old threshold rejects
    )


def _counts(offered: dict[str, tuple[float, ...]], thresholds: dict[str, Threshold]) -> Iterator[SliceCounts]:
    """The rows offered of each group, and how many of them its threshold accepts."""
    for name, values in offered.items():
        if name in thresholds:
            yield SliceCounts(name, len(values), sum(value > thresholds[name].value for value in values), 0)


def _of_all(groups: GroupThresholds, new: "Recertification", counts: tuple[SliceCounts, ...]) -> Threshold:
    """What holds in all groups together, the certified ones and those that keep their thresholds."""
    thresholds = groups.thresholds
    level = 1 - new.delta / len(thresholds)
    jointly = all((each.guarantee.probability or 0.0) >= level - 1e-12 for each in thresholds.values())
    whole = of_all_groups(thresholds, risk=new.risk, delta=new.delta, jointly=jointly)
    labelled = f"{len(new.ids)} rows of {counted(len(new.searches), 'group')} were labelled"
    guarantee = whole.guarantee.noting(f"{labelled}, and it holds whenever labelling stopped")
    if len(new.searches) < len(thresholds):
        guarantee = guarantee.noting("the other groups keep their thresholds, for rows like those of their calibration")
    return replace(
        whole,
        method="recertify",
        n=sum(each.n for each in counts),
        accepted=sum(each.accepted for each in counts),
        errors=None,
        guarantee=replace(guarantee, counting="clusters" if new.clustered else "rows"),
    )
