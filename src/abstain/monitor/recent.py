"""The last rows of a stream, compared with all rows."""

from dataclasses import dataclass, replace
from typing import Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.thresholds.binomial import lower_bound, upper_bound

RECENT_ROWS = 1000
"""How many of the last rows are reported besides all rows."""


@final
@dataclass(frozen=True)
class Recent:
    """The last labels of accepted rows, and the last decisions. Observed: nothing is guaranteed of a window.

    Parameters
    ----------
    window : int
        How many of each are kept.
    errors : str
        Of the last labelled rows, in the order of their decisions: 1 for an error, 0 for a correct answer.
    accepted : str
        Of the last decisions: 1 for accepted, 0 for rejected.
    """

    window: int = RECENT_ROWS
    errors: str = ""
    accepted: str = ""

    def __post_init__(self) -> None:
        if self.window < 1:
            raise InvalidInputError(f"`recent_window` must be at least 1, got {self.window}.")
        if max(len(self.errors), len(self.accepted)) > self.window or set(self.errors + self.accepted) - {"0", "1"}:
            raise InvalidInputError("`text` must be the state of a monitor, got impossible recent rows.")

    def extended(self, what: Literal["errors", "accepted"], values: NDArray[np.float64], /) -> Self:
        """After more labels, 1 for an error, or more decisions, 1 for accepted."""
        last = (np.asarray(values[-self.window :], dtype=np.uint8) + ord("0")).tobytes().decode()
        return replace(self, **{what: (getattr(self, what) + last)[-self.window :]})

    @property
    def risk(self) -> float | None:
        """The share of errors among the last labelled rows; None without labels."""
        return self.errors.count("1") / len(self.errors) if self.errors else None

    @property
    def share(self) -> float | None:
        """The share accepted of the last decisions; None without any."""
        return self.accepted.count("1") / len(self.accepted) if self.accepted else None

    def risk_interval(self, level: float = 0.95, /) -> tuple[float, float]:
        """An interval of Clopper and Pearson for the risk, for this window alone: independent rows, one look."""
        wrong, n = self.errors.count("1"), len(self.errors)
        return lower_bound(wrong, n, (1 - level) / 2), upper_bound(wrong, n, (1 - level) / 2)

    def metrics(self) -> dict[str, float]:
        """What is there, by name."""
        values = {"recent_risk": self.risk, "recent_accepted_share": self.share}
        counts = {"recent_labels": float(len(self.errors)), "recent_decisions": float(len(self.accepted))}
        return counts | {name: value for name, value in values.items() if value is not None}


EMPTY = Recent()
