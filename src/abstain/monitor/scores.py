"""Is the distribution of the confidence still that of calibration? Without labels."""

from dataclasses import dataclass, replace
from hashlib import blake2b
from math import exp, log
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._cached_property import cached_property
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._kernels.bets import BETS, jump
from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.rate import is_shared
from abstain.thresholds.sample import check_chance
from abstain.thresholds.score_distribution import ScoreDistribution

SHOWN = 1_000_000  # evidence beyond it is as good as proof, whatever its figure
GAMBLERS = 4
EQUAL = ((1 / len(BETS),) * len(BETS),) * GAMBLERS


@final
@dataclass(frozen=True)
class ScoreMonitor:
    """A conformal test martingale: an alarm when confidences stop being exchangeable with those of calibration.

    Each new confidence gets a p-value, its rank among those of calibration and all since, uniform and independent while
    nothing changes. Bets against that accumulate evidence, which reaches 1/δ with probability at most δ over all time
    if nothing changes. Ties are broken by draws seeded with the calibration sample; an alarm also needs the same
    evidence without draws. An alarm means that the scores changed, NOT that the risk did; no alarm certifies nothing,
    since a change of labels given inputs cannot be detected. The state is a few hundred numbers for any stream.

    Parameters
    ----------
    distribution : ScoreDistribution
        That of the calibration sample; `from_calibration` makes it.
    delta : float
        Probability of a false alarm, over all time.
    seed : int
        Seed of the draws that break ties.
    n : int
        Confidences observed so far.
    counts, shares, logs, highest : tuple
        The evidence so far.
    clustered : bool
        Whether rows with the same id count once, by one of them drawn at random.

    References
    ----------
    Vovk, Nouretdinov and Gammerman, "Testing exchangeability on-line", 2003; Vovk et al., "Retrain or not retrain:
    conformal test martingales for change-point detection", 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> monitor = ScoreMonitor.from_calibration(rng.normal(size=1000)).observe(rng.normal(size=500))
    >>> monitor.alarm, monitor.observe(rng.normal(size=500) - 1).alarm
    (False, True)
    """

    columns: ClassVar[tuple[str, ...]] = ("confidence",)
    meaning: ClassVar[str] = "the confidences are no longer distributed as in calibration"
    caveat: ClassVar[str] = AcceptanceMonitor.caveat

    distribution: ScoreDistribution
    delta: float = 0.05
    seed: int = 0
    n: int = 0
    counts: tuple[int, ...] = ()
    """Samples seen in each part of the distribution."""
    shares: tuple[tuple[float, ...], ...] = EQUAL
    logs: tuple[float, ...] = (0.0,) * GAMBLERS
    """Log of the capital of each gambler: two with ties broken at random, two with the mean over ties."""
    highest: tuple[float, ...] = (0.0, 0.0)
    """Log of the largest evidence so far, of the former and of the latter."""
    clustered: bool = False
    """Whether rows of the same id count once, by one of them drawn at random."""

    def __post_init__(self) -> None:
        check_chance("delta", self.delta)
        if not self.counts:
            object.__setattr__(self, "counts", (0,) * len(self.distribution.weights))
        if (
            len(self.counts) != len(self.distribution.weights)
            or not all(0 <= count <= 2**53 for count in self.counts)
            or sum(self.counts) != self.n
            or not is_shared(np.asarray(self.shares, dtype=np.float64), (GAMBLERS, len(BETS)))
            or len(self.logs) != GAMBLERS
            or not np.isfinite(self.logs).all()
            or len(self.highest) != 2
            or not min(self.highest) >= 0
            or self.seed < 0
        ):
            raise InvalidInputError("`text` must be the state of a ScoreMonitor, got impossible numbers.")

    @classmethod
    def from_calibration(cls, confidence: ArrayLike, /, *, delta: float = 0.05, seed: int = 0) -> Self:
        """From the confidences of the calibration sample."""
        return cls(ScoreDistribution.of(confidence, seed=seed), delta, seed)

    def observe(self, confidence: ArrayLike, /) -> Self:
        """The monitor after more confidences, in the order they came; −inf for non-finite rows.

        If rows form clusters, a single confidence of each cluster: see `outcomes`.
        """
        values = np.atleast_1d(as_doubles("confidence", confidence))
        if np.isnan(values).any():
            raise InvalidInputError("`confidence` must not be NaN, got some. Use -inf for non-finite rows.")
        if not values.size:
            return self
        parts, first, last = self._parts(values)
        weights = np.add(self.distribution.weights, self.counts).astype(np.float64)
        shares, logs, highest = np.array(self.shares), np.array(self.logs), np.array(self.highest)
        jump(parts, first, last, weights, shares, logs, highest)
        return replace(
            self,
            n=self.n + len(values),
            counts=tuple((weights - self.distribution.weights).astype(int).tolist()),
            shares=tuple(tuple(row) for row in shares.tolist()),
            logs=tuple(logs.tolist()),
            highest=tuple(highest.tolist()),
        )

    def _parts(self, values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The part of each value, ties broken at random, and the first and last part that its ties reach."""
        d, edges = self.distribution, np.append(self.distribution.edges, np.nan)
        first = np.searchsorted(d.edges, values)
        tied = np.flatnonzero(edges[first] == values)
        if not tied.size:
            return first, first, first
        parts, last = first.copy(), first.copy()
        last[tied] = np.searchsorted(d.edges, values[tied], side="right")
        ties = generator("ties of later confidences", self.seed, coarse(d.edges), d.ties, d.weights)
        ties.bit_generator.advance(self.n)  # type: ignore[attr-defined]  # the same numbers however the stream is cut
        parts[tied] = d.parts(values[tied], ties.random(len(values))[tied])
        return parts, first, last

    @property
    def evidence(self) -> float:
        """The mean capital of the gamblers now, of those with random ties or of the others, whichever is less."""
        capital = [exp(min(value, 700.0)) for value in self.logs]
        return min(sum(capital[:2]), sum(capital[2:])) / 2

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/δ, with random ties and with the mean over ties."""
        return min(self.highest) >= -log(self.delta)

    def outcomes(self, clusters: ClusterValues, /) -> NDArray[np.float64]:
        """One confidence of each cluster, drawn by its name, whatever the order of its rows."""
        sizes, firsts = clusters.sizes, clusters.ends - clusters.sizes
        drawn_values = np.full(len(sizes), np.nan)
        drawn_values[sizes == 1] = clusters.values[firsts[sizes == 1]]
        for k in np.flatnonzero(sizes > 1).tolist():
            name = clusters.names[k].encode("utf-8", "surrogatepass")
            drawn = int.from_bytes(blake2b(name, digest_size=8, key=self._salt).digest(), "little") % int(sizes[k])
            drawn_values[k] = sorted(clusters.values[firsts[k] : clusters.ends[k]].tolist())[drawn]
        return drawn_values

    @cached_property
    def _salt(self) -> bytes:
        d = self.distribution
        return generator("row of a later cluster", self.seed, coarse(d.edges), d.ties, d.weights).bytes(16)

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        return replace(self.restarted(), n=0, counts=())

    def restarted(self) -> Self:
        """The monitor without evidence; it keeps the confidences seen, so that p-values stay independent of them."""
        return replace(self, shares=EQUAL, logs=(0.0,) * GAMBLERS, highest=(0.0, 0.0))

    def numbers(self) -> dict[str, Any]:
        """The samples seen and the evidence."""
        return {"n": self.n, "evidence": self.evidence, "alarm_at": 1 / self.delta, "alarm": self.alarm}

    def words(self) -> str:
        """The verdict, and the largest evidence so far."""
        verdict = "ALARM, not distributed as in calibration" if self.alarm else "no alarm"
        highest = min(self.highest)
        largest = f"{exp(highest):.3g}" if highest <= log(SHOWN) else f"over {SHOWN:,}"
        seen = f"{self.n} {'ids' if self.clustered else 'confidences'}"
        return f"Confidences: {verdict}. {seen}; largest evidence of a change {largest}, alarm at {1 / self.delta:g}."
