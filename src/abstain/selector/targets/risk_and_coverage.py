"""`RiskAndCoverage`: a risk and a coverage, both guaranteed; an error lists achievable pairs."""

from dataclasses import dataclass
from typing import ClassVar, final

from abstain.selector.targets.target import ScoredRows, Target, Thresholds


@final
@dataclass(frozen=True, repr=False)
class RiskAndCoverage(Target):
    """At most ``risk`` of the accepted rows are wrong and at least ``coverage`` of all rows are accepted.

    Parameters
    ----------
    risk, coverage : float
        The largest share of errors, and the smallest share of rows accepted.
    delta : float
        The probability with which either may fail.
    method : str, optional
        Only `risk_and_coverage`.

    Examples
    --------
    >>> RiskAndCoverage(0.02, 0.8)
    RiskAndCoverage(0.02, 0.8)
    """

    target_name: ClassVar = "risk and coverage"
    keys: ClassVar = ("risk", "coverage")
    risk: float
    coverage: float

    @property
    def alpha(self) -> float:
        """Scores are compared by the AURC up to this coverage."""
        return self.coverage

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold that keeps both."""
        return self.by_rule(rows, rows.outcomes, risk=self.risk, coverage=self.coverage), None
