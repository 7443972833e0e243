"""What is promised of a threshold, as a value; the words are made from it here and nowhere else."""

from dataclasses import dataclass, replace
from typing import Literal, Self, final

RISK = "the share of errors among accepted rows"
COVERAGE = "the share of rows accepted"
COST = "the expected cost per row"
Counting = Literal["rows", "clusters"]


@final
@dataclass(frozen=True, kw_only=True)
class Promise:
    """A quantity, what it is kept to, with what probability, for which distribution, and what else to know.

    >>> print(Promise(quantity=RISK, target=0.05, probability=0.9, distribution="rows drawn as these 100"))
    the share of errors among accepted rows is at most 0.05, with probability at least 0.9 over the calibration sample,
    for rows drawn as these 100.
    """

    quantity: str
    target: float | None
    """What was asked for, None where nothing was."""
    bound: float | None = None
    """What is certified, at least as good as the target; the target where None."""
    relation: Literal["at most", "at least"] = "at most"
    probability: float | None
    """Of the promise being kept, over the draw of the calibration sample; None: it is kept in expectation."""
    distribution: str
    """The rows it is about."""
    counting: Counting = "rows"
    """What counts once: every row, or every cluster of rows, by a row of it drawn at random."""
    largest: int | None = None
    """The guarantee is about clusters of at most so many rows; None where rows are independent, or clusters count."""
    caveats: tuple[str, ...] = ()
    """What it rests on besides, or why it is no promise."""
    proved: bool = True
    """Whether there is a proof for finite samples; the first caveat says why where there is none."""

    def __post_init__(self) -> None:
        if self.target is None and self.bound is None:
            raise ValueError("A promise must have a target or a bound, got neither.")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise ValueError(f"`probability` must be between 0 and 1, got {self.probability}.")

    def noting(self, caveat: str, /) -> Self:
        """The promise with one more thing to know."""
        return replace(self, caveats=(*self.caveats, caveat))

    def unproved(self, reason: str, /) -> Self:
        """What is aimed at where there is no proof, and why there is none."""
        return replace(self, proved=False, caveats=(reason, *self.caveats))

    @property
    def certified(self) -> float:
        """What is certified: the bound, or else the target."""
        found = self.target if self.bound is None else self.bound
        assert found is not None
        return found

    @property
    def limit(self) -> float:
        """Of errors among the accepted, or of rows rejected: what was asked for, or certified where nothing was."""
        asked = self.certified if self.target is None else self.target
        return asked if self.quantity == RISK else 1 - asked

    def __str__(self) -> str:
        number = self.certified if self.target is None else self.target
        chance = (
            "in expectation over the calibration sample"
            if self.probability is None
            else f"with probability at least {self.probability:.4g} over the calibration sample"
        )
        words = f"{self.quantity} is {self.relation} {number:.4g}, {chance}, for {self.distribution}"
        first, *rest = self.caveats or ("",)
        if not self.proved:
            words = f"no finite-sample guarantee, {first}; aimed at: {words}"
        else:
            rest = [first, *rest] if first else []
        return "; ".join([words, *rest]) + "."
