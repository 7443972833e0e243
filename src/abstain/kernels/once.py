"""An attribute that is computed when first asked for and then kept."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, final

Value = TypeVar("Value")


@final
class once(Generic[Value]):  # noqa: N801, a decorator
    """What `functools.cached_property` is since Python 3.12: before, threads wait for each other at its lock."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Value:
        value = self._compute(owner)
        setattr(owner, self._compute.__name__, value)
        return value
