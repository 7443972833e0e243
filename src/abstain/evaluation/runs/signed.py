"""Differences in print: with their sign, which no rounding hides where it is that of an interval's end."""

MOST = 4  # more digits than asked for


def signed(value: float, digits: int = 2, /) -> str:
    """A difference with its sign, and none where it rounds to nothing.

    >>> signed(-1.234), signed(0.5, 1), signed(-0.001)
    ('−1.23', '+0.5', '0.00')
    """
    found = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(found) == 0 else found.replace("-", "−")


def ends(low: float, high: float, digits: int = 2, /, *, all_at: float | None = None, plain: bool = False) -> str:
    """An interval, with as many more digits as show which side of zero it ends on; ``all`` is where no more is left.

    A ``plain`` one has no plus signs.

    >>> ends(-0.04, 5.89, 1), ends(0.0, 5.89, 1), ends(3.2, 20.0, 1, all_at=20.0), ends(20.0, 20.0, all_at=20.0)
    ('−0.04 to +5.89', '0.0 to +5.9', '+3.2 to all', 'all')
    """
    for more in range(MOST + 1):
        if all(value == 0 or float(f"{value:.{digits + more}f}") for value in (low, high)):
            digits += more
            break
    shown = [
        "all" if all_at is not None and abs(value - all_at) < 1e-9 else signed(value, digits) for value in (low, high)
    ]
    words = "all" if shown == ["all", "all"] else " to ".join(shown)
    return words.replace("+", "") if plain else words
