"""A threshold for each group of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.thresholds.threshold import Threshold


@final
@dataclass(frozen=True)
class GroupThresholds:
    """A threshold for each predicted class, by number, or for each domain, by name; any other group is rejected."""

    per: Literal["class", "domain"]
    thresholds: dict[str, Threshold]

    def names(self, outputs: Outputs, predictions: Callable[[], NDArray[np.int64]], /) -> NDArray[np.str_]:
        """(n,) the group of each row."""
        if self.per == "class" and not outputs.n_classes:
            raise ValueError(
                "`outputs` must have logits or probabilities for a threshold per class, got confidences alone. Of a "
                "table, rename the column prediction to group, and ask for one per group: --per group, or per='domain'."
            )
        if self.per == "class":
            return predictions().astype(str)
        if outputs.domain is None:
            raise ValueError(
                "`outputs` must have domains, since each has a threshold, got none. Pass domain=, or a column group."
            )
        return outputs.domain

    def values(self, names: NDArray[np.str_], /) -> NDArray[np.float64]:
        """(n,) the threshold of each group named, +inf for one that calibration did not have."""
        distinct, place = np.unique(names, return_inverse=True)
        found = [self.thresholds[name].value if name in self.thresholds else np.inf for name in distinct.tolist()]
        return np.asarray(found)[place]

    def for_classes(self, n_classes: int, /) -> NDArray[np.float64]:
        """(K,) the threshold of each class."""
        if self.per != "class":
            raise ValueError("`selector` must have thresholds that a model knows, got one for each domain.")
        return self.values(np.arange(n_classes).astype(str))

    def unseen(self, outputs: Outputs, /) -> dict[str, int]:
        """How many rows are of domains that calibration did not have, by name."""
        if self.per == "class" or outputs.domain is None:
            return {}
        names, counts = np.unique(outputs.domain, return_counts=True)
        return {str(name): int(n) for name, n in zip(names, counts, strict=True) if str(name) not in self.thresholds}

    def words(self) -> str:
        """The rule, in plain words."""
        certain = sum(part.value < np.inf for part in self.thresholds.values())
        return (
            f"the threshold of its {self.per}; {certain} of {len(self.thresholds)} have one, the others are always "
            "rejected"
        )
