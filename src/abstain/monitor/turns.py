"""Labels in the order of the decisions they are about, however they come."""

from dataclasses import dataclass
from typing import final

WINDOW_ROWS = 1000
"""Accepted decisions after which a label that has not come is given up."""


@final
@dataclass(frozen=True)
class Turns:
    """The queue of decisions to accept: a label counts once all labels of earlier decisions have come or are given up.

    So labels are counted in the order of decisions, and it does not matter whether errors are reported sooner than
    right answers. A label is given up when ``window`` further rows have been accepted; one that comes later is left
    out. Whether it comes in time must not depend on the outcome.
    """

    window: int
    late: int
    """Labels that came after they were given up."""
    waiting: int
    """Labels that have come and whose turn has not."""
    pending: int
    """Labels that may still come."""
