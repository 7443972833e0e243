"""`JointRisk`: one threshold with a risk overall and another in each group."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, final

from abstain._errors import InvalidInputError
from abstain.selector.targets.risk import check_per, check_when_impossible, fallback, group_names
from abstain.selector.targets.target import Per, ScoredRows, Target, Thresholds, WhenImpossible
from abstain.thresholds.threshold import Threshold


@final
@dataclass(frozen=True, repr=False)
class JointRisk(Target):
    """At most ``risk`` of the accepted rows are wrong, and ``group_risk`` in each group, by one threshold.

    Parameters
    ----------
    risk, group_risk : float
        The largest share of errors overall, and in each group.
    per : {"class", "domain", "group"} or None
        What the groups are: ``"class"`` or ``"domain"`` (also called ``"group"``).
    delta : float
        The probability with which any of these may fail.
    method : str, optional
        Only `joint_risk`.
    when_impossible : {"raise", "reject_all"}
        ``"reject_all"`` makes a selector that accepts nothing where no threshold is certified.

    Examples
    --------
    >>> JointRisk(0.02, 0.05, per="domain")
    JointRisk(0.02, 0.05, per='domain')
    """

    target_name: ClassVar = "risk overall and per group"
    keys: ClassVar = ("risk", "group_risk")
    risk: float
    group_risk: float
    per: Per | None = field(default=None, kw_only=True, metadata={"check": check_per})
    when_impossible: WhenImpossible = field(default="raise", kw_only=True, metadata={"check": check_when_impossible})

    def check(self) -> None:
        """Raise an error for options that do not go together."""
        if self.per is None:
            raise InvalidInputError("`group_risk` must come with `per`, which says what the groups are, got no `per`.")

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold that keeps both risks."""
        assert self.per is not None
        names = group_names(self.per, rows)
        threshold = self.by_rule(rows, rows.outcomes, names, risk=self.risk, group_risk=self.group_risk)
        return replace(threshold, further=tuple(replace(each, per=self.per) for each in threshold.further)), None

    def fallback(self, n: int, /) -> Threshold | None:
        """Rejecting everything, where that was asked for."""
        return fallback(n, self.risk, self.delta, self.when_impossible)
