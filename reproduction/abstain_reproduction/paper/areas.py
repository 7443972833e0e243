"""AURC-α of named scores in mixes of shifts, and intervals of their differences: what claims are tested on."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from abstain.evaluation import MIXES, Evaluation
from abstain.evaluation.score_comparison import Ranked
from abstain.metrics.compare import paired
from abstain.metrics.estimates import Estimate, estimates
from abstain.metrics.intervals import ALPHAS
from abstain.metrics.ranking import Ranking
from abstain.scores import GeometricMargin

EQ_11 = GeometricMargin("top_two")
"""RL_geo-M as the paper defines it, which its tables and claims are about."""
NEAR_ZERO = 0.01
"""The coverage up to which the risk "as coverage approaches zero" is averaged."""
FULL = "full coverage"
"""A constant score: each of its areas is the risk at full coverage."""


@dataclass(frozen=True)
class Term:
    """One AURC-α with its sign in a sum of several of one mix."""

    sign: int
    score: str
    alpha: float


@dataclass(frozen=True)
class Contrast:
    """A sum of areas with signs, and its interval."""

    value: float
    low: float
    high: float
    spread: float | None = None
    """Its standard deviation over several draws of the rows that scores were fitted on."""


class Areas(ABC):
    """Areas of the scores of the paper, by the names the registry has for them."""

    scores: frozenset[str]
    mixes: tuple[str, ...]
    alphas: tuple[float, ...] = (NEAR_ZERO, *ALPHAS)
    """The coverages that areas reach to."""
    certainty: str
    """What an interval means, as a format string that takes the number of comparisons."""
    doubtful: frozenset[tuple[str, str, float]] = frozenset()
    """Score, mix and α of areas that no verdict should use."""

    def has(self, mix: str, /, *terms: "Term") -> bool:
        """Whether there are areas for all of these."""
        return mix in self.mixes and all(
            term.score in self.scores
            and term.alpha in self.alphas
            and (term.score, mix, term.alpha) not in self.doubtful
            for term in terms
        )

    @abstractmethod
    def area(self, score: str, mix: str, alpha: float, /) -> float:
        """AURC-α as a fraction."""

    @abstractmethod
    def contrast(self, terms: Sequence[Term], mix: str, /, *, outside: float) -> Contrast:
        """A sum of pairs of areas, each of one with + and one with −, and an interval that misses it by ``outside``."""


@final
class EvaluatedAreas(Areas):
    """Those of an evaluation, with paired intervals; copies of a sample are one cluster.

    Of several forms of a score the usual one counts, but for RL_geo-M, of which that of the paper does.
    """

    certainty = "95% intervals, paired; decided jointly over {} comparisons (Holm)"

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        plain = {entry.about.name: name for name, entry in reversed(evaluation.entries.items())}
        usual = {name: name for name in evaluation.entries if name in plain}
        literal = {EQ_11.about.name: EQ_11.name} if EQ_11.name in evaluation.entries else {}
        self.names: Mapping[str, str] = plain | usual | literal
        self.scores = frozenset({*self.names, FULL})
        self.mixes = tuple(evaluation.mixes)
        self._estimates = cache(self._estimated)
        self._rankings = cache(self._ranked)
        self._all = Ranked.of(evaluation.outputs, evaluation.confidence)

    def area(self, score: str, mix: str, alpha: float, /) -> float:
        """AURC-α as a fraction."""
        return self._estimates(score, mix)[alpha].value

    def contrast(self, terms: Sequence[Term], mix: str, /, *, outside: float) -> Contrast:
        """Two areas are paired as everywhere; of several pairs the intervals are added, each the surer for it.

        Scores that rank every row identically are taken for one score, without allowance for rows not seen.
        """
        pairs = [sorted(pair, key=lambda term: -term.sign) for pair in zip(terms[::2], terms[1::2], strict=True)]
        level = 1 - outside / len(pairs)
        comparisons = [
            paired(*(self._estimates(term.score, mix)[term.alpha] for term in pair), level=level) for pair in pairs
        ]
        apart = [comparison for comparison in comparisons if comparison.difference != 0 or comparison.se != 0]
        return Contrast(
            sum(comparison.difference for comparison in apart),
            sum(comparison.low for comparison in apart),
            sum(comparison.high for comparison in apart),
        )

    def _ranked(self, mix: str) -> dict[str, Ranking]:
        on_mix = self._all.on(MIXES[mix])
        rankings = on_mix.rankings()
        return {score: rankings[name] for score, name in self.names.items()} | {
            FULL: on_mix.rows.rank(np.zeros(len(on_mix.rows)))
        }

    def _estimated(self, score: str, mix: str) -> dict[float, Estimate]:
        values = estimates(self._rankings(mix)[score], alphas=self.alphas)
        return dict(zip(self.alphas, values, strict=True))
