"""`estimate_risk`: accuracy, selective risk and coverage of a selector on rows without labels."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._names import check_name
from abstain._text import listed
from abstain.monitor.estimates import RISK_METHODS
from abstain.monitor.estimates.case import ShiftCase
from abstain.outputs import Outputs
from abstain.outputs import validation as check
from abstain.outputs.outputs import expect_outputs
from abstain.selector import Selector
from abstain.thresholds.guarantee import Quantity

FEW = 20  # errors among accepted reference rows, below which the words warn
NO_GUARANTEE = "An estimate, not a guarantee: without labels no method can tell whether its assumption holds."


@final
@dataclass(frozen=True, kw_only=True)
class MethodEstimate:
    """What one method estimates for the new rows.

    Attributes
    ----------
    method : str
        The name of the method.
    risk : float
        Mean loss of the accepted rows.
    accuracy : float
        Share of all rows that are right, accepted or not; 1 minus the mean loss where answers are graded.
    """

    method: str
    risk: float
    accuracy: float


@final
@dataclass(frozen=True, kw_only=True)
class ObservedRates:
    """What was observed on the labelled reference rows.

    Attributes
    ----------
    rows : int
        The number of reference rows.
    accepted : int
        How many of them are accepted.
    errors : float
        Errors among the accepted; the sum of losses where answers are graded.
    accuracy : float
        Share of them that are right; 1 minus the mean loss where answers are graded.
    """

    rows: int
    accepted: int
    errors: float
    accuracy: float

    @property
    def risk(self) -> float:
        """Mean loss of the accepted rows."""
        return self.errors / self.accepted

    @property
    def coverage(self) -> float:
        """The share of rows accepted."""
        return self.accepted / self.rows


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class RiskEstimate:
    """Accuracy, selective risk and coverage on rows without labels, by several methods; none is a guarantee.

    Attributes
    ----------
    estimates : tuple of MethodEstimate
        By each method that the rows allow, the default first.
    left_out : dict of str
        By the name of a method that the rows do not allow, why.
    rows : int
        The number of new rows.
    accepted : int
        New rows that the selector accepts: counted, not estimated.
    reference : ObservedRates
        What was observed on the labelled reference rows.
    target : float or None
        The selective risk that the selector guarantees for rows like those of its calibration; None if it does not.
    is_graded : bool
        Whether answers have losses, of which risks are means.
    """

    estimates: tuple[MethodEstimate, ...]
    left_out: dict[str, str]
    rows: int
    accepted: int
    reference: ObservedRates
    target: float | None
    is_graded: bool = False

    def __repr__(self) -> str:
        low, high = self.spread
        return (
            f"<RiskEstimate: risk {self.risk:.1%} by {self.method} ({low:.1%} to {high:.1%} by all methods), coverage "
            f"{self.coverage:.1%}; an estimate, not a guarantee>"
        )

    @property
    def method(self) -> str:
        """The method of `risk` and `accuracy`."""
        return self.estimates[0].method

    @property
    def risk(self) -> float:
        """The estimated selective risk, by the default method."""
        return self.estimates[0].risk

    @property
    def accuracy(self) -> float:
        """The estimated accuracy of all rows, by the default method."""
        return self.estimates[0].accuracy

    @property
    def coverage(self) -> float:
        """The share of the new rows that the selector accepts: counted, not estimated."""
        return self.accepted / self.rows

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest selective risk that any method estimates."""
        risks = [each.risk for each in self.estimates]
        return min(risks), max(risks)

    def lines(self) -> list[str]:
        """What is estimated, in plain sentences."""
        known, (low, high) = self.reference, self.spread
        risk = "Mean loss of accepted answers" if self.is_graded else "Selective risk"
        lines = [
            f"{risk} about {self.risk:.1%} (by {self.method}; {low:.1%} to {high:.1%} by all "
            f"{len(self.estimates)} methods), against {known.risk:.1%} on the reference rows.",
            f"Mean loss of all answers about {1 - self.accuracy:.1%}, against {1 - known.accuracy:.1%}."
            if self.is_graded
            else f"Accuracy of all rows about {self.accuracy:.1%}, against {known.accuracy:.1%}.",
            f"Coverage {self.coverage:.1%}, against {known.coverage:.1%}: {self.accepted:,} of {self.rows:,} rows are "
            "accepted, which is counted, not estimated.",
        ]
        if self.target is not None:
            lines.append(self._beside_target(self.target))
        if known.errors < FEW:
            few = (
                f"The losses of the {known.accepted:,} accepted reference rows add up to only {known.errors:.6g}"
                if self.is_graded
                else f"Only {known.errors:.6g} of the {known.accepted:,} accepted reference rows are wrong"
            )
            lines.append(f"{few}, so that the estimates are rough.")
        return [*lines, f"{NO_GUARANTEE} A few hundred labels certify a new threshold: abstain recertify."]

    def _beside_target(self, target: float) -> str:
        low, high = self.spread
        where = "below" if high <= target else "above" if low > target else "on both sides of"
        return f"The estimates are {where} the {target:.6g} that the selector guarantees for rows like its calibration."

    def summary(self) -> str:
        """The same as one text, a sentence or two in each line."""
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        headline = {"method": self.method, "risk": self.risk, "accuracy": self.accuracy, "coverage": self.coverage}
        known = asdict(self.reference) | {"risk": self.reference.risk, "coverage": self.reference.coverage}
        return {"guarantee": False, **headline, "spread": list(self.spread)} | asdict(self) | {"reference": known}


