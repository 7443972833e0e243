"""`Recertification`: a new threshold after an alarm, as soon as the labels that come in certify one."""

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain.draws import generator
from abstain.records import from_json, to_json
from abstain.selector.selector import Selector
from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import Sample, check_target
from abstain.thresholds.score_law import ScoreLaw
from abstain.thresholds.step_down import largest_safe_rank
from abstain.thresholds.threshold import Threshold


@final
@dataclass(frozen=True, kw_only=True)
class Recertification:
    """The search for a threshold at or above the old one, with labels for rows that the old one accepts.

    `ask` draws rows to label, `answer` takes their labels and looks: `step_down` on all rows labelled so far, the k-th
    look at δ/(k(k + 1)), which sum to δ. So looking after every answer and stopping when one pleases costs nothing:
    with probability 1 − δ no threshold with a risk above the target is ever named, for rows drawn independently from
    one distribution, whatever it is.

    Rows below the ``floor``, the old threshold, are never asked for: they tell nothing about thresholds above it, so
    that the same threshold is certified with fewer labels than by labelling at random. Within the rows above it every
    one counts: labelling the most trusted more rarely, with weights to make up for it, took more labels in all.
    """

    risk: float
    delta: float
    floor: float
    """No threshold below it will be named."""
    ids: tuple[str, ...] = ()
    confidence: tuple[float, ...] = ()
    errors: tuple[int, ...] = ()
    """Of the rows labelled so far, all above the floor."""
    looks: int = 0
    pending: tuple[str, ...] = ()
    pending_confidence: tuple[float, ...] = ()
    """The rows that wait for a label."""
    offered: tuple[float, ...] = ()
    """Confidences of all rows, accepted or not, that the last ones asked for were drawn from."""
    certified: float | None = None
    """The lowest threshold that a look has certified."""

    def __post_init__(self) -> None:
        check_target("risk", self.risk)
        check_target("delta", self.delta)
        labelled, waiting = {len(self.ids), len(self.confidence), len(self.errors)}, len(self.pending_confidence)
        if len(labelled) > 1 or len(self.pending) != waiting or self.looks < 0 or not set(self.errors) <= {0, 1}:
            raise ValueError("`text` must be the state of a Recertification, got columns that do not fit.")

    @classmethod
    def of(
        cls, selector: Selector, /, *, risk: float | None = None, delta: float | None = None, floor: float | None = None
    ) -> Self:
        """No labels yet; the target and the floor are those of the selector unless given."""
        if selector.groups is not None:
            raise ValueError("`selector` must have one threshold to certify again, got one for each group.")
        promise = selector.threshold.promise
        if risk is None and promise.quantity != RISK:
            raise ValueError("`risk` must be given, since the selector promises something else, got none.")
        return cls(
            risk=(promise.target or 0.0) if risk is None else risk,
            delta=1 - (promise.probability or 0.95) if delta is None else delta,
            floor=selector.threshold.value if floor is None else floor,
        )

    def ask(self, confidence: ArrayLike, ids: ArrayLike, /, *, labels: int, seed: int = 0) -> Self:
        """Draw ``labels`` rows above the floor that were not taken yet: they are ``pending`` then.

        The rows must be a fair sample of what the selector now meets; their order decides nothing.
        """
        if self.pending:
            raise ValueError(f"`answer` must come first, got {len(self.pending)} rows still without a label.")
        c, names = np.asarray(confidence, dtype=np.float64), np.asarray(ids).astype(str)
        if c.ndim != 1 or names.shape != c.shape or len(np.unique(names)) != len(names):
            raise ValueError("`ids` must name each row of `confidence` with a name of its own, got others.")
        if labels < 1:
            raise ValueError(f"`labels` must be at least 1, got {labels}.")
        new = np.flatnonzero((c > self.floor) & ~np.isin(names, self.ids))
        if not len(new):
            raise ValueError(
                f"`confidence` must have rows above the floor ({self.floor:g}) that were not taken yet, got none of "
                f"{len(c)}."
            )
        order = new[np.lexsort((names[new], c[new]))]
        drawn = generator("rows to label", seed, c[order], self.looks).permutation(len(order))[:labels]
        taken = order[drawn]
        return replace(
            self,
            pending=tuple(names[taken].tolist()),
            pending_confidence=tuple(c[taken].tolist()),
            offered=tuple(np.where(np.isnan(c), -np.inf, c).tolist()),
        )

    def answer(self, ids: ArrayLike, errors: ArrayLike, /) -> Self:
        """Take the errors (0 or 1) of all pending rows, and look whether a threshold is certified now."""
        if not self.pending:
            raise ValueError("`ask` must come first, got no row that waits for a label.")
        names, wrong = np.asarray(ids).astype(str), np.asarray(errors, dtype=np.float64)
        if names.shape != wrong.shape or not ((wrong == 0) | (wrong == 1)).all():
            raise ValueError("`errors` must be 0 or 1 for each of `ids`, got others.")
        known = dict(zip(names.tolist(), wrong.astype(int).tolist(), strict=True))
        if missing := [name for name in self.pending if name not in known]:
            raise ValueError(
                f"`errors` must be there for every row asked for, got none for {len(missing)}, {missing[0]!r} first."
            )
        found = replace(
            self,
            ids=(*self.ids, *self.pending),
            confidence=(*self.confidence, *self.pending_confidence),
            errors=(*self.errors, *(known[name] for name in self.pending)),
            looks=self.looks + 1,
            pending=(),
            pending_confidence=(),
        )
        sample = Sample.of(found.confidence, found.errors)
        rank = largest_safe_rank(sample, self.risk, self.delta / (found.looks * (found.looks + 1)))
        if not rank:
            return found
        value = max(sample.below(rank), self.floor)
        return replace(found, certified=value if self.certified is None else min(value, self.certified))

    @property
    def threshold(self) -> Threshold | None:
        """The lowest threshold certified so far, or None."""
        if self.certified is None:
            return None
        c, e, all_rows = np.asarray(self.confidence), np.asarray(self.errors), np.asarray(self.offered)
        accepted = int(np.count_nonzero(all_rows > self.certified))
        promise = Promise(
            quantity=RISK,
            target=self.risk,
            probability=1 - self.delta,
            distribution=f"rows drawn independently from the distribution of these {len(all_rows)}",
            caveats=(f"{len(c)} of them were labelled, and it holds whenever one chose to stop",),
        )
        return Threshold(
            value=self.certified,
            method="recertify",
            n=len(all_rows),
            accepted=accepted,
            errors=float(e[c > self.certified].mean() * accepted),
            promise=promise,
        )

    def selector(self, old: Selector, /) -> Selector:
        """The old selector with the new threshold and the distribution of the new rows; an error if there is none."""
        if self.threshold is None:
            raise ValueError(f"No threshold is certified yet after {len(self.ids)} labels. Ask for more.")
        return replace(old, threshold=self.threshold, law=ScoreLaw.of(np.asarray(self.offered)))

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The state that `to_json` wrote."""
        return from_json(text, cls)
