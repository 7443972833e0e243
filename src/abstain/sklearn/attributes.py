"""Methods that exist only if the classifier has them, and a method whose name is also a parameter."""

from collections.abc import Callable
from types import MethodType
from typing import Any


def has(method: str, /) -> Callable[[Any], bool]:
    """Whether the classifier has a method; raises the classifier's own error where it does not."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self._classifier()), method)
        return True

    return check


class ParameterAndMethod:
    """A method whose name is also a parameter: setting stores the parameter, calling calls the method.

    ``get_params`` must read the parameter from `parameter_of`, since getting the attribute gives the method.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        return self.method if instance is None else MethodType(self.method, instance)

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.method.__name__] = value


def parameter_of(instance: Any, name: str, /) -> Any:
    """The parameter of that name."""
    return vars(instance)[name]
