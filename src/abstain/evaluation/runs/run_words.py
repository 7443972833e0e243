"""What sets two models apart on a mix, in words: which is better, where, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from abstain._text import listed, percent, sentence
from abstain.evaluation.mixes import mix_among
from abstain.evaluation.runs.mix_comparison import MixComparison
from abstain.metrics.aurc import area_name
from abstain.metrics.two_models import ModelDifference

USUAL_COVERAGE = 0.8
MOST_DIGITS = 4  # more digits than asked for, to show the sign of an interval's end
CHANCE = ", which may be chance"


@final
@dataclass(frozen=True)
class RunWords:
    """The words for two models of these names."""

    names: tuple[str, str]
    level: float
    mixes: tuple[str, ...]
    """All that there are."""

    def sentences(self, comparison: MixComparison, /) -> list[str]:
        """The verdict, then the risks at a coverage and the coverages at a risk."""
        if comparison.errors_a == comparison.errors_b and comparison.errors_a in (0, comparison.n):
            state = ("without loss" if comparison.is_graded else "right") if not comparison.errors_a else "wrong"
            return [f"Neither can be called better: both are always {state} {self._where(comparison)}."]
        if comparison.is_same:
            what = "losses" if comparison.is_graded else "errors"
            return [f"There is no difference {self._where(comparison)}: both have the same {what} and the same ranks."]
        return [self._verdict(comparison), *self._at_coverage(comparison), *self._at_risk(comparison)]

    def otherwise(self, comparison: MixComparison, others: Sequence[MixComparison], /) -> list[str]:
        """Mixes on which the area speaks for the other model, or for one where it does for none."""
        first_better, sentences = self._better(comparison.area), []
        for mix in others:
            better, words = self._better(mix.area), sentence(mix_among(mix.mix, self.mixes).words)
            if better is not None and better != first_better:
                sentences.append(f"{words} {better} is better: {self._numbers(mix.area)}.")
            elif better is None and first_better is not None and mix.area.difference * comparison.area.difference < 0:
                sentences.append(f"{words} the sign is the other{CHANCE}: {self._numbers(mix.area)}.")
        return sentences

    def _verdict(self, comparison: MixComparison) -> str:
        """By the area where that is significant; else, or where the curves cross, by where each is better."""
        better, (for_a, for_b) = self._better(comparison.area), _points(comparison)
        numbers = self._numbers(comparison.area)
        if not for_a and not for_b:
            return f"No significant difference after rejection {self._where(comparison)}: {numbers}."
        if better is not None and not (for_a and for_b):
            return f"{better} is better after rejection {self._where(comparison)}: {numbers}."
        sides = [
            f"{name} is better {listed(points)}"
            for name, points in zip(self.names, (for_a, for_b), strict=True)
            if points
        ]
        which = f"it depends on the coverage which is better: {'; '.join(sides)}" if len(sides) == 2 else sides[0]
        whole = "no difference is significant" if better is None else f"{better} is better"
        over = "Over all coverages" if comparison.area.at == 1 else "In all"
        each = f"each by a {100 * self.level:g}% interval of its own"
        return f"After rejection {self._where(comparison)} {which} ({each}). {over} {whole}: {numbers}."

    def _where(self, comparison: MixComparison) -> str:
        rows = f"{comparison.n:,} rows" + (
            "" if comparison.samples == comparison.n else f" of {comparison.samples:,} samples"
        )
        return f"{mix_among(comparison.mix, self.mixes).words} ({rows})"

    def _better(self, area: ModelDifference) -> str | None:
        return None if not area.is_significant else self.names[area.difference > 0]

    def _numbers(self, area: ModelDifference) -> str:
        values = f"{100 * area.a:.2f} for {self.names[0]} and {100 * area.b:.2f} for {self.names[1]}"
        return f"{area_name(area.at)} {values} ({self._gain(area, 2, 'is', 'better')})"

    def _gain(
        self, difference: ModelDifference, digits: int, verb: str, better: str, *, is_large_better: bool = False
    ) -> str:
        """Which is better by how many points, and the interval of that."""
        positive = difference.difference > 0
        value, low, high = (difference.difference, difference.low, difference.high) if positive else difference.change
        interval = f"{100 * self.level:g}% interval {ends(100 * low, 100 * high, digits, plain=True)}"
        if not float(f"{100 * value:.{digits}f}"):
            return f"no difference in these digits, {interval}"
        return f"{self.names[positive != is_large_better]} {verb} {100 * value:.{digits}f} points {better}, {interval}"

    def _at_coverage(self, comparison: MixComparison) -> list[str]:
        if not comparison.risk:
            return []
        risk = min(comparison.risk, key=lambda each: abs(each.at - USUAL_COVERAGE))
        chance = "" if risk.is_significant else CHANCE
        share = "all rows" if risk.at == 1 else f"{percent(risk.at)} of the rows"
        risks = f"{100 * risk.a:.2f}% and {100 * risk.b:.2f}% of these are wrong"
        if comparison.is_graded:
            risks = f"the mean loss is {risk.a:.4f} and {risk.b:.4f}"
        words = f"Where both accept {share}, {risks}"
        return [f"{words}{chance}.", *self._gained(comparison, risk)]

    def _gained(self, comparison: MixComparison, risk: ModelDifference) -> list[str]:
        """How much more the better one accepts at the risk of the other."""
        if not risk.is_significant or risk.at == 1:
            return []
        first = risk.difference < 0
        better, other = self.names if first else self.names[::-1]
        rows = comparison.coverage_at_risk_of_b if first else comparison.coverage_at_risk_of_a
        gain = next(each for each in rows if each.at == risk.at)
        share = gain.a if first else gain.b
        low, high = (gain.low, gain.high) if first else (-gain.high, -gain.low)
        interval = ends(100 * low, 100 * high, 1, all_at=100 * (1 - risk.at))
        least, _, most = interval.replace("+", "").partition(" to ")
        more = f"{least} points more to all" if most == "all" else f"{least} to {most} points more"
        accepted = "all rows" if share == 1 else f"{share:.1%}"
        what = "mean loss" if comparison.is_graded else "risk"
        return [f"At the {what} that {other} has there, {better} accepts {accepted}{f' ({more})' if most else ''}."]

    def _at_risk(self, comparison: MixComparison) -> list[str]:
        if not comparison.coverage:
            return []
        coverage = comparison.coverage[0]
        risk = f"mean loss of {coverage.at:g}" if comparison.is_graded else f"risk of {percent(coverage.at)}"
        if coverage.a == coverage.b == 1:
            return [f"At a {risk} both accept all rows."]
        words = " and ".join("all rows" if share == 1 else f"{share:.1%}" for share in (coverage.a, coverage.b))
        points = self._gain(coverage, 1, "accepts", "more", is_large_better=True)
        chance = "" if coverage.is_significant else CHANCE
        return [f"At a {risk} they accept {words} ({points}){chance}."]


def _points(comparison: MixComparison) -> tuple[list[str], list[str]]:
    """Where a is better, and where b is: the areas, coverages and risks whose intervals exclude 0."""
    sides: tuple[list[str], list[str]] = ([], [])
    for is_for_b in (False, True):
        side = sides[is_for_b]
        side += [f"by {area_name(difference.at)}" for difference in comparison.aurc if _speaks(difference, is_for_b)]
        coverages = [percent(difference.at) for difference in comparison.risk if _speaks(difference, is_for_b)]
        risks = [percent(difference.at) for difference in comparison.coverage if _speaks(difference, not is_for_b)]
        side += [f"at a coverage of {listed(coverages)}"] if coverages else []
        side += [f"at a risk of {listed(risks)}"] if risks else []
    return sides


def _speaks(difference: ModelDifference, is_above: bool) -> bool:
    return difference.is_significant and (difference.difference > 0) == is_above


def signed(value: float, digits: int = 2, /) -> str:
    """A difference with its sign, and none where it rounds to nothing.

    >>> signed(-1.234), signed(0.5, 1), signed(-0.001)
    ('−1.23', '+0.5', '0.00')
    """
    rounded = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(rounded) == 0 else rounded.replace("-", "−")


def ends(low: float, high: float, digits: int = 2, /, *, all_at: float | None = None, plain: bool = False) -> str:
    """An interval, with as many more digits as show which side of zero it ends on; ``all`` is where no more is left.

    A ``plain`` one has no plus signs.

    >>> ends(-0.04, 5.89, 1), ends(0.0, 5.89, 1), ends(3.2, 20.0, 1, all_at=20.0), ends(20.0, 20.0, all_at=20.0)
    ('−0.04 to +5.89', '0.0 to +5.9', '+3.2 to all', 'all')
    """
    for more in range(MOST_DIGITS + 1):
        if all(value == 0 or float(f"{value:.{digits + more}f}") for value in (low, high)):
            digits += more
            break
    shown = [
        "all" if all_at is not None and abs(value - all_at) < 1e-9 else signed(value, digits) for value in (low, high)
    ]
    words = "all" if shown == ["all", "all"] else " to ".join(shown)
    return words.replace("+", "") if plain else words
