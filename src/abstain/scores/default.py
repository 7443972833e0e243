"""Which score is taken where nobody names one, and how that is told."""

from collections.abc import Sequence

DEFAULT = "confidence_margin"


def default_score(names: Sequence[str], /) -> str:
    """`confidence_margin`, or the only score there is: settled before any row is looked at, which costs no promise.

    >>> default_score(["energy", "confidence_margin"]), default_score(["vendor"])
    ('confidence_margin', 'vendor')
    """
    if DEFAULT in names:
        return DEFAULT
    if len(names) == 1:
        return names[0]
    raise ValueError(
        f"`score` must say which of {', '.join(names)} to trust, as {DEFAULT}, the default, is not there, got none."
    )


def default_words(score: str, /) -> str:
    """Which score a command took that was told none, why, and how to take another."""
    if score != DEFAULT:
        return f"Score: {score}, the only one that can be used here."
    return f"Score: {score}, the default. --score best chooses one on a fifth of the rows; --score NAME takes another."
