"""Have the confidences of a group changed since its first rows? Without labels, and without calibration."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError
from abstain.monitor.scores import ScoreMonitor
from abstain.thresholds.sample import check_chance

REFERENCE_ROWS = 200
"""The first confidences, with which later ones are compared."""


@final
@dataclass(frozen=True)
class DriftMonitor:
    """A `ScoreMonitor` whose reference is the stream's own first 200 confidences.

    It serves groups whose confidences calibration did not keep. An alarm means that the confidences changed since these
    first rows, false with probability at most δ over all time if they are independent draws of one distribution.

    Parameters
    ----------
    delta : float
        Probability of a false alarm, over all time.
    first : tuple of float
        The first confidences, until there are enough.
    scores : ScoreMonitor, optional
        The evidence since then.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(0.05).observe(rng.normal(size=600))
    >>> monitor.alarm, monitor.observe(rng.normal(size=300) - 1).alarm
    (False, True)
    """

    meaning: ClassVar[str] = "the confidences have changed since its first rows"

    delta: float
    first: tuple[float, ...] = ()
    scores: ScoreMonitor | None = None

    def __post_init__(self) -> None:
        check_chance("delta", self.delta)
        known = self.scores is None or (self.scores.delta == self.delta and not self.first)
        if not known or len(self.first) >= REFERENCE_ROWS or np.isnan(self.first).any():
            raise InvalidInputError("`text` must be the state of a monitor, got impossible first confidences.")

    def observe(self, confidence: ArrayLike, /) -> Self:
        """The monitor after more confidences, in the order they came; −inf for non-finite rows."""
        values = np.atleast_1d(as_doubles("confidence", confidence))
        if self.scores is not None:
            return replace(self, scores=self.scores.observe(values))
        together = np.concatenate([self.first, values])
        if len(together) < REFERENCE_ROWS:
            return replace(self, first=tuple(together.tolist()))
        scores = ScoreMonitor.from_calibration(together[:REFERENCE_ROWS], delta=self.delta)
        return replace(self, first=(), scores=scores.observe(together[REFERENCE_ROWS:]))

    @property
    def n(self) -> int:
        """Confidences seen."""
        return len(self.first) if self.scores is None else REFERENCE_ROWS + self.scores.n

    @property
    def evidence(self) -> float:
        """Evidence now; 1/δ raises the alarm."""
        return 1.0 if self.scores is None else self.scores.evidence

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/δ."""
        return self.scores is not None and self.scores.alarm

    def restarted(self) -> Self:
        """The monitor without evidence, compared with the confidences from here on."""
        return replace(self, first=(), scores=None)

    def numbers(self) -> dict[str, Any]:
        """The samples seen and the evidence."""
        return {"n": self.n, "evidence": self.evidence, "alarm_at": 1 / self.delta, "alarm": self.alarm}
