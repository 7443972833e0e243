"""Evidence that a rate is above a bound, from the start or since a change."""

from dataclasses import dataclass, replace
from math import exp, inf, log, log1p
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincc, betaln, log_expit, logit

from abstain._errors import InvalidInputError
from abstain._kernels.bets import jump_rates

EXCESS = np.array(
    [0.0, 0.25, 0.5, 1.0, 1.6, 2.4, 3.6, 5.0]
)  # bets: how much the log odds are above those of the bound; 0 is none
FEW, SLACK = 16, 1e-6  # outcomes for all of which the mixture is computed, and what rounding may do to a limit
EVENTS, PARTS = 6, 8
"""How many of the bets are made: on events, and on parts of events, which vary less, so that higher bets pay."""


def is_shared(parts: NDArray[np.float64], shape: tuple[int, ...], /) -> bool:
    """Whether these are shares of a capital, each row of it 1 in all."""
    return parts.shape == shape and bool((parts >= 0).all()) and bool(np.allclose(parts.sum(axis=-1), 1, atol=1e-6))


def log_evidence(ones: ArrayLike, n: ArrayLike, bound: float, /) -> NDArray[np.float64]:
    """Log of the evidence against "the rate is at most ``bound``": a mixture over all larger rates.

    ∫ (q/r)^E ((1−q)/(1−r))^{t−E} dq / (1−r) over q from r to 1. Under the null its expectation is at most 1 at every
    time, so it exceeds 1/δ at any time with probability at most δ (Ville), even if the rate drifts below the bound.
    """
    e, zeros = np.asarray(ones, dtype=np.float64), np.subtract(n, ones, dtype=np.float64)
    with np.errstate(divide="ignore"):
        tail = np.log(betaincc(e + 1, zeros + 1, bound))
    return np.asarray(_whole_integral(e, zeros, bound) + tail)


def _whole_integral(ones: NDArray[np.float64], zeros: NDArray[np.float64], bound: float) -> NDArray[np.float64]:
    """A limit of `log_evidence`: the mixture over all rates, from 0 on."""
    return np.asarray(betaln(ones + 1, zeros + 1) - log1p(-bound) - (ones * log(bound) + zeros * log1p(-bound)))


