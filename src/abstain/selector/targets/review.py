"""`Review`: at most so large a share of rows is rejected, and the risk that this leaves is bounded."""

from dataclasses import dataclass
from typing import ClassVar, final

from abstain.selector.targets.target import ScoredRows, Target, Thresholds


@final
@dataclass(frozen=True, repr=False)
class Review(Target):
    """At most ``review`` of the rows are rejected, as many as can be reviewed; with labels, the risk left is bounded.

    `Coverage` of 1 − ``review`` is the same event, without a bound on the risk. For a risk fixed beforehand as well,
    use `RiskAndCoverage`.

    Parameters
    ----------
    review : float
        The largest share of rows to reject.
    delta : float
        The probability with which the share, or the bound on the risk, may fail.
    method : str, optional
        Only `target_review`.

    Examples
    --------
    >>> Review(0.15)
    Review(0.15)
    """

    target_name: ClassVar = "review"
    keys: ClassVar = ("review",)
    review: float

    @property
    def alpha(self) -> float:
        """Scores are compared by the AURC up to the coverage that is left."""
        return 1 - self.review

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold, with a bound on the risk where labels are known."""
        losses = rows.outcomes if rows.outputs.is_labelled else None
        return self.by_rule(rows, losses, review=self.review), None
