"""How likely `step_down` is to succeed, by its own segments, ranks tested and levels."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from abstain._arguments import check_number
from abstain._arrays import Floats, Ints
from abstain._errors import InvalidInputError
from abstain.thresholds.critical_values import (
    DECAY,
    NEGLIGIBLE,
    at_most,
    critical_values,
    errors_allowed,
    first_ranks,
    walk_chances,
)
from abstain.thresholds.sample import check_target
from abstain.thresholds.segments import few_errors, levels_of, segments, tested_in_turn
from abstain.thresholds.step_down import FEW, check_delta

EXACT = 60  # n·risk, up to which the critical values are those of the rule, and beyond which they are bounded
SPENT = 0.4  # of its level: the least that a test in the segment of the first start has; tested against the rule
SPENT_LOWER = 0.1  # the same in those of the lower starts, which spend it on more tests
BEYOND = 1.1  # times the rows asked for: as far as the errors go on as they are among these
GONE = 1e-15  # chances that are left aside


class Tested(NamedTuple):
    """The ranks of a segment that are tested in turn, and how few errors pass at each."""

    first: Ints
    """(J,) the first rank that passes with each of them."""
    last: Ints
    """(J,) where it is tested."""
    in_turn: Ints
    """(J,) the errors allowed if all before have passed; −1 where nothing passes."""
    at_once: Ints
    """(J,) those allowed if none has."""


@dataclass(frozen=True)
class Assumption:
    """What a plan is made for: the target, the share of errors among the rows accepted, the probability of success."""

    risk: float
    delta: float
    error_rate: float
    power: float

    def __post_init__(self) -> None:
        check_target("risk", self.risk)
        check_delta(self.delta)
        check_target("power", self.power)
        check_number("error_rate", self.error_rate)
        if not 0 <= self.error_rate < self.risk:
            raise InvalidInputError(
                f"`error_rate` must be at least 0 and below `risk` ({self.risk:g}), got {self.error_rate}."
            )


def likely(
    n: int,
    accepted: int,
    assumed: Assumption,
    /,
    *,
    rising: bool = False,
    labelled: int | None = None,
    beyond: float = BEYOND,
) -> bool:
    """Whether `step_down` accepts at least ``accepted`` of n rows as often as asked.

    The errors among these come at a single rate whatever the confidence, also up to the next rank tested; with
    ``rising`` the rate grows with the square of the rank, there and beyond. Either all ranks tested up to there pass in
    turn, or the last passes at what the segment began with; the more likely of the two counts, and nothing that a
    segment leaves to the next. Only the first ``labelled`` ranks can pass, and a segment that begins above ``accepted``
    counts if it does so within ``beyond`` times these rows.
    """
    risk, delta = assumed.risk, assumed.delta
    parts = segments(n, risk, delta) if n > FEW else ()
    for number, segment in enumerate(parts):
        rank = max(accepted, segment.first)
        if rank <= min(segment.last, beyond * accepted):
            at, limits, at_once = _up_to(rank, n, number, risk, delta)
            if labelled is not None and at[-1] > labelled:
                continue
            means = assumed.error_rate * at * ((at / accepted) ** 2 if rising else 1.0)
            if _passes(
                at, limits, np.minimum(np.diff(means, prepend=0.0), np.diff(at, prepend=0)), at_once, assumed.power
            ):
                return True
    return False


def _up_to(rank: int, n: int, number: int, risk: float, delta: float) -> tuple[Ints, Ints, int]:
    """The ranks tested up to the one that certifies ``rank``, the errors they allow, and those it allows at once."""
    tests = ranks_tested(n, number, risk, delta)
    cell = int(np.searchsorted(tests.first, rank, side="right")) - 1
    end = max(rank, int(tests.last[cell])) if few_errors(n, risk) else rank
    return np.append(tests.last[:cell], end), tests.in_turn[: cell + 1], int(tests.at_once[cell])


def _passes(at: Ints, limits: Ints, means: Floats, at_once: int, power: float) -> bool:
    """Whether walks of these mean errors from each rank tested to the next stay within the limits as often as asked."""
    rates = means / np.diff(at, prepend=0)
    overall = float(means.sum() / at[-1])
    if at_most(at_once, at[-1], overall) >= power:
        return True
    return bool(at_most(limits[-1], at[-1], overall) >= power) and all_in_turn(at, limits, rates) >= power


@lru_cache(maxsize=512)
def ranks_tested(n: int, number: int, risk: float, delta: float) -> Tested:
    """The tests of one of the segments, none of them with more errors than the rule allows."""
    parts = segments(n, risk, delta)
    segment = parts[number]
    levels = levels_of(parts, number, delta)
    if few_errors(n, risk):
        last, allowed = tested_in_turn(segment, risk, levels[0], levels[0])
        first = np.append(segment.first, last + 1)  # the last one lends its value to all after it
        allowed, last = np.append(allowed, allowed[-1]), np.append(last, last[-1])
        return Tested(first, last, allowed, np.full(len(first), -1))
    ranks = first_ranks(n, segment.first, segment.last)
    last = np.append(ranks[1:] - 1, segment.last)
    if n * risk <= EXACT:
        table = critical_values(n, risk, segment.first, segment.last, levels)[0]
        diagonal = np.array([table.beginning(cell)[0] for cell in range(len(ranks))], dtype=np.int64)
        return Tested(ranks, last, diagonal, table.beginning(0).astype(np.int64))
    level = levels[0] * (SPENT if segment.last == n else SPENT_LOWER)
    fading = level * np.exp((segment.first - ranks) / (DECAY * n))
    at_once = np.where(fading > NEGLIGIBLE * levels[0], errors_allowed(ranks, risk, fading), -1)
    return Tested(ranks, last, errors_allowed(ranks, risk, level), at_once)


def all_in_turn(at: Ints, limits: Ints, rates: Floats, /) -> float:
    """P(a walk that goes up at these rates from each rank to the next is at most at the limit at each)."""
    walk, bottom = np.ones(1), 0
    for steps, limit, rate in zip(np.diff(at, prepend=0).tolist(), limits.tolist(), rates.tolist(), strict=True):
        if 0 < rate < 1:
            least, step = _step(steps, rate)
            walk, bottom = np.convolve(walk, step), bottom + least
        elif rate:
            bottom += steps
        kept = np.flatnonzero(walk[: max(limit - bottom + 1, 0)] > GONE)
        if not kept.size:
            return 0.0
        walk, bottom = walk[kept[0] : kept[-1] + 1], bottom + int(kept[0])
    return float(walk.sum())


@lru_cache(maxsize=4096)
def _step(steps: int, rate: float) -> tuple[int, Floats]:
    least, chances = walk_chances(np.array([steps]), rate)
    return int(least[0]), chances[0][: np.flatnonzero(chances[0] > GONE)[-1] + 1]
