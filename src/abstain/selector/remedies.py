"""What it costs in coverage to keep the risk in every group, remedy by remedy."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.selector.calibrate import calibrate
from abstain.selector.choice import Scores
from abstain.selector.targets import JointRisk, Risk
from abstain.selector.targets.target import Target
from abstain.thresholds.refusal import NoSafeThresholdError


@final
@dataclass(frozen=True)
class Remedy:
    """A way to calibrate, and what it does to the groups of other rows."""

    name: str
    target: str
    """The target as it is written in Python."""
    coverage: float | None
    """The share of all rows accepted; None where nothing could be certified."""
    lowest_coverage: float | None
    """That of the group of which the least is accepted."""
    highest_risk: float | None
    """The share of errors among the accepted, of the group where it is highest."""
    reason: str = ""
    """Why nothing could be certified."""


def remedies(
    calibration: Outputs,
    fresh: Outputs,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    score: Scores | None = None,
    seed: int = 0,
) -> list[Remedy]:
    """Three ways to certify a risk, on other rows: for all rows, in each group by one threshold, or by several.

    Parameters
    ----------
    calibration : Outputs
        Labelled rows with groups (``domain``), on which each way is calibrated.
    fresh : Outputs
        Other labelled rows with groups, on which coverage and risk are observed.
    risk : float
        The largest share of errors among the accepted: of all rows in the first way, in each group in the others.
    delta : float
        The probability with which a guarantee may fail.
    score : str, score or list of these, optional
        The confidence, as in `calibrate`.
    seed : int
        Of the draws of rows.

    Returns
    -------
    list of Remedy

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> first, second = digits().split(0.5, seed=0)
    >>> [remedy.name for remedy in remedies(first, second, risk=0.2)]
    ['one threshold', 'one threshold, every group kept', 'a threshold for each group']
    """
    targets: dict[str, Target] = {
        "one threshold": Risk(risk, delta=delta),
        "one threshold, every group kept": JointRisk(risk, risk, per="domain", delta=delta),
        "a threshold for each group": Risk(risk, per="domain", delta=delta),
    }
    rows = []
    for name, target in targets.items():
        try:
            selector = calibrate(calibration, target, score=score, seed=seed)
        except NoSafeThresholdError as error:
            rows.append(Remedy(name, repr(target), None, None, None, str(error).split(". ")[0]))
            continue
        accepted, errors = selector.accepts(fresh), selector.outcomes(fresh)
        rows.append(Remedy(name, repr(target), float(accepted.mean()), *_extremes(fresh, accepted, errors)))
    return rows


def _extremes(fresh: Outputs, accepted: NDArray[np.bool_], errors: NDArray[Any]) -> tuple[float | None, float | None]:
    """The lowest coverage and the highest risk of a group."""
    assert fresh.domain is not None
    inside = [fresh.domain == name for name in np.unique(fresh.domain)]
    risks = [float(errors[rows & accepted].mean()) for rows in inside if (rows & accepted).any()]
    return min(float(accepted[rows].mean()) for rows in inside), max(risks, default=None)
