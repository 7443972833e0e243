"""Both hard-margin machines of App. A on halves of a table that hyperplanes can separate."""

from dataclasses import dataclass

import numpy as np

from abstain_reproduction.svm.machine import halves
from abstain_reproduction.svm.max_min import hard_margin, max_min, worst_geometric


@dataclass(frozen=True)
class HardMargins:
    """The two hard-margin machines on one half of a table that can be separated, tested on the other."""

    worst: float
    """The worst geometric margin of the machine of largest confidence margins."""
    largest: float
    """That of the machine of largest geometric margins."""
    bound: float
    wrong: float
    """Share of the other half on which the first errs, by the largest logit."""
    geometric_wrong: float
    """That on which the second errs, by the largest distance."""

    @property
    def is_optimal(self) -> bool:
        """Whether no weights have a larger worst geometric margin."""
        return self.bound - self.largest < 1e-6 * self.bound


def hard_margins(table: str, /, *, seed: int, classes: int = 3) -> HardMargins | None:
    """Both machines on a split of the first classes, or None where no hyperplanes separate its first half.

    With two classes both are the binary machine, whose margin |w·x|/‖w‖ is half the gap of the two distances.
    """
    (x, y), (others, truth) = (
        (rows[labels < classes], labels[labels < classes]) for rows, labels in halves(table, seed=seed)
    )
    weight = hard_margin(x, y, classes)
    if weight is None:
        return None
    best = max_min(x, y, weight)
    wrong = [float(np.mean((others @ w.T).argmax(axis=1) != truth)) for w in (weight, best.weight)]
    return HardMargins(worst_geometric(x, y, weight), best.worst, best.bound, *wrong)
