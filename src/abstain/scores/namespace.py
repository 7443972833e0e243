"""The functions of an array's library."""

from typing import Any

import array_api_compat
import numpy as np


def array_namespace(*arrays: Any) -> Any:
    """NumPy itself for its own arrays: it needs no wrapper, whose import takes as long as that of NumPy."""
    if all(isinstance(array, (np.ndarray, np.generic)) for array in arrays):  # a tuple, which torch compiles
        return np
    return array_api_compat.array_namespace(*arrays)
