"""Populations that are kept apart, by their names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.distinct import numbered

Stratum = tuple[str, ...]
Ints = NDArray[np.int64]
MOST = 1 << 30  # populations times parts


def populations(names: list[NDArray[Any]], n: int, /) -> tuple[tuple[Stratum, ...], Ints]:
    """The populations there are, and the number (n,) of each row's; an empty array where there is one."""
    code, size = np.zeros(0, np.int64), 1
    for one in names:
        if not n or (one == one[0]).all():
            continue
        number, more = numbered(one)
        code, size = (code * more + number if code.size else number), size * more
        if size > MOST:
            code, size = numbered(code)
    if not code.size:
        return ((tuple(str(one[0]) for one in names),) if n else ()), code
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    strata = [tuple(str(one[row]) for one in names) for row in first]
    order = sorted(range(len(strata)), key=lambda k: strata[k])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return tuple(strata[k] for k in order), place[code]
