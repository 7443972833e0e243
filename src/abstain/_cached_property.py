"""An attribute that is computed on first use and then stored, without a lock."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    @final
    class cached_property:  # noqa: N801, a decorator
        """What `functools.cached_property` is since Python 3.12.

        Before, all instances of a class share a lock: threads wait for each other, and a process forked at that time
        waits for ever. Two threads that read it at the same time both compute it.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, kind: type, name: str) -> None:
            self._name = name

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            if owner is None:
                return self
            value = self._compute(owner)
            object.__setattr__(owner, self._name, value)  # also where the class is frozen
            return value
