"""What can come of testing a claim."""

from typing import Literal

Outcome = Literal["held", "not held", "undecided"]
