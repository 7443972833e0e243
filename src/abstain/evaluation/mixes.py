"""Mixes of shifts: the populations that scores are compared on."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs


@dataclass(frozen=True)
class Mix:
    """Rows of some kinds of shift taken together.

    Attributes
    ----------
    name : str
        What it is called.
    kinds : tuple of str
        The kinds of shift in it.
    title : str
        What it is called above a figure.
    words : str
        What it is called in a sentence.
    """

    name: str
    kinds: tuple[str, ...]
    title: str
    words: str

    def rows(self, shift: NDArray[np.str_], /) -> NDArray[np.bool_]:
        """(n,) which rows it has."""
        return np.isin(shift, self.kinds)


MIXES = {
    mix.name: mix
    for mix in (
        Mix("in", ("none",), "In-distribution", "on in-distribution samples"),
        Mix("in+cov", ("none", "covariate"), "+ covariate shift", "with covariate shift"),
        Mix("in+label", ("none", "label"), "+ label shift", "with unknown classes"),
        Mix("all", ("none", "covariate", "label"), "All shifts", "over all samples"),
    )
}
"""The four mixes of shifts by name, the widest last: in, in+cov, in+label, all."""


ALONE = Mix("in", ("none",), "All rows", "on these rows")
"""What the rows are called where none of them is shifted."""


def mix_among(name: str, names: Collection[str], /) -> Mix:
    """A mix, with words that fit where these are all the mixes.

    >>> mix_among("in", ["in"]).words, mix_among("in", ["in", "all"]).words
    ('on these rows', 'on in-distribution samples')
    """
    return ALONE if list(names) == [ALONE.name] else MIXES[name]


def mixes_among(present: Collection[str], /) -> list[Mix]:
    """The mixes whose every kind of shift is ``present``, the widest last; ``all`` if no other has all of them.

    >>> [mix.name for mix in mixes_among(("none", "label"))]
    ['in', 'in+label']
    """
    wanted = [mix for mix in MIXES.values() if mix.name != "all" and set(mix.kinds) <= set(present)]
    return wanted if any(set(present) <= set(mix.kinds) for mix in wanted) else [*wanted, MIXES["all"]]


def mixes_of(outputs: Outputs, /) -> tuple[list[Mix], list[str]]:
    """The mixes of the kinds of shift that are there, and notes on those with too few samples."""
    present = [kind for kind in MIXES["all"].kinds if (outputs.shift == kind).any()]
    kept, dropped = [], []
    for mix in mixes_among(present):
        rows = mix.rows(outputs.shift)
        samples = np.count_nonzero(np.bincount(outputs.samples[0][rows]))
        if samples >= 2:
            kept.append(mix)
        else:
            dropped.append(f"Mix {mix.name} is left out: it has {samples} sample, and a standard error needs 2.")
    if not kept:
        raise InvalidInputError(
            f"`outputs` must have at least 2 different samples to be evaluated, got {len(outputs)} row(s)."
        )
    return kept, dropped
