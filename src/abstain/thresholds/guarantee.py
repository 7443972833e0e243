"""What is guaranteed of a threshold, as a value; the words are made from it here and nowhere else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, Self, final

from abstain._errors import InvalidInputError

Counting = Literal["rows", "clusters"]
Event = Literal["wrong", "loss", "rejected", "missed"]


@final
class Quantity(StrEnum):
    """What a guarantee limits. Files store the value; what is tested depends on the member, never on its words.

    Attributes
    ----------
    words : str
        The quantity in a sentence.
    event : str or None
        What may happen to few rows only, where fresh rows can count it: ``wrong``, ``loss``, ``rejected`` or
        ``missed``.
    """

    words: str
    event: Event | None

    def __new__(cls, value: str, words: str, event: Event | None = None) -> Self:
        """A member with its words and its event."""
        member = str.__new__(cls, value)
        member._value_, member.words, member.event = value, words, event
        return member

    RISK = "risk", "the share of errors among accepted rows", "wrong"
    COVERAGE = "coverage", "the share of rows accepted", "rejected"
    COST = "cost", "the expected cost per row"
    GROUP_RISK = "group_risk", "the share of errors among accepted rows of each of the groups", "wrong"
    BATCH_RISK = "batch_risk", "the share of errors among the accepted rows of this batch"
    ACCEPTED_ERROR = "accepted_error", "the probability that a row is accepted and wrong"
    TPR = "tpr", "the share of in-distribution rows accepted"
    REVIEW = "review", "the share of rows rejected", "rejected"
    MISS_RATE = "miss_rate", "the share accepted with another answer among rows of the true class", "missed"
    SET_COVERAGE = "set_coverage", "the share of rejected rows whose set of classes holds the truth"
    LOSS = "loss", "the mean loss among accepted rows", "loss"
    GROUP_LOSS = "group_loss", "the mean loss among accepted rows of each of the groups", "loss"
    ACCEPTED_LOSS = "accepted_loss", "the mean loss over all rows, none for a rejected one"

    @property
    def is_risk(self) -> bool:
        """Whether it is the selective risk: the share of errors, or the mean loss."""
        return self in (Quantity.RISK, Quantity.LOSS)

    @property
    def is_share(self) -> bool:
        """Whether it is a share, which may be written in percent, and no cost or loss."""
        return self is not Quantity.COST and self not in GRADED.values()

    @property
    def graded(self) -> "Quantity":
        """The same quantity where answers have losses between 0 and 1 and are not right or wrong.

        >>> Quantity.RISK.graded.words
        'the mean loss among accepted rows'
        """
        return GRADED.get(self, self)


GRADED = {
    Quantity.RISK: Quantity.LOSS,
    Quantity.GROUP_RISK: Quantity.GROUP_LOSS,
    Quantity.ACCEPTED_ERROR: Quantity.ACCEPTED_LOSS,
}
OF_ONE_GROUP = {Quantity.GROUP_RISK: Quantity.RISK, Quantity.GROUP_LOSS: Quantity.LOSS}


@final
@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A quantity, its limit, with what probability and for which distribution it holds, and its caveats.

    Attributes
    ----------
    quantity : Quantity
        What is limited.
    target : float or None
        What was asked for; None where nothing was.
    bound : float or None
        What is certified, at least as good as the target; the target where None.
    relation : {"at most", "at least"}
        Whether the quantity is at most or at least that.
    probability : float or None
        With which it holds, over the draw of the calibration sample; None where it holds in expectation.
    distribution : str
        The rows it is about.
    counting : {"rows", "clusters"}
        What counts once: every row, or every cluster of rows, by a row of it drawn at random.
    largest : int or None
        Rows that a cluster has at most; None where rows are independent, or clusters count.
    groups : tuple of str
        The groups in each of which it holds; none where it is about all rows together.
    per : str or None
        What these are: ``class`` for predicted classes, or the column that names them; None for true classes.
    caveats : tuple of str
        What it assumes besides, or why it is no guarantee.
    proved : bool
        Whether there is a proof for finite samples; the first caveat says why where there is none.

    Examples
    --------
    >>> print(Guarantee(quantity=Quantity.RISK, target=0.05, probability=0.9, distribution="rows drawn as these 100"))
    the share of errors among accepted rows is at most 0.05, with probability at least 0.9 over the calibration sample,
    for rows drawn as these 100.
    """

    quantity: Quantity
    target: float | None
    bound: float | None = None
    relation: Literal["at most", "at least"] = "at most"
    probability: float | None
    distribution: str
    counting: Counting = "rows"
    largest: int | None = None
    groups: tuple[str, ...] = ()
    per: str | None = None
    caveats: tuple[str, ...] = ()
    proved: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.quantity, Quantity):
            raise InvalidInputError(f"`quantity` must be a Quantity, got {self.quantity!r:.60}.")
        if self.target is None and self.bound is None:
            raise InvalidInputError("A guarantee must have a target or a bound, got neither.")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise InvalidInputError(f"`probability` must be between 0 and 1, got {self.probability}.")

    def noting(self, caveat: str, /) -> Self:
        """The guarantee with one more caveat."""
        return replace(self, caveats=(*self.caveats, caveat))

    def unproved(self, reason: str, /) -> Self:
        """What is aimed at where there is no proof, and why there is none."""
        return replace(self, proved=False, caveats=(reason, *self.caveats))

    def of_each(self) -> dict[str, Self]:
        """By name, what is guaranteed of each of the groups whose risk is limited; none where it is no such guarantee.

        >>> groups = {"quantity": Quantity.GROUP_RISK, "groups": ("a", "b")}
        >>> both = Guarantee(**groups, target=0.1, probability=0.9, distribution="rows")
        >>> both.of_each()["a"].about
        'the share of errors among accepted rows'
        """
        quantity = OF_ONE_GROUP.get(self.quantity)
        return {} if quantity is None else {name: replace(self, quantity=quantity, groups=()) for name in self.groups}

    def of_losses(self) -> Self:
        """The same guarantee about losses between 0 and 1 instead of errors."""
        return replace(self, quantity=self.quantity.graded)

    @property
    def certified(self) -> float:
        """What is certified: the bound, or else the target."""
        value = self.target if self.bound is None else self.bound
        assert value is not None
        return value

    @property
    def asked(self) -> float:
        """What was asked for, or what is certified where nothing was."""
        return self.certified if self.target is None else self.target

    @property
    def limit(self) -> float:
        """The largest share of errors or mean loss among the accepted, share of rows rejected, or of rows missed."""
        if self.quantity.event is None:
            raise InvalidInputError(f"`quantity` must be a risk or a coverage to have a limit, got {self.quantity}.")
        return self.asked if self.relation == "at most" else 1 - self.asked

    @property
    def about(self) -> str:
        """The quantity in words, with the groups where there are some."""
        shown = self.groups if len(self.groups) <= 12 else (*self.groups[:10], f"… ({len(self.groups)} in all)")
        return f"{self.quantity.words} {', '.join(shown)}".rstrip()

    def __str__(self) -> str:
        return self._words(lambda value: f"{value:.4g}")

    @property
    def in_percent(self) -> str:
        """The same in words, shares in percent.

        >>> rows = "rows like these"
        >>> print(Guarantee(quantity=Quantity.RISK, target=0.05, probability=0.9, distribution=rows).in_percent)
        the share of errors among accepted rows is at most 5%, with probability at least 90% over the calibration
        sample, for rows like these.
        """
        return self._words(lambda value: f"{100 * value:.4g}%")

    def _words(self, written: Callable[[float], str]) -> str:
        amount = written(self.asked) if self.quantity.is_share else f"{self.asked:.4g}"
        chance = (
            "in expectation over the calibration sample"
            if self.probability is None
            else f"with probability at least {written(self.probability)} over the calibration sample"
        )
        words = f"{self.about} is {self.relation} {amount}, {chance}, for {self.distribution}"
        first, *rest = self.caveats or ("",)
        if not self.proved:
            words = f"no finite-sample guarantee, {first}; aimed at: {words}"
        else:
            rest = [first, *rest] if first else []
        return "; ".join([words, *rest]) + "."
