"""`Cost`: reject where answering is expected to cost more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain.outputs import Outputs
from abstain.outputs.validation import unlabelled
from abstain.scores import EXPECTED_COST
from abstain.scores.expected_cost import Costs, ExpectedCost
from abstain.scores.score import Score
from abstain.selector.choice import Scores, allowed
from abstain.selector.targets.target import ScoredRows, Target, Thresholds
from abstain.thresholds.methods import METHODS


def _check_cost(_: str, cost: Any) -> None:
    if isinstance(cost, str):
        raise InvalidTypeError(f"`cost` must be a number, or one for each class, got {cost!r}.")
    values = as_doubles("cost", cost)
    if not ((values >= 0) & (values < np.inf)).all():
        raise InvalidInputError(f"`cost` must be at least 0 and finite, got {cost!r:.60}.")


@final
@dataclass(frozen=True, repr=False, eq=False)
class Cost(Target):
    """A low expected cost per row, with a bound on it.

    Parameters
    ----------
    cost : float or array_like
        Of rejecting, where an error costs 1: one number, or one for each true class.
    costs : (K, K) array_like or None
        Other costs of predicting ŷ (row) where y (column) is true; then the cheapest class is the answer.
    delta : float
        The probability with which the bound may fail.
    method : str, optional
        ``"minimal_cost"`` chooses the threshold on a part of the sample; ``"chow"`` trusts the probabilities,
        temperature-scaled on rows of every kind.

    Examples
    --------
    >>> Cost(0.2, method="chow")
    Cost(0.2, method='chow')
    """

    target_name: ClassVar = "cost"
    keys: ClassVar = ("cost",)
    cost: float | ArrayLike = field(metadata={"check": _check_cost})
    costs: ArrayLike | None = field(default=None, kw_only=True)

    @property
    def weighs_answers(self) -> bool:
        """Whether the answers are the cheapest ones, not the classifier's own."""
        by_method = self.method is not None and METHODS[self.method].weighs_answers
        return self.costs is not None or by_method or np.ndim(self.cost) > 0

    def scores(self, asked: Scores | None, outputs: Outputs, /) -> list[Score]:
        """The score of expected cost where answers are weighed, else the one asked for."""
        if self.weighs_answers or asked == EXPECTED_COST.name:
            if asked not in (None, EXPECTED_COST.name):
                raise InvalidInputError(f"`score` must be left out where answers are weighed by costs, got {asked!r}.")
            self._costs(outputs.n_classes)
            return [allowed(ExpectedCost(self.cost, self.costs), outputs)]
        scores = super().scores(asked, outputs)
        if len(scores) > 1:
            raise InvalidInputError(f"`score` must be one name with {self!r}, got {len(scores)} scores.")
        return scores

    def _costs(self, n_classes: int) -> Costs:
        return Costs.of(n_classes, rejection=self.cost, matrix=self.costs)

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold of low cost."""
        outputs = rows.outputs
        if self.weighs_answers:
            if outputs.labels is None:
                raise unlabelled("outputs")
            costs = self._costs(outputs.n_classes)
            accepting, rejecting = costs.paid(rows.predictions, outputs.labels)
            largest = costs.largest
        else:
            rejection = float(np.asarray(self.cost))
            accepting, rejecting = outputs.losses, np.full(len(outputs), rejection)
            largest = max(1.0, rejection)
        return self.by_rule(rows, accepting, rejection=rejecting, largest=largest), None
