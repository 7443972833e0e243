"""Numbers, lists and sentences as people write them."""

from collections.abc import Iterable


def counted(n: int, noun: str, /) -> str:
    """A number of things.

    >>> counted(1, "score"), counted(2_000, "score")
    ('1 score', '2,000 scores')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(words: Iterable[str], /) -> str:
    """At least one thing, the last after an "and".

    >>> listed(["fog"]), listed(["fog", "snow", "rain"])
    ('fog', 'fog, snow and rain')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def sentence(words: str, /) -> str:
    """Words with a capital at their beginning.

    >>> sentence("over all samples")
    'Over all samples'
    """
    return f"{words[:1].upper()}{words[1:]}"
