"""When the labels of a recertification are tested, and at which share of δ."""

FIRST_LOOK, GROWTH = 200, 1.6


def labels_at(look: int, /) -> int:
    """The number of labels at the k-th look, from 1.

    >>> [labels_at(look) for look in (1, 2, 3)]
    [200, 320, 512]
    """
    return round(FIRST_LOOK * GROWTH ** (look - 1))


def looks_with(labels: int, /) -> int:
    """How many looks there are with so many labels."""
    number = 0
    while labels_at(number + 1) <= labels:
        number += 1
    return number


def level_at(delta: float, look: int, /) -> float:
    """The part of δ that the k-th look has, δ/(k(k + 1)); all of them together have δ."""
    return delta / (look * (look + 1))
