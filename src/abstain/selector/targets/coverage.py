"""`Coverage`: at least a given share of the rows is accepted."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from abstain.selector.targets.target import ScoredRows, Target, Thresholds
from abstain.sketch import Sketch
from abstain.sketch.thresholds import target_coverage
from abstain.thresholds.sample import one_per_cluster


@final
@dataclass(frozen=True, repr=False)
class Coverage(Target):
    """At least ``coverage`` of the rows are accepted; no labels are needed.

    Parameters
    ----------
    coverage : float
        The smallest share of rows.
    delta : float or None
        The probability with which the guarantee may fail; None asks for it in expectation only.
    method : str, optional
        Only `target_coverage`.

    Examples
    --------
    >>> Coverage(0.8, delta=0.1)
    Coverage(0.8, delta=0.1)
    """

    target_name: ClassVar = "coverage"
    keys: ClassVar = ("coverage",)
    in_expectation: ClassVar = True
    coverage: float

    @property
    def alpha(self) -> float:
        """Scores are compared by the AURC up to this coverage."""
        return self.coverage

    def threshold(self, rows: ScoredRows, /) -> Thresholds:
        """The threshold; with labels it has the errors among accepted rows, which do not affect it."""
        threshold, confidence = self.by_rule(rows, coverage=self.coverage), rows.confidence
        if not rows.outputs.is_labelled:
            return threshold, None
        drawn = one_per_cluster(confidence, np.zeros(len(confidence)), ids=rows.outputs.ids, seed=rows.seed)
        losses = rows.outputs.outcomes[drawn] * threshold.accepts(confidence[drawn])
        return replace(threshold, errors=float(losses.sum())), None

    def threshold_of_sketch(self, sketch: Sketch, score: str, /) -> Thresholds:
        """The threshold between bins."""
        return target_coverage(sketch.counts(score), coverage=self.coverage, delta=self.delta), None
