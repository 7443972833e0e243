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


def mean_of_outcomes(total: float, n: int, /) -> str:
    """The share of errors, or the mean loss: a number of errors is an integer, a total of losses is not.

    >>> mean_of_outcomes(50, 1000), mean_of_outcomes(50.0, 1000)
    ('5.0% errors', 'mean loss 0.05')
    """
    return f"{total / n:.1%} errors" if isinstance(total, int) else f"mean loss {total / n:.3g}"


def total_of_outcomes(total: float, /) -> str:
    """The number of errors, or the total of losses.

    >>> total_of_outcomes(1050), total_of_outcomes(12.25)
    ('1,050 errors', 'a total loss of 12.25')
    """
    return f"{total:,} errors" if isinstance(total, int) else f"a total loss of {total:,.4g}"


def percent(share: float, /) -> str:
    """A share in percent, with no more digits than it has.

    >>> percent(0.02), percent(0.125), percent(0.0005)
    ('2%', '12.5%', '0.05%')
    """
    return f"{100 * share:.6g}%"


def sentence(text: str, /) -> str:
    """Text with its first letter in upper case.

    >>> sentence("over all samples")
    'Over all samples'
    """
    return f"{text[:1].upper()}{text[1:]}"
