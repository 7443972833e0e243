"""Methods that a selective classifier has if its classifier has them."""

from collections.abc import Callable
from typing import Any


def has(method: str, /) -> Callable[[Any], bool]:
    """Whether the classifier has a method; its own objection where it has not."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self._classifier()), method)
        return True

    return check
