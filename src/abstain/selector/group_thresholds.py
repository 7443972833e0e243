"""A threshold for each group of rows."""

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.confidences import predictions
from abstain.scores.score import FittedScore
from abstain.selector.calibration_data import class_names_of
from abstain.thresholds.threshold import Threshold


def column_of(per: str | None, /) -> str | None:
    """The column of a table that names groups of this kind; None where it is ``group`` or ``domain``."""
    return None if per in ("class", "domain", "group") else per


@final
@dataclass(frozen=True)
class GroupThresholds:
    """A threshold for each predicted class, or for each group of rows, by name; any other group is rejected.

    A class goes by its name, or its number where classes have none.

    Attributes
    ----------
    per : str
        ``class``, or what the groups are called: domain, group, or the column of a table that names them.
    thresholds : dict of Threshold
        The threshold of each group, by its name.
    """

    per: str
    thresholds: dict[str, Threshold]

    def of_losses(self) -> Self:
        """The same thresholds with guarantees about losses between 0 and 1 instead of errors."""
        return replace(self, thresholds={name: each.of_losses() for name, each in self.thresholds.items()})

    @property
    def is_by_class(self) -> bool:
        """Whether predicted classes are the groups."""
        return self.per == "class"

    def names(self, outputs: Outputs, fitted: FittedScore, class_names: tuple[str, ...] | None, /) -> NDArray[np.str_]:
        """(n,) the group of each row, whose answer the fitted score judges."""
        if self.is_by_class and not outputs.n_classes:
            raise InvalidInputError(
                "`outputs` must have logits or probabilities for a threshold per class, got confidences alone. Of a "
                "table with a column prediction, use --per prediction."
            )
        if self.is_by_class:
            return class_names_of(predictions(outputs, fitted), class_names)
        if outputs.domain is None:
            name = column_of(self.per) or "group"
            raise InvalidInputError(
                f"`outputs` must have a {name} for each row, got none. Pass domain=, or a column {name}."
            )
        return outputs.domain

    def values(self, names: NDArray[np.str_], /) -> NDArray[np.float64]:
        """(n,) the threshold of each group named, +inf for one that calibration did not have."""
        distinct, index = np.unique(names, return_inverse=True)
        values = [self.thresholds[name].value if name in self.thresholds else np.inf for name in distinct.tolist()]
        return np.asarray(values)[index]

    def for_classes(self, n_classes: int, class_names: tuple[str, ...] | None, /) -> NDArray[np.float64]:
        """(K,) the threshold of each class."""
        if not self.is_by_class:
            raise InvalidInputError(f"`selector` must have thresholds that a model knows, got one for each {self.per}.")
        return self.values(class_names_of(np.arange(n_classes), class_names))

    def unseen(self, outputs: Outputs, /) -> dict[str, int]:
        """How many rows are of groups that calibration did not have, by name."""
        if self.is_by_class or outputs.domain is None:
            return {}
        names, counts = np.unique(outputs.domain, return_counts=True)
        return {str(name): int(n) for name, n in zip(names, counts, strict=True) if str(name) not in self.thresholds}

    def words(self) -> str:
        """The rule, in plain words."""
        certain = sum(part.value < np.inf for part in self.thresholds.values())
        if certain == len(self.thresholds) and self.is_by_class:
            return "the threshold of its class"
        if certain == len(self.thresholds):
            return f"the threshold of its {self.per}; all {certain} have one, and any other {self.per} is rejected"
        return (
            f"the threshold of its {self.per}; {certain} of {len(self.thresholds)} have one, the others are always "
            "rejected"
        )