def estimate_risk(
    selector: Selector,
    unlabelled: Outputs,
    /,
    *,
    reference: Outputs,
    methods: Sequence[str] | None = None,
) -> RiskEstimate:
    """Estimate accuracy and selective risk of a selector on rows without labels, by several methods.

    None of the estimates is a guarantee: each rests on an assumption about the shift that only labels can check.
    Coverage needs no labels and is counted. Use it to see whether a shift may have cost accuracy before labels come;
    `abstain.selector.Recertification` certifies a new threshold from a few hundred of them.

    Parameters
    ----------
    selector : Selector
        What decides which rows are accepted.
    unlabelled : Outputs
        New rows; labels are not read if there are any.
    reference : Outputs
        Labelled rows from before the shift, such as those of calibration.
    methods : sequence of str, optional
        Names among `abstain.monitor.RISK_METHODS`, the first one the default of the result; by default all that the
        rows allow, in the order of the registry.

    Returns
    -------
    RiskEstimate
        The estimates of each method, and the spread between them.

    Raises
    ------
    InvalidInputError
        If the reference has no labels, or the selector accepts none of the rows of either.

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> from abstain.selector import calibrate
    >>> rows = digits()
    >>> clean, noisy = rows[rows.domain == "clean"], rows[rows.domain == "noise"]
    >>> estimate = estimate_risk(calibrate(clean, risk=0.02), noisy, reference=clean)
    >>> estimate.coverage < estimate.reference.coverage
    True
    """
    if not isinstance(selector, Selector):
        raise InvalidTypeError(f"`selector` must be a Selector, got {type(selector).__name__}.")
    expect_outputs(unlabelled, name="unlabelled")
    expect_outputs(reference, name="reference")
    if not reference.is_labelled:
        raise check.unlabelled("reference", "to learn how often rows are wrong from")
    every = ShiftCase.of(selector, reference, unlabelled)
    chosen = every.accepted(selector)
    names, left_out = _usable(methods, every)
    return RiskEstimate(
        estimates=tuple(_estimate(name, every, chosen, len(unlabelled)) for name in names),
        left_out=left_out,
        rows=len(unlabelled),
        accepted=len(chosen.new),
        reference=ObservedRates(
            rows=len(reference),
            accepted=len(chosen.reference),
            errors=float(chosen.losses.sum()),
            accuracy=float((1 - every.losses).sum()) / len(reference),
        ),
        target=_target(selector),
        is_graded=reference.is_graded,
    )


def _estimate(name: str, every: ShiftCase, chosen: ShiftCase, rows: int) -> MethodEstimate:
    """Non-finite rows, which neither case has, are never right and never accepted."""
    method = RISK_METHODS[name]
    return MethodEstimate(method=name, risk=method(chosen), accuracy=(1 - method(every)) * len(every.new) / rows)


def _usable(methods: Sequence[str] | None, case: ShiftCase) -> tuple[list[str], dict[str, str]]:
    """The methods asked for that these rows allow, and why others are left out."""
    if isinstance(methods, str) or (methods is not None and not len(methods)):
        raise InvalidInputError(f"`methods` must be a list of names among {listed(RISK_METHODS)}, got {methods!r}.")
    for name in methods or ():
        check_name("methods", name, RISK_METHODS, rule=f"be among {listed(RISK_METHODS)}")
    asked = list(dict.fromkeys(methods)) if methods is not None else list(RISK_METHODS)
    reasons = {name: RISK_METHODS[name].objection(case) for name in asked}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    usable = [name for name in asked if name not in left_out]
    if not usable:
        raise InvalidInputError(f"`methods` must have a method that these rows allow, got {listed(asked)}.")
    return usable, left_out


def _target(selector: Selector) -> float | None:
    guarantees = (selector.threshold.guarantee, *selector.threshold.further)
    return next((each.limit for each in guarantees if each.quantity is Quantity.RISK), None)
