"""Numbers, lists and sentences in plain English."""

from collections.abc import Iterable


def counted(n: int, noun: str, /) -> str:
    """A count with its noun.

    >>> counted(1, "score"), counted(2_000, "score")
    ('1 score', '2,000 scores')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(items: Iterable[str], /) -> str:
    """Items with commas, and "and" before the last.

    >>> listed(["fog"]), listed(["fog", "snow", "rain"])
    ('fog', 'fog, snow and rain')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def sentence(text: str, /) -> str:
    """Text with its first letter in upper case.

    >>> sentence("over all samples")
    'Over all samples'
    """
    return f"{text[:1].upper()}{text[1:]}"
