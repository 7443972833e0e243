"""A name that is a parameter of an estimator and one of its methods, as ``score`` is."""

from collections.abc import Callable
from types import MethodType
from typing import Any


class ParameterAndMethod:
    """A method whose name is also a parameter: what is set is kept as the parameter, what is called is the method.

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
