"""`GroupRecertification`: new thresholds after an alarm, one for each group, as soon as labels certify them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain._io.records import from_json, to_json
from abstain.metrics.checks import rejected_last
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.calibration_data import SliceCounts
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.label_search import check_asked, check_can_ask, check_renewable, columns, renewed
from abstain.selector.recertify import Recertification, digest_of
from abstain.selector.selector import Selector
from abstain.thresholds.per_group import in_group, of_all_groups
from abstain.thresholds.risk import reject_all
from abstain.thresholds.sample import one_per_cluster
from abstain.thresholds.threshold import Threshold


@final
@dataclass(frozen=True, kw_only=True)
class GroupRecertification:
    """A `Recertification` for each group that has a threshold, or for some of them, each at δ over the groups' number.

    So with probability 1 − δ no group ever gets a threshold whose risk is above the target, whichever groups the labels
    are drawn from and whenever one stops. Of these groups, those without a certified threshold are rejected by the new
    selector; other groups keep their thresholds, with the guarantee that they had.

    Parameters
    ----------
    per : str
        What the groups are: ``class``, or the column that names them.
    delta : float
        Probability that any threshold is unsafe.
    groups : dict of str to Recertification
        By name of the group.
    offered : dict of str to tuple of float
        Confidences of all rows that the last ones asked for were drawn from, by group.
    """

    per: str
    delta: float
    groups: dict[str, Recertification]
    offered: dict[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        if not self.groups:
            raise InvalidInputError("`selector` must have a group with a threshold to certify again, got none.")

    @classmethod
    def of(
        cls,
        selector: Selector,
        /,
        *,
        risk: float | None = None,
        delta: float | None = None,
        only: Collection[str] = (),
    ) -> Self:
        """No labels yet, for all groups that have a threshold or ``only`` some of them.

        The target and the floors are those of the selector unless given; a target of its own needs all groups.
        """
        if selector.groups is None:
            raise InvalidInputError("`selector` must have a threshold for each group, got one for all rows.")
        floors = {name: each.value for name, each in selector.groups.thresholds.items() if each.value < np.inf}
        if unknown := [name for name in only if name not in floors]:
            raise InvalidInputError(
                f"`only` must name groups that have a threshold, {', '.join(list(floors)[:5])}, got {unknown[0]!r}."
            )
        whole = Recertification.of(replace(selector, groups=None), risk=risk, delta=delta, floor=0.0)
        same = Recertification.of(replace(selector, groups=None), floor=0.0) if only else whole
        if (whole.risk, whole.delta) != (same.risk, same.delta):
            raise InvalidInputError(
                "`only` must come without another risk and delta, since the other groups keep theirs, got both."
            )
        new = replace(whole, delta=whole.delta / len(selector.groups.thresholds), of_selector=_digest(selector))
        groups = {name: replace(new, floor=floor) for name, floor in floors.items() if not only or name in only}
        return cls(per=selector.groups.per, delta=whole.delta, groups=groups, offered={})

    @property
    def of_selector(self) -> str:
        """A digest of the selector that is to be certified again."""
        return next(iter(self.groups.values())).of_selector

    @property
    def risk(self) -> float:
        """The risk to guarantee in each group."""
        return next(iter(self.groups.values())).risk

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the rows labelled so far."""
        return tuple(name for group in self.groups.values() for name in group.ids)

    @property
    def pending(self) -> tuple[str, ...]:
        """The rows that wait for a label."""
        return tuple(name for group in self.groups.values() for name in group.pending)

    @property
    def pending_confidence(self) -> tuple[float, ...]:
        """Their confidences."""
        return tuple(value for group in self.groups.values() for value in group.pending_confidence)

    @property
    def pending_rows(self) -> tuple[int, ...]:
        """Their indices among the rows that were given."""
        return tuple(row for group in self.groups.values() for row in group.pending_rows)

    def ask(self, confidence: ArrayLike, ids: ArrayLike, groups: ArrayLike, /, *, labels: int, seed: int = 0) -> Self:
        """Draw ``labels`` rows above the floors of their groups, evenly from groups that are not certified yet.

        Once all groups are certified, or have no rows left, the others are drawn from too.
        """
        check_can_ask(self.pending, labels)
        c, (names, group) = columns(confidence, ids=ids, groups=groups)
        given = one_per_cluster(c, np.zeros(len(c)), ids=names, seed=seed)
        rows = {name: given[group[given] == name] for name in self.groups}
        left = {name: self._unasked(name, c[each], names[each]) for name, each in rows.items()}
        if not any(left.values()):
            raise InvalidInputError(
                f"`confidence` must have rows above the thresholds of their groups that have no label yet, got none "
                f"among {len(c)}. Bring decisions on new rows."
            )
        drawn = _allotted(left, labels, first=[name for name in left if self.groups[name].certified is None])
        clustered, asked = len(given) < len(c), dict(self.groups)
        for name, count in drawn.items():
            at = rows[name]
            state = self.groups[name].ask(c[at], names[at], labels=count, seed=seed)
            known = tuple(at[list(state.pending_rows)].tolist())
            asked[name] = replace(state, pending_rows=known, clustered=state.clustered or clustered)
        return replace(self, groups=asked, offered=_by_group(c[given], group[given]))

    def _unasked(self, name: str, confidence: NDArray[np.float64], ids: NDArray[Any]) -> int:
        group = self.groups[name]
        return int(np.count_nonzero((confidence > group.floor) & ~np.isin(ids, group.ids)))

    def answer(self, ids: ArrayLike, errors: ArrayLike, /) -> Self:
        """Take the errors (0 or 1) of all pending rows, and look which thresholds are certified now."""
        check_asked(self.pending)
        answered = {name: group.answer(ids, errors) if group.pending else group for name, group in self.groups.items()}
        return replace(self, groups=answered)

    def take(self, decisions: AuditedDecisions, groups: ArrayLike, /) -> Self:
        """Take the labels of an audit, in a random order, and look in each group."""
        names, taken = np.asarray(groups).astype(str), dict(self.groups)
        for name, group in self.groups.items():
            part = decisions.select(names == name)
            fresh = part.audited & (part.confidence > group.floor) & ~np.isin(part.ids.astype(str), group.ids)
            taken[name] = group.take(part) if fresh.any() else group
        return replace(self, groups=taken, offered=_by_group(decisions.confidence, names))

    @property
    def thresholds(self) -> dict[str, Threshold]:
        """The threshold of each group, +inf where none is certified."""
        certified = {name: group.threshold for name, group in self.groups.items()}
        clustered = any(group.clustered for group in self.groups.values())
        return {
            name: in_group(
                reject_all(max(len(self.groups[name].offered), 1), risk=self.risk, delta=self.groups[name].delta)
                if threshold is None
                else threshold,
                name,
                self.delta,
                len(certified),
                clustered,
            )
            for name, threshold in certified.items()
        }

    @property
    def certified(self) -> tuple[str, ...]:
        """The groups that have a threshold."""
        return tuple(name for name, group in self.groups.items() if group.certified is not None)

    def selector(self, old: Selector, /) -> Selector:
        """The old selector with the new thresholds; groups without one are rejected; an error if none has one."""
        check_renewable(self.of_selector, _digest(old), len(self.ids), is_certified=bool(self.certified))
        assert old.groups is not None
        thresholds = old.groups.thresholds | self.thresholds
        clustered = any(group.clustered for group in self.groups.values())
        level = 1 - self.delta / len(thresholds)
        jointly = all((each.guarantee.probability or 0.0) >= level - 1e-12 for each in thresholds.values())
        whole = of_all_groups(thresholds, risk=self.risk, delta=self.delta, jointly=jointly)
        labelled = (
            f"{len(self.ids)} rows of {len(self.groups)} groups were labelled, and it holds whenever labelling stopped"
        )
        guarantee = replace(whole.guarantee.noting(labelled), counting="clusters" if clustered else "rows")
        if len(self.groups) < len(thresholds):
            guarantee = guarantee.noting(
                "the other groups keep their thresholds, for rows like those of their calibration"
            )
        counts = _counts(self.offered, thresholds)
        n, accepted = sum(each.n for each in counts), sum(each.accepted for each in counts)
        return renewed(
            old,
            self.to_json(),
            self.ids,
            np.concatenate(list(self.offered.values())),
            threshold=replace(whole, method="recertify", n=n, accepted=accepted, errors=None, guarantee=guarantee),
            groups=GroupThresholds(self.per, thresholds),
            counts=counts,
        )

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The state that `to_json` wrote."""
        return from_json(text, cls)


def recertification_of(
    selector: Selector, /, *, risk: float | None = None, delta: float | None = None, only: Collection[str] = ()
) -> Recertification | GroupRecertification:
    """The search for a new threshold of a selector, or for those of its groups or ``only`` some of them."""
    if selector.groups is None and not only:
        return Recertification.of(selector, risk=risk, delta=delta)
    return GroupRecertification.of(selector, risk=risk, delta=delta, only=only)


def _by_group(confidence: NDArray[np.float64], groups: NDArray[Any]) -> dict[str, tuple[float, ...]]:
    values = rejected_last(confidence)
    return {str(name): tuple(values[groups == name].tolist()) for name in np.unique(groups)}


def _counts(offered: dict[str, tuple[float, ...]], thresholds: dict[str, Threshold]) -> tuple[SliceCounts, ...]:
    """The rows offered of each group, and how many of them its threshold accepts."""
    return tuple(
        SliceCounts(name, len(values), sum(value > thresholds[name].value for value in values), 0)
        for name, values in offered.items()
        if name in thresholds
    )


def _digest(selector: Selector) -> str:
    """Of what the thresholds on its score mean."""
    values = {} if selector.groups is None else {k: t.value for k, t in sorted(selector.groups.thresholds.items())}
    return sha256(f"{digest_of(selector)} {values!r}".encode()).hexdigest()[:16]


def _allotted(left: dict[str, int], labels: int, *, first: list[str]) -> dict[str, int]:
    """How many labels each group gets: as even as the rows left allow, the ``first`` groups before the others.

    >>> _allotted({"a": 5, "b": 100, "c": 100}, 45, first=["a", "b"])
    {'a': 5, 'b': 40}
    """
    drawn: dict[str, int] = {}
    for names in (first, [name for name in left if name not in first]):
        waiting = sorted((name for name in names if left[name]), key=lambda name: left[name])
        for number, name in enumerate(waiting):
            count = min(left[name], -(-labels // (len(waiting) - number)))
            if count:
                drawn[name] = count
            labels -= count
    return drawn
