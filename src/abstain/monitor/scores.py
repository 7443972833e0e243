"""Is the distribution of the confidence still that of calibration? Without labels."""

from dataclasses import dataclass, replace
from math import exp, inf, isnan, log
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain.kernels.jumper import BETS, jump
from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.rate import is_shared
from abstain.monitor.row import Row
from abstain.records import from_json, to_json
from abstain.thresholds.score_distribution import ScoreDistribution

SHOWN = 1_000_000  # evidence beyond it is as good as proof, whatever its figure
EQUAL = ((1 / len(BETS),) * len(BETS),) * 2


@final
@dataclass(frozen=True)
class ScoreMonitor:
    """A conformal test martingale: an alarm when confidences stop being exchangeable with those of calibration.

    Each new confidence gets a p-value, its place among those of calibration and all since, uniform and independent
    while nothing changes; bets against that grow into evidence, which reaches 1/δ with probability at most δ over all
    time if nothing changes. An alarm says that the scores changed, NOT that the risk did, and no alarm certifies
    nothing: a change of labels given inputs cannot be seen here. The state is a few hundred numbers, however long the
    stream. (Vovk et al., 2003, 2021)

    >>> rng = np.random.default_rng(0)
    >>> monitor = ScoreMonitor.from_calibration(rng.normal(size=1000)).observe(rng.normal(size=500))
    >>> monitor.alarm, monitor.observe(rng.normal(size=500) - 1).alarm
    (False, True)
    """

    columns: ClassVar[tuple[str, ...]] = ("confidence",)
    meaning: ClassVar[str] = "the confidences are no longer those of calibration"
    caveat: ClassVar[str] = AcceptanceMonitor.caveat

    distribution: ScoreDistribution
    delta: float = 0.05
    seed: int = 0
    n: int = 0
    counts: tuple[int, ...] = ()
    """Samples seen in each part of the distribution."""
    shares: tuple[tuple[float, ...], ...] = EQUAL
    logs: tuple[float, ...] = (0.0, 0.0)
    """Log of the capital of each gambler."""
    highest: float = 0.0
    """Log of the largest evidence so far."""

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ValueError(f"`delta` must be between 0 and 1, got {self.delta}.")
        if not self.counts:
            object.__setattr__(self, "counts", (0,) * len(self.distribution.weights))
        if (
            len(self.counts) != len(self.distribution.weights)
            or not all(0 <= count <= 2**53 for count in self.counts)
            or sum(self.counts) != self.n
            or not is_shared(np.asarray(self.shares, dtype=np.float64), (2, len(BETS)))
            or len(self.logs) != 2
            or not np.isfinite(self.logs).all()
            or not self.highest >= 0
            or self.seed < 0
        ):
            raise ValueError("`text` must be the state of a ScoreMonitor, got numbers that no stream leads to.")

    @classmethod
    def from_calibration(cls, confidence: ArrayLike, /, *, delta: float = 0.05, seed: int = 0) -> Self:
        """From the confidences of the calibration sample."""
        return cls(ScoreDistribution.of(confidence, seed=seed), delta, seed)

    def observe(self, confidence: ArrayLike, /) -> Self:
        """The monitor after further confidences, in the order they came; −inf where a sample was not usable."""
        values = np.atleast_1d(np.asarray(confidence, dtype=np.float64))
        if np.isnan(values).any():
            raise ValueError("`confidence` must not be NaN, got some. Set it to -inf where a sample was not usable.")
        if not values.size:
            return self
        generator = np.random.PCG64(self.seed)
        generator.advance(2 * self.n)  # the same numbers however the stream is cut
        ties, uniform = np.random.Generator(generator).random((len(values), 2)).T
        weights = np.add(self.distribution.weights, self.counts).astype(np.float64)
        shares, logs = np.array(self.shares), np.array(self.logs)
        highest = jump(self.distribution.parts(values, ties), np.ascontiguousarray(uniform), weights, shares, logs)
        return replace(
            self,
            n=self.n + len(values),
            counts=tuple((weights - self.distribution.weights).astype(int).tolist()),
            shares=tuple(tuple(row) for row in shares.tolist()),
            logs=tuple(logs.tolist()),
            highest=max(self.highest, highest),
        )

    @property
    def evidence(self) -> float:
        """The mean capital of the gamblers now; 1/δ raises the alarm."""
        return float(np.mean([exp(min(value, 700.0)) for value in self.logs]))

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/δ."""
        return self.highest >= -log(self.delta)

    def taken(self, row: Row, /) -> float | None:
        """The confidence of a decision, −inf where the sample was not usable."""
        return -inf if row.confidence is not None and isnan(row.confidence) else row.confidence

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        return replace(self.restarted(), n=0, counts=())

    def restarted(self) -> Self:
        """The monitor with no evidence; what it has seen stays, so that p-values stay independent of the past."""
        return replace(self, shares=EQUAL, logs=(0.0, 0.0), highest=0.0)

    def numbers(self) -> dict[str, Any]:
        """The samples seen and the evidence."""
        return {"n": self.n, "evidence": self.evidence, "alarm": self.alarm}

    def words(self) -> str:
        """The verdict, and how near an alarm has been."""
        verdict = "ALARM: the confidences are not" if self.alarm else "No proof that the confidences are not"
        most = f"{exp(self.highest):.3g}" if self.highest <= log(SHOWN) else f"over {SHOWN:,}"
        reached = f"evidence against it, 1 at the start, reached {most}; {1 / self.delta:g} raises the alarm"
        return f"{verdict} distributed as in calibration ({self.n} seen; {reached})."

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The monitor that `to_json` wrote."""
        return from_json(text, cls)