@final
@dataclass(frozen=True)
class RateEvidence:
    """Evidence against "the rate is at most ``bound``", in a few numbers.

    The mean capital of two bettors. The first is the mixture of `log_evidence`, fastest if the rate is too high from
    the start. The second redistributes a little of its capital at every step among bets on several rates and no bet, so
    that a long time of low rates does not ruin it. A bound of 1 cannot be exceeded; one of 0 is by a single event. An
    outcome is 0 or 1, or any number between them: then the rate is the mean outcome, and only the second bettor plays.
    """

    bound: float
    ones: float = 0.0
    """The sum of the outcomes."""
    n: int = 0
    of_parts: bool = False
    """Whether outcomes are parts of events."""
    shares: tuple[float, ...] = ()
    """Of the second bettor's capital, in each bet; equal at the start."""
    log_switching: float = 0.0
    """Log of the second bettor's capital."""
    highest: float = 0.0
    """Log of the largest evidence so far."""

    def __post_init__(self) -> None:
        bets = PARTS if self.of_parts else EVENTS
        if not self.shares:
            object.__setattr__(self, "shares", (1 / bets,) * bets)
        if (
            not 0 <= self.bound <= 1
            or not 0 <= self.ones <= self.n <= 2**53
            or not is_shared(np.asarray(self.shares, dtype=np.float64), (bets,))
            or not np.isfinite(self.log_switching)
            or not self.highest >= 0
        ):
            raise InvalidInputError("`text` must be the state of a monitor, got impossible numbers.")

    def update(self, *, ones: int, n: int) -> Self:
        """After ``n`` more samples with ``ones`` events among them, in an order that is not known."""
        if not 0 <= ones <= n:
            raise InvalidInputError(f"The number of events must be between 0 and `n`, got {ones} of {n}.")
        return self._after(np.array([ones], dtype=np.float64), np.array([n])) if n else self

    def observe(self, each: ArrayLike, /) -> Self:
        """After more samples, in the order they came: 0 or 1 each, or from 0 to 1 if they are parts."""
        outcomes = np.atleast_1d(np.asarray(each))
        allowed = (outcomes >= 0) & (outcomes <= 1) if self.of_parts else (outcomes == 0) | (outcomes == 1)
        if outcomes.ndim != 1 or not allowed.all():
            rule, bad = "numbers from 0 to 1" if self.of_parts else "0 and 1", outcomes[~allowed]
            got = f"{bad.flat[0]}" if bad.size else f"shape {outcomes.shape}"
            raise InvalidInputError(f"Outcomes must be a sequence of {rule}, got {got}.")
        if not len(outcomes):
            return self
        return self._after(outcomes.astype(np.float64), np.ones(len(outcomes), dtype=np.int64))

    def _after(self, ones: NDArray[np.float64], sizes: NDArray[np.int64]) -> Self:
        totals, counts = np.cumsum(np.append(self.ones, ones))[1:], self.n + np.cumsum(sizes)
        total, n = min(float(totals[-1]), float(counts[-1])), int(counts[-1])
        if self.bound in (0, 1):
            return replace(self, ones=total, n=n, highest=inf if self.bound == 0 and total else 0.0)
        odds = logit(self.bound) + EXCESS[: len(self.shares)]
        if_one, if_zero = log_expit(odds) - log(self.bound), log_expit(-odds) - log1p(-self.bound)
        shares, switching = np.array(self.shares), np.empty(len(ones))
        jump_rates(ones, sizes, if_one, if_zero, shares, self.log_switching, switching)
        return replace(
            self,
            ones=total,
            n=n,
            shares=tuple(shares.tolist()),
            log_switching=float(switching[-1]),
            highest=self._highest(totals, counts, switching),
        )

    def _highest(self, ones: NDArray[np.float64], n: NDArray[np.int64], switching: NDArray[np.float64]) -> float:
        """Log of the largest evidence so far; the mixture is computed only where it can be larger.

        Where its limit is largest comes first: the evidence there rules out nearly all the others.
        """
        if self.of_parts:
            return max(self.highest, float(switching.max()))
        highest, kept = self.highest, np.flatnonzero((ones > self.bound * n) | (switching > self.highest))
        if len(kept) > FEW:
            mixture = _whole_integral(ones[kept], n[kept] - ones[kept], self.bound)
            limits = _mean_capital(mixture, switching[kept]) + SLACK
            first = kept[[np.argmax(limits)]]
            highest = max(highest, float(self._of_both(ones[first], n[first], switching[first])[0]))
            kept = kept[limits > highest]
        return max(highest, float(self._of_both(ones[kept], n[kept], switching[kept]).max(initial=0.0)))

    def _of_both(self, ones: ArrayLike, n: ArrayLike, switching: ArrayLike) -> NDArray[np.float64]:
        """Log of the mean capital."""
        if self.of_parts:
            return np.asarray(switching)
        return _mean_capital(log_evidence(ones, n, self.bound), switching)

    @property
    def value(self) -> float:
        """The evidence now."""
        if not 0 < self.bound < 1 or not self.n:
            return inf if self.bound == 0 and self.ones else 1.0
        return exp(min(float(self._of_both(self.ones, self.n, self.log_switching)), 700.0))

    def reached(self, delta: float, /) -> bool:
        """Whether the evidence has ever reached 1/δ."""
        return self.highest >= (-log(delta) if delta > 0 else inf)


def _mean_capital(log_mixture: NDArray[np.float64], log_switching: ArrayLike) -> NDArray[np.float64]:
    """Log of the mean of the two capitals."""
    return np.asarray(np.logaddexp(log_mixture, log_switching) - log(2))
