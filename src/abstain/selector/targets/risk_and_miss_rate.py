"""`RiskAndMissRate`: a risk among the accepted and miss rates of true classes, by one threshold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, final

from abstain.selector.targets.miss_rate import by_rule_of_classes, check_rates
from abstain.selector.targets.target import ScoredRows, Target, Thresholds


@final
@dataclass(frozen=True, repr=False)
class RiskAndMissRate(Target):
    """At most ``risk`` of the accepted rows are wrong, and few rows of some true classes are missed, by one threshold.

    Parameters
    ----------
    risk : float
        The largest share of errors among the accepted.
    miss_rate : dict of str or int to float
        By true class, the largest share of all its rows that may be accepted with another answer.
    delta : float
        The probability with which any of these may fail.
    method : str, optional
        Only `risk_and_miss_rate`.

    Examples
    --------
    >>> RiskAndMissRate(0.02, {"fraud": 0.05})
    RiskAndMissRate(0.02, {'fraud': 0.05})
    """

    target_name: ClassVar = "risk and miss rate"
    keys: ClassVar = ("risk", "miss_rate")
    risk: float
    miss_rate: Mapping[str | int, float] = field(metadata={"check": check_rates})

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold that keeps all of them."""
        return by_rule_of_classes(self, self.miss_rate, rows, risk=self.risk), None
