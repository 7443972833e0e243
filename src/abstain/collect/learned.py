"""All that a classifier has learned, as plain values a digest can be taken of."""

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None), np.ndarray, np.generic)
NAMED = (type, FunctionType, BuiltinFunctionType, MethodType, np.ufunc)


def learned(value: Any, seen: frozenset[int] = frozenset(), /) -> Any:
    """What an object and those inside it hold: settings, arrays, trees; what is inside itself counts once."""
    if isinstance(value, PLAIN) or hasattr(value, "tocsr") or hasattr(value, "__array__"):
        return value
    if isinstance(value, NAMED):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    if id(value) in seen:
        return type(value).__name__
    seen |= {id(value)}
    if isinstance(value, list | tuple):
        return [learned(item, seen) for item in value]
    if isinstance(value, dict):
        return {str(name): learned(item, seen) for name, item in value.items()}
    return {"kind": type(value).__name__, "state": learned(_state(value), seen)}


def _state(value: Any) -> Any:
    """Its attributes; or what it would store of itself, as compiled objects do; or nothing."""
    if hasattr(value, "get_params") and hasattr(value, "__dict__"):
        return vars(value)
    try:
        return value.__getstate__()
    except Exception:
        return None
