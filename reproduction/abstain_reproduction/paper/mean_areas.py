"""AURC-α as means over several draws of the rows that scores are fitted on."""

from collections.abc import Sequence
from math import hypot, sqrt
from typing import final

import numpy as np
from scipy.special import stdtrit

from abstain.evaluation import Evaluation
from abstain_reproduction.paper.areas import Areas, Contrast, EvaluatedAreas, Term


@final
class MeanAreas(Areas):
    """Those of evaluations of the same outputs, at least two, each after a draw of its own."""

    def __init__(self, evaluations: Sequence[Evaluation]) -> None:
        self.draws = [EvaluatedAreas(each) for each in evaluations]
        self.scores = frozenset.intersection(*(each.scores for each in self.draws))
        self.mixes = self.draws[0].mixes
        self.certainty = (
            f"mean ± standard deviation over {len(self.draws)} draws of rows to fit on, 95% intervals over draws and "
            "tested rows, paired; decided jointly over {} comparisons (Holm)"
        )

    def area(self, score: str, mix: str, alpha: float, /) -> float:
        """AURC-α as a fraction."""
        return float(np.mean([each.area(score, mix, alpha) for each in self.draws]))

    def contrast(self, terms: Sequence[Term], mix: str, /, *, outside: float) -> Contrast:
        """The mean; its interval is that of the tested rows, which all draws share, widened by Student's of the draws.

        Draws are few, so that where they disagree the interval is wide.
        """
        contrasts = [each.contrast(terms, mix, outside=outside) for each in self.draws]
        values = np.array([contrast.value for contrast in contrasts])
        mean, spread = float(values.mean()), float(values.std(ddof=1))
        drawn = float(stdtrit(len(contrasts) - 1, 1 - outside / 2)) * spread / sqrt(len(contrasts))
        below = float(np.mean([contrast.value - contrast.low for contrast in contrasts]))
        above = float(np.mean([contrast.high - contrast.value for contrast in contrasts]))
        return Contrast(mean, mean - hypot(below, drawn), mean + hypot(above, drawn), spread)
