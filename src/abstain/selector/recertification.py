"""`Recertification`: new thresholds after an alarm, as soon as the labels that come in certify them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_at_least, check_number
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._io.records import from_json, to_json
from abstain._text import listed
from abstain.metrics.checks import rejected_last
from abstain.metrics.groups import are_errors
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.renewed_selector import renewed
from abstain.selector.selector import Selector
from abstain.selector.threshold_search import ThresholdSearch
from abstain.thresholds.per_group import in_group
from abstain.thresholds.risk import reject_all
from abstain.thresholds.sample import check_names, one_per_cluster, range_words
from abstain.thresholds.threshold import Threshold

ALL = "all rows"  # the name of the only search where the selector has one threshold


@final
@dataclass(frozen=True, kw_only=True)
class Recertification:
    """The search for thresholds at or above the old ones, with labels for rows that the old selector accepts.

    `ask` draws rows to label, `answer` takes their labels and tests them when there are 200, 320, 512, and so on. Ask
    for as many as you like and stop when you please: with probability 1 − δ no threshold with a risk above the target
    is ever certified, for rows drawn independently from one distribution, whatever it is. Where rows form clusters, by
    repeated ids or since the selector was calibrated with ids, one row of each is drawn, as by `calibrate`: then the
    guarantee is about clusters, each of which counts once.

    Rows at or below the old threshold are never asked for: they carry no information about thresholds above it, so that
    fewer labels certify the same threshold than by labelling at random.

    Where the selector has a threshold for each group, each has a search of its own, at δ over the number of groups. So
    with probability 1 − δ no group ever gets a threshold whose risk is above the target, whichever groups the labels
    are drawn from. The new selector rejects groups that were searched without success; groups that were not searched
    keep their thresholds, with the guarantee that they had.

    Attributes
    ----------
    per : str or None
        What the groups are: ``class``, or the column that names them; None for one threshold.
    delta : float
        The probability with which any certified threshold may fail.
    of_selector : str
        A digest of the selector that is to be certified again.
    searches : dict of str to ThresholdSearch
        By name of the group; one search, ``all rows``, for one threshold.
    offered : dict of str to tuple of float
        Confidences of all rows, accepted or not, that the last pending ones were drawn from, by group.
    clustered : bool
        Whether a row stands for all rows of its id.
    """

    per: str | None
    delta: float
    of_selector: str
    searches: dict[str, ThresholdSearch]
    offered: dict[str, tuple[float, ...]]
    clustered: bool

    def __repr__(self) -> str:
        certified = f"{len(self.certified)} of {len(self.searches)} thresholds certified"
        return f"<Recertification: {len(self.ids)} rows labelled, {len(self.pending)} pending, {certified}>"

    def __post_init__(self) -> None:
        if not self.searches:
            raise InvalidInputError("`selector` must have a group with a threshold to certify again, got none.")

    @classmethod
    def of(
        cls,
        selector: Selector,
        /,
        *,
        risk: float | None = None,
        delta: float | None = None,
        floor: float | None = None,
        only: Collection[str] = (),
    ) -> Self:
        """No labels yet; the target and the floors are those of the selector unless given.

        Of several groups all that have a threshold, or ``only`` some of them; a target of its own needs all groups.
        """
        _check_search(selector, floor)
        target, delta = _target(selector, risk, delta)
        if selector.groups is None and only:
            raise InvalidInputError("`selector` must have a threshold for each group, got one for all rows.")
        old = {ALL: selector.threshold} if selector.groups is None else selector.groups.thresholds
        floors = {name: each.value for name, each in old.items() if selector.groups is None or each.value < np.inf}
        if unknown := [name for name in only if name not in floors]:
            raise InvalidInputError(
                f"`only` must name groups that have a threshold, {', '.join(list(floors)[:5])}, got {unknown[0]!r}."
            )
        if only and (target, delta) != _target(selector, None, None):
            raise InvalidInputError(
                "`only` must come without another risk and delta, since the other groups keep theirs, got both."
            )
        guarantee = selector.threshold.guarantee
        return cls(
            per=None if selector.groups is None else selector.groups.per,
            delta=delta,
            of_selector=_digest(selector),
            searches={
                name: ThresholdSearch(risk=target, delta=delta / len(old), floor=value if floor is None else floor)
                for name, value in floors.items()
                if not only or name in only
            },
            offered={},
            clustered=guarantee.largest is not None or guarantee.counting == "clusters",
        )

    @property
    def risk(self) -> float:
        """The largest share of errors among the accepted rows, in each group."""
        return next(iter(self.searches.values())).risk

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the rows labelled so far."""
        return tuple(name for search in self.searches.values() for name in search.ids)

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids of the rows that wait for a label."""
        return tuple(name for search in self.searches.values() for name in search.pending)

    @property
    def pending_confidence(self) -> tuple[float, ...]:
        """Their confidences."""
        return tuple(value for search in self.searches.values() for value in search.pending_confidence)

    @property
    def pending_rows(self) -> tuple[int, ...]:
        """Their indices among the rows that were given."""
        return tuple(row for search in self.searches.values() for row in search.pending_rows)

    def take(self, decisions: AuditedDecisions, groups: ArrayLike | None = None, /) -> Self:
        """Take the labels of an audit, in a random order, and look: its rows above the floors were drawn at random.

        Rows whose label is known from the audit of another batch are left out.
        """
        count = int(np.count_nonzero(decisions.audited))
        asked = self.ask(decisions.confidence, decisions.ids, groups, labels=count, among=decisions.audited)
        return asked.answer(asked.pending, decisions.errors[list(asked.pending_rows)])

    def ask(
        self,
        confidence: ArrayLike,
        ids: ArrayLike,
        groups: ArrayLike | None = None,
        /,
        *,
        labels: int,
        among: NDArray[np.bool_] | None = None,
        seed: int = 0,
    ) -> Self:
        """Draw ``labels`` rows above the floors that have no label yet: they are ``pending`` then.

        With ``among`` (n,) only of those rows, which must be drawn at random themselves. Labels are drawn evenly from
        the groups that are not certified yet; from the others once all are certified, or have no rows left.

        The rows must be a fair sample of what the selector now meets; their order decides nothing. Of rows with the
        same id one is drawn, whether it is above the floor or not.
        """
        if self.pending:
            raise InvalidInputError(
                f"{len(self.pending)} rows that were asked for must be labelled first, got a request for more."
            )
        check_at_least("labels", labels, 1)
        c, names, group = self._columns(confidence, ids, groups)
        given = one_per_cluster(c, np.zeros(len(c)), ids=names, seed=seed)
        possible = given if among is None else given[among[given]]
        new = {
            name: search.unlabelled(possible[group[possible] == name], c, names)
            for name, search in self.searches.items()
        }
        if not any(map(len, new.values())):
            raise self._no_rows_left(len(c))
        drawn = _allotted({name: len(rows) for name, rows in new.items()}, labels, first=self._uncertified)
        return replace(
            self,
            searches={
                name: search.ask(new[name], c, names, labels=drawn.get(name, 0), seed=seed)
                for name, search in self.searches.items()
            },
            offered=self.offered
            | {str(name): tuple(c[given[group[given] == name]].tolist()) for name in np.unique(group[given])},
            clustered=self.clustered or len(given) < len(c),
        )

    def _columns(
        self, confidence: ArrayLike, ids: ArrayLike, groups: ArrayLike | None
    ) -> tuple[NDArray[np.float64], NDArray[np.str_], NDArray[np.str_]]:
        """Confidence (n,), −inf where it is NaN, and the id and group of each row."""
        c = np.asarray(confidence, dtype=np.float64)
        if (groups is None) != (self.per is None):
            rule = "be left out where all rows have one threshold" if self.per is None else f"name the {self.per}"
            raise InvalidInputError(f"`groups` must {rule}, got {'none' if groups is None else 'some'}.")
        given = {"ids": ids, "groups": np.full(c.shape, ALL) if groups is None else groups}
        names, group = (check_names(kind, values).astype(str) for kind, values in given.items())
        for kind, values in (("ids", names), ("groups", group)):
            if c.ndim != 1 or values.shape != c.shape:
                raise InvalidInputError(
                    f"`{kind}` must name each row of `confidence`, got shape {values.shape} for {c.shape}."
                )
        return rejected_last(c), names, group

    def _no_rows_left(self, n: int) -> InvalidInputError:
        above = "the thresholds of their groups" if self.per else f"{self.searches[ALL].floor:g}, the old threshold,"
        return InvalidInputError(
            f"`confidence` must have rows above {above} that have no label yet, got none among {n}. Bring decisions on "
            "new rows."
        )

    @property
    def _uncertified(self) -> list[str]:
        return [name for name, search in self.searches.items() if search.certified is None]

    def answer(self, ids: ArrayLike, errors: ArrayLike, /) -> Self:
        """Take the errors (0 or 1), or losses from 0 to 1, of all pending rows, and look what they certify."""
        if not self.pending:
            raise InvalidInputError(
                "Rows to label must be asked for first, got labels that no row waits for. Draw rows with `ask` (--ask)."
            )
        names, wrong = np.asarray(ids).astype(str), np.asarray(errors, dtype=np.float64)
        if names.shape != wrong.shape or not ((wrong >= 0) & (wrong <= 1)).all():
            raise InvalidInputError(
                f"`errors` must be from 0 to 1 for each id, got {wrong.size} {range_words(wrong)} for {names.size} ids."
            )
        if len(np.unique(names)) != len(names):
            raise InvalidInputError("`ids` must name each row once, got some twice.")
        known = dict(zip(names.tolist(), (wrong.astype(int) if are_errors(wrong) else wrong).tolist(), strict=True))
        if missing := [name for name in self.pending if name not in known]:
            raise InvalidInputError(
                f"`errors` must be there for every row asked for, got none for {len(missing)}, {missing[0]!r} first."
            )
        return replace(self, searches={name: search.answer(known) for name, search in self.searches.items()})

    @property
    def certified(self) -> dict[str, float]:
        """The lowest threshold certified so far, by name of the group; none for groups without one."""
        return {name: search.certified for name, search in self.searches.items() if search.certified is not None}

    @property
    def labels_to_next_look(self) -> int:
        """How many labels to ask for, so that each search without a threshold, or each of all, has its next look."""
        searches = [self.searches[name] for name in self._uncertified or self.searches]
        return len(searches) * max(search.labels_to_next_look for search in searches)

    def outlook(self) -> str:
        """What the labels so far would certify, in words: whether it is worth to ask for more."""
        words = {name: search.outlook() for name, search in self.searches.items()}
        return words[ALL] if self.per is None else "\n".join(f"{name}: {each}" for name, each in words.items())

    @property
    def threshold(self) -> Threshold | None:
        """The lowest threshold certified so far, or None; of groups, see `thresholds`."""
        return self.thresholds.get(ALL) if self.per is None else None

    @property
    def thresholds(self) -> dict[str, Threshold]:
        """The lowest threshold certified so far by name of the group, +inf for a group without one."""
        thresholds = {}
        for name, search in self.searches.items():
            offered = np.array(self.offered.get(name, ()))
            threshold = search.threshold(offered, clustered=self.clustered)
            if self.per is not None:
                threshold = threshold or reject_all(max(len(offered), 1), risk=self.risk, delta=search.delta)
                threshold = in_group(threshold, name, self.delta, len(self.searches), self.clustered)
            if threshold is not None:
                thresholds[name] = threshold
        return thresholds

    def selector(self, old: Selector, /) -> Selector:
        """The old selector with what is certified, and the distribution of the new rows; an error if nothing is."""
        if _digest(old) != self.of_selector:
            raise InvalidInputError("`old` must be the selector that the labels were asked for, got another.")
        if not self.certified:
            raise InvalidInputError(
                f"A threshold must be certified first, got none after {len(self.ids)} labels. Ask for more."
            )
        return renewed(old, self)

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The state that `to_json` wrote."""
        return from_json(text, cls)


