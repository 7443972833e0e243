"""The answers of a selector of two classes as bands of a probability: one class below, review between, one above."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.outputs import Outputs

if TYPE_CHECKING:
    from abstain.selector.selector import Selector

WIDEST, POINTS, ROUNDS = 45.0, 2001, 3
NEEDS = {"logits", "fitting", "labels"}
FAMILIES = ("softmax", "margin")


@final
@dataclass(frozen=True)
class Band:
    """Probabilities of the second class at which the answer changes; None where a class is never the answer."""

    first: float | None
    """Below it, the first class is accepted."""
    second: float | None
    """Above it, the second class is accepted."""

    def words(self, class_names: tuple[str, ...] | None, /) -> str:
        """The bands in words.

        >>> Band(0.007, 0.75).words(("ok", "fraud"))
        'ok below 0.007, review between, fraud above 0.75 (probability of fraud)'
        """
        if self == NOWHERE:
            return "review everything"
        first, second = class_names or ("class 0", "class 1")
        parts = [f"{first} below {_digits(self.first)}"] if self.first is not None else []
        if self.first is None or self.second is None or self.first < self.second:
            is_between = self.first is not None and self.second is not None
            parts += ["review between" if is_between else "review everything else"]
        parts += [f"{second} above {_digits(self.second)}"] if self.second is not None else []
        return f"{', '.join(parts)} (probability of {second})"


NOWHERE = Band(None, None)
"""That of a selector that accepts nothing."""


def band(selector: "Selector", /) -> Band | None:
    """The bands of a selector of two classes whose score depends on the probability alone.

    None for any other, and where the answer is the same everywhere.
    """
    about = selector.entry.about
    depends = set(selector.entry.needs_of(selector.fitted)) <= NEEDS and about.family in FAMILIES
    if selector.n_classes != 2 or not depends or (selector.groups is not None and not selector.groups.is_by_class):
        return None
    points = np.linspace(-WIDEST, WIDEST, POINTS)
    answers = _answers(selector, points)
    firsts, seconds = np.flatnonzero(answers == 0), np.flatnonzero(answers == 1)
    low, high = len(firsts), POINTS - len(seconds)
    if not ((answers[:low] == 0).all() and (answers[high:] == 1).all()):
        return None  # not bands
    edges = [
        _edge(selector, points[end - 1], points[end], answer) if 0 < end < POINTS else None
        for end, answer in ((low, 0), (high, 1))
    ]
    if edges == [None, None]:
        return None  # the same answer everywhere, which the rule states already
    return Band(*(None if edge is None else float(expit(edge)) for edge in edges))


def _answers(selector: "Selector", points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The answer at each log-odds of the second class, −1 for none."""
    return selector.answers(Outputs(logits=np.column_stack([np.zeros(len(points)), points])))


def _edge(selector: "Selector", low: float, high: float, answer: int) -> float:
    """Where the class stops, or begins, to be the answer."""
    for _ in range(ROUNDS):
        points = np.linspace(low, high, POINTS)
        inside = _answers(selector, points) == answer
        last = int(np.count_nonzero(inside)) if answer == 0 else int(np.count_nonzero(~inside))
        low, high = points[last - 1], points[min(last, POINTS - 1)]
    return (low + high) / 2


def _digits(probability: float | None) -> str:
    """Enough digits near 0 and near 1."""
    assert probability is not None
    if probability <= 0.5:
        return f"{probability:.3g}"
    return f"{1 - float(f'{1 - probability:.3g}'):.12g}"
