"""How many of its comparisons a claim speaks of: its hedge, as a rule that counts."""

from collections.abc import Callable, Sequence
from enum import Enum
from math import ceil

from abstain_reproduction.outcome import Outcome

SELDOM = 0.1
"""The share of exceptions up to which something happens rarely."""
OUTSIDE = 0.05


class Quantifier(Enum):
    """Which share of the comparisons must speak for a claim."""

    ALL = "all"
    """Every one; a single comparison against it refutes it."""
    NEARLY_ALL = "nearly all"
    """Nine in ten: what is said to happen rarely may happen in the tenth."""
    MOST = "most"
    """More than half."""
    SOME = "some"
    """At least one."""

    def needed(self, n: int, /) -> int:
        """How many of n comparisons must speak for the claim.

        >>> [quantifier.needed(12) for quantifier in Quantifier]
        [12, 11, 7, 1]
        """
        match self:
            case Quantifier.ALL:
                return n
            case Quantifier.NEARLY_ALL:
                return ceil((1 - SELDOM) * n - 1e-9)
            case Quantifier.MOST:
                return n // 2 + 1
            case Quantifier.SOME:
                return 1

    def outcome(self, outcomes: Sequence[Outcome], /) -> Outcome:
        """Held where enough comparisons are for it, not held where too many are against it.

        >>> Quantifier.MOST.outcome(["held", "held", "not held"]), Quantifier.ALL.outcome(["held", "held", "not held"])
        ('held', 'not held')
        """
        needed = self.needed(len(outcomes))
        if outcomes.count("held") >= needed:
            return "held"
        return "not held" if outcomes.count("not held") > len(outcomes) - needed else "undecided"


def jointly(judges: Sequence[Callable[[float], Outcome]], /) -> list[Outcome]:
    """Decide several comparisons so that all decisions are right together with probability 95%.

    A judge decides one comparison by an interval that misses the truth with the probability it is given. Decisions for
    the claim and decisions against it are two families, each corrected by Holm's method: with m comparisons open in a
    direction, each is judged by an interval that misses it by 0.05/m, of which one tail counts, and every decision
    makes the next one easier.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    outcomes: list[Outcome] = ["undecided"] * len(judges)
    directions: tuple[Outcome, ...] = ("held", "not held")
    for direction in directions:
        open_ = set(range(len(judges)))
        while open_:
            decided = {index for index in open_ if judges[index](OUTSIDE / len(open_)) == direction}
            if not decided:
                break
            open_ -= decided
            for index in decided:
                outcomes[index] = direction
    return outcomes
