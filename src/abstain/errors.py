"""Every error that abstain raises on purpose, for callers to catch.

All are `AbstainError`, and each is also the built-in error that fits, so that ``except ValueError`` works too. The tree
is drawn in the docstring of `abstain._errors`.

>>> import abstain
>>> try:
...     abstain.Outputs(logits=[[1.0]])
... except abstain.errors.AbstainError as error:
...     print(type(error).__name__)
InvalidInputError
"""

from abstain._errors import *  # noqa: F403
from abstain._errors import AbstainError
from abstain.report.figures.style import CannotDrawError as CannotDrawError
from abstain.scores.score import CannotFitError as CannotFitError
from abstain.thresholds.refusal import NoSafeThresholdError as NoSafeThresholdError

__all__ = sorted(name for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, AbstainError))
