"""`Recertification`: a new threshold after an alarm, as soon as the labels that come in certify one."""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._io.records import from_json, to_json
from abstain._text import listed
from abstain.metrics.groups import are_errors
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.label_search import check_asked, check_can_ask, check_renewable, columns, renewed
from abstain.selector.looks import labels_at, level_at, looks_with
from abstain.selector.selector import Selector
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import lowest_achievable
from abstain.thresholds.sample import (
    Sample,
    check_chance,
    check_target,
    independent_rows,
    one_per_cluster,
    one_row_of_each,
    range_words,
)  # fmt: skip
from abstain.thresholds.step_down import SafeRanks, noting_few_values
from abstain.thresholds.threshold import Threshold


@final
@dataclass(frozen=True, kw_only=True)
class Recertification:
    """The search for a threshold at or above the old one, with labels for rows that the old one accepts.

    `ask` draws rows to label, `answer` takes their labels and looks: `step_down` on the first 200 labels, the first
    320, 512, and so on, numbers fixed beforehand, the k-th look at δ/(k(k + 1)), which sum to δ. So asking for as many
    as one likes and stopping when one pleases costs nothing: with probability 1 − δ no threshold with a risk above the
    target is ever named, for rows drawn independently from one distribution, whatever it is. Where rows form clusters,
    by repeated ids or since the selector was calibrated with ids, one row of each is drawn, as by `calibrate`: then the
    guarantee is about clusters, each of which counts once.

    Rows below the ``floor``, the old threshold, are never asked for: they tell nothing about thresholds above it, so
    that the same threshold is certified with fewer labels than by labelling at random. Within the rows above it every
    one counts: labelling the most trusted more rarely, with weights to make up for it, took more labels in all.

    Attributes
    ----------
    risk : float
        The largest share of errors among the accepted rows.
    delta : float
        The probability with which a named threshold may fail.
    floor : float
        No threshold below it will be named.
    of_selector : str
        A digest of the selector that is to be certified again.
    ids : tuple of str
        Those of the rows labelled so far.
    confidence : tuple of float
        Those of the rows labelled so far.
    errors : tuple of tuples
        Of the rows labelled so far, all above the floor: 0 or 1, or their losses.
    looks : int
        How many times the labels were tested.
    clustered : bool
        Whether a row stands for all rows of its id.
    pending : tuple of str
        The ids of the rows that wait for a label.
    pending_confidence : tuple of float
        Their confidences.
    pending_rows : tuple of int
        Their indices among the rows that were given.
    offered : tuple of float
        Confidences of all rows, accepted or not, that the last ones asked for were drawn from.
    left : int
        Of these rows, how many above the floor were never asked for.
    certified : float or None
        The lowest threshold that a look has certified.
    """

    risk: float
    delta: float
    floor: float
    of_selector: str
    ids: tuple[str, ...] = ()
    confidence: tuple[float, ...] = ()
    errors: tuple[int | float, ...] = ()
    looks: int = 0
    clustered: bool = False
    pending: tuple[str, ...] = ()
    pending_confidence: tuple[float, ...] = ()
    pending_rows: tuple[int, ...] = ()
    offered: tuple[float, ...] = ()
    left: int = 0
    certified: float | None = None

    def __post_init__(self) -> None:
        check_target("risk", self.risk)
        check_chance("delta", self.delta)
        columns = len(self.ids) == len(self.confidence) == len(self.errors) == len(set(self.ids))
        waiting = len(self.pending) == len(self.pending_confidence) == len(self.pending_rows)
        waiting = waiting and not set(self.pending) & set(self.ids)
        values = (*self.confidence, *self.pending_confidence, *(() if self.certified is None else (self.certified,)))
        above = all(value >= self.floor for value in values)
        looked = self.looks == looks_with(len(self.ids))
        if not (
            columns
            and waiting
            and above
            and looked
            and self.left >= 0
            and all(0 <= error <= 1 for error in self.errors)
        ):
            raise InvalidInputError("`text` must be the state of a Recertification, got columns that do not fit.")

    @classmethod
    def of(
        cls, selector: Selector, /, *, risk: float | None = None, delta: float | None = None, floor: float | None = None
    ) -> Self:
        """No labels yet; the target and the floor are those of the selector unless given."""
        if selector.groups is not None:
            raise InvalidInputError(
                "`selector` must have one threshold, got one for each group. Use `GroupRecertification`."
            )
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
        return cls(
            risk=(guarantee.target or 0.0) if risk is None else risk,
            delta=1 - (guarantee.probability or 0.0) if delta is None else delta,
            floor=selector.threshold.value if floor is None else floor,
            of_selector=digest_of(selector),
            clustered=guarantee.largest is not None or guarantee.counting == "clusters",
        )

    def take(self, decisions: AuditedDecisions, /) -> Self:
        """Take the labels of an audit, in a random order, and look: its rows above the floor were drawn at random.

        Rows whose label is known from the audit of another batch are left out.
        """
        count = int(np.count_nonzero(decisions.audited))
        asked = self.ask(decisions.confidence, decisions.ids, labels=count, among=decisions.audited)
        return asked.answer(asked.pending, decisions.errors[list(asked.pending_rows)])

    def ask(
        self,
        confidence: ArrayLike,
        ids: ArrayLike,
        /,
        *,
        labels: int,
        among: NDArray[np.bool_] | None = None,
        seed: int = 0,
    ) -> Self:
        """Draw ``labels`` rows above the floor that were not taken yet: they are ``pending`` then.

        With ``among`` (n,) only of those rows, which must be drawn at random themselves.

        The rows must be a fair sample of what the selector now meets; their order decides nothing. Of rows with the
        same id one is drawn, whether it is above the floor or not.
        """
        check_can_ask(self.pending, labels)
        c, (names,) = columns(confidence, ids=ids)
        given = one_per_cluster(c, np.zeros(len(c)), ids=names, seed=seed)
        clustered, c, names = self.clustered or len(given) < len(c), c[given], names[given]
        possible = np.ones(len(c), dtype=bool) if among is None else among[given]
        new = np.flatnonzero(possible & (c > self.floor) & ~np.isin(names, self.ids))
        if not len(new):
            raise InvalidInputError(
                f"`confidence` must have rows above {self.floor:g}, the old threshold, that have no label yet, got "
                f"none among {len(c)}. Bring decisions on new rows."
            )
        order = new[np.lexsort((names[new], c[new]))]
        drawn = generator("rows to label", seed, coarse(c[order]), self.looks).permutation(len(order))[:labels]
        taken = order[drawn]
        return replace(
            self,
            pending=tuple(names[taken].tolist()),
            pending_confidence=tuple(c[taken].tolist()),
            pending_rows=tuple(given[taken].tolist()),
            clustered=clustered,
            offered=tuple(c.tolist()),
            left=len(new) - len(taken),
        )

    def answer(self, ids: ArrayLike, errors: ArrayLike, /) -> Self:
        """Take the errors (0 or 1), or losses from 0 to 1, of all pending rows, and look for a certified threshold."""
        check_asked(self.pending)
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
        ids = (*self.ids, *self.pending)
        state = replace(
            self,
            ids=ids,
            confidence=(*self.confidence, *self.pending_confidence),
            errors=(*self.errors, *(known[name] for name in self.pending)),
            looks=looks_with(len(ids)),
            pending=(),
            pending_confidence=(),
            pending_rows=(),
        )
        values = [state._look(number) for number in range(self.looks + 1, state.looks + 1)]
        safe = [value for value in (self.certified, *values) if value is not None]
        return replace(state, certified=min(safe, default=None))

    def _look(self, number: int) -> float | None:
        """The lowest threshold that this look certifies, on as many labels as it was fixed for."""
        safe = SafeRanks.of(self._sample_at(number), self.risk, level_at(self.delta, number))
        return max(safe.value(safe.largest), self.floor) if safe.largest else None

    def _sample_at(self, look: int) -> Sample:
        n = labels_at(look)
        return Sample.of(self.confidence[:n], self.errors[:n])

    @property
    def next_look(self) -> int:
        """The number of labels at which the next look is."""
        return labels_at(self.looks + 1)

    def outlook(self) -> str:
        """What the labels so far would certify, in words: whether it is worth to ask for more."""
        sample, level = Sample.of(self.confidence, self.errors), level_at(self.delta, self.looks + 1)
        top = max(1, len(sample) // 4)
        total, most = float(sample.totals[top - 1]), f"the {top} most trusted of {len(sample)} labelled rows"
        seen = (
            f"{total:.0f} of {most} are wrong" if sample.are_errors else f"{most} have a mean loss of {total / top:.3g}"
        )
        lowest = lowest_achievable(lambda trial: SafeRanks.of(sample, trial, level).largest > 0, self.risk)
        achievable = "no risk below 1" if lowest is None else f"a risk of {lowest:.2g}"
        return f"{seen}; {achievable} is achievable"

    @property
    def threshold(self) -> Threshold | None:
        """The lowest threshold certified so far, or None."""
        if self.certified is None:
            return None
        all_rows = np.asarray(self.offered)
        accepted = int(np.count_nonzero(all_rows > self.certified))
        guarantee = Guarantee(
            quantity=Quantity.RISK if are_errors(np.array(self.errors)) else Quantity.LOSS,
            target=self.risk,
            probability=1 - self.delta,
            **(one_row_of_each(len(all_rows)) if self.clustered else independent_rows(len(all_rows))),
            caveats=(f"{len(self.ids)} of them were labelled, and it holds whenever labelling stopped",),
        )
        return Threshold(
            value=self.certified,
            method="recertify",
            n=len(all_rows),
            accepted=accepted,
            errors=None,
            guarantee=noting_few_values(guarantee, self._sample_at(1)),  # later looks show no fewer values
        )

    def selector(self, old: Selector, /) -> Selector:
        """The old selector with the new threshold and the distribution of the new rows; an error if there is none."""
        check_renewable(self.of_selector, digest_of(old), len(self.ids), is_certified=self.threshold is not None)
        assert self.threshold is not None
        graded = old.threshold.guarantee.quantity.event == "loss"
        threshold = self.threshold.of_losses() if graded else self.threshold
        return renewed(old, self.to_json(), self.ids, np.asarray(self.offered), threshold=threshold)

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The state that `to_json` wrote."""
        return from_json(text, cls)


def digest_of(selector: Selector, /) -> str:
    """Of what a threshold on its score means."""
    text = f"{selector.score} {selector.threshold.value!r} {to_json(selector.distribution)}"
    return sha256(text.encode()).hexdigest()[:16]
