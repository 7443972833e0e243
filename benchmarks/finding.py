"""The result of a benchmark: a number, what it is compared with, and its goal."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from typing import Literal

ROUNDS = 7
Kind = Literal["faster", "slower", "seconds", "megabytes", "exponent", "share"]
UNITS = {"faster": "× faster", "slower": "× the time", "seconds": " s", "megabytes": " MB", "exponent": "", "share": ""}


@dataclass(frozen=True)
class Finding:
    """A number with its goal: "faster" must be at least the goal, all others at most."""

    what: str
    against: str
    kind: Kind
    value: float
    goal: float | None = None
    ours: float | None = None
    """Our seconds."""
    peer: float | None = None
    """The peer's seconds."""

    @property
    def met(self) -> bool:
        """Whether the goal is reached; without a goal, always."""
        if self.goal is None:
            return True
        return self.value >= self.goal if self.kind == "faster" else self.value <= self.goal

    def words(self) -> str:
        """One line."""
        times = "" if self.ours is None else f" ({_duration(self.ours)} against {_duration(self.peer or 0)})"
        bound = "at least" if self.kind == "faster" else "at most"
        goal = "" if self.goal is None else f"; {bound} {self.goal:g}{'' if self.met else ', MISSED'}"
        return f"{self.what}, {self.against}: {self.value:.3g}{UNITS[self.kind]}{times}{goal}"


def faster(
    what: str, ours: Callable[[], object], against: str, peer: Callable[[], object], *, goal: float,
    rounds: int = ROUNDS, times: float = 1,
) -> Finding:  # fmt: skip
    """How many times faster we are than a peer, whose time counts ``times`` over."""
    mine, theirs = shortest(ours, peer, rounds=rounds)
    return Finding(what, against, "faster", times * theirs / mine, goal, mine, times * theirs)


def slower(
    what: str, ours: Callable[[], object], against: str, limit: Callable[[], object], *, goal: float,
    rounds: int = ROUNDS,
) -> Finding:  # fmt: skip
    """How many times longer we take than an unavoidable cost, such as one read of the same bytes."""
    mine, least = shortest(ours, limit, rounds=rounds)
    return Finding(what, against, "slower", mine / least, goal, mine, least)


def exponent(what: str, works: Mapping[int, Callable[[], object]], *, goal: float, rounds: int = 3) -> Finding:
    """The slope of log time over log size, from the smallest size to the largest: 1 is linear."""
    sizes = sorted(works)
    times = shortest(*(works[size] for size in sizes), rounds=rounds)
    slope = log(times[-1] / times[0]) / log(sizes[-1] / sizes[0])
    return Finding(what, f"{sizes[0]:,} to {sizes[-1]:,}", "exponent", slope, goal)


def shortest(*sides: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The shortest time of each side, measured in turn, since other load can only add time."""
    best = [float("inf")] * len(sides)
    for side in sides:  # compile, allocate, warm up
        side()
    for _ in range(rounds):
        for k, side in enumerate(sides):
            start = time.perf_counter()
            side()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def _duration(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 10 else f"{seconds:,.0f} s"
