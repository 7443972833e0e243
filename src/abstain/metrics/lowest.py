"""The lowest of several areas, chosen so that rounding does not decide."""

from collections.abc import Sequence

MARGIN = 1e-9  # areas nearer than this may change places with the last bits of a processor's linear algebra


def lowest(areas: Sequence[float], /) -> int:
    """The index of the first area that is the lowest but for rounding.

    >>> lowest([0.3, 0.2 + 1e-15, 0.2])
    1
    """
    least = min(areas)
    return next(index for index, area in enumerate(areas) if area <= least + MARGIN)
