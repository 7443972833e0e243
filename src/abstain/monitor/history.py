"""What a watch records between calls: rows and labels counted, alarms, and labels that wait."""

from dataclasses import dataclass
from typing import final

from abstain._errors import InvalidInputError
from abstain.monitor.recent import EMPTY, Recent

WINDOW_ROWS = 1000
"""Accepted decisions after which a missing label is no longer waited for."""


@final
@dataclass(frozen=True)
class LabelQueue:
    """The queue of accepted decisions: a label counts once the labels of all earlier decisions have come or expired.

    So labels count in the order of decisions, and errors may be reported sooner than correct answers. A label expires
    when ``window`` more rows have been accepted; if it comes later, it is left out. Whether it comes in time must not
    depend on the outcome.
    """

    window: int
    late: int
    """Labels that came after they had expired."""
    waiting: int
    """Labels that have come and wait for earlier ones."""
    pending: int
    """Labels that may still come."""


@final
@dataclass(frozen=True)
class Alarm:
    """An alarm that one of the monitors raised, and how it ended."""

    name: str
    row: int
    """The row at which the evidence reached 1/δ, among all rows; 0 if it was not recorded."""
    acknowledged: str | None = None
    """When it was acknowledged; None while it stands."""
    acknowledged_row: int | None = None
    """The last row before that."""
    group: str | None = None
    """The group it is about; None for all rows."""


@final
@dataclass(frozen=True)
class History:
    """What has been watched so far."""

    rows: int = 0
    """Rows read, those counted before among them."""
    accepted: int = 0
    """Decisions to accept."""
    labels: int = 0
    """Labels of samples not known to be rejected."""
    alarms: tuple[Alarm, ...] = ()
    ids: tuple[str, ...] = ("", "")
    """`Memory`, as text."""
    forgotten: int = 0
    """Ids that it had to forget."""
    turns: tuple[tuple[int, ...], ...] = ()
    """The queue of turns, as numbers."""
    label_window: int = WINDOW_ROWS
    late_labels: int = 0
    late_rows: int = 0
    """Rows of clusters that had been counted."""
    too_large: int = 0
    """Clusters about which nothing is guaranteed."""
    recent: Recent = EMPTY

    def __post_init__(self) -> None:
        counts = [value for value in vars(self).values() if isinstance(value, int)]
        if min(counts) < 0 or max(counts) >= 1 << 63 or len(self.ids) != 2:
            raise InvalidInputError("`text` must be the state of a monitor, got an impossible history.")