def _check_search(selector: Selector, floor: float | None) -> None:
    """Refuse what is no selector, and a floor that is no confidence."""
    if not isinstance(selector, Selector):
        raise InvalidTypeError(f"`selector` must be a Selector, got {selector!r:.60}.")
    if floor is not None:
        check_number("floor", floor)
        if floor != floor:
            raise InvalidInputError("`floor` must be a confidence, got NaN.")


def _target(selector: Selector, risk: float | None, delta: float | None) -> tuple[float, float]:
    """The risk and δ to guarantee: those given, or else those of the selector."""
    guarantee = selector.threshold.guarantee
    if risk is None and selector.threshold.further:
        raise InvalidInputError(
            "`risk` must be given to certify a risk alone again, since the selector guarantees "
            f"{listed([each.about for each in selector.threshold.guarantees])}. Calibrate again to keep "
            "both."
        )
    if risk is None and not guarantee.quantity.is_risk:
        raise InvalidInputError("`risk` must be given, since the selector guarantees something else, got none.")
    if delta is None and guarantee.probability is None:
        raise InvalidInputError("`delta` must be given, since the selector guarantees no probability, got none.")
    return (
        (guarantee.target or 0.0) if risk is None else risk,
        1 - (guarantee.probability or 0.0) if delta is None else delta,
    )


def _digest(selector: Selector) -> str:
    """Of what the thresholds on its score mean."""
    groups = {} if selector.groups is None else selector.groups.thresholds
    values = [selector.threshold.value, *((name, each.value) for name, each in sorted(groups.items()))]
    return sha256(f"{selector.score} {values} {to_json(selector.distribution)}".encode()).hexdigest()[:16]


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
