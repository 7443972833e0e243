"""What sets two models apart on a mix, in words: which is better, where, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from abstain.evaluation.mixes import mix_among
from abstain.evaluation.runs.mix_comparison import Difference, MixComparison
from abstain.evaluation.runs.signed import ends
from abstain.metrics.aurc import area_name
from abstain.words import listed, sentence

USUAL_COVERAGE = 0.8
CHANCE = ", which may be chance"


@final
@dataclass(frozen=True)
class RunWords:
    """The words for two models of these names."""

    names: tuple[str, str]
    level: float
    mixes: tuple[str, ...]
    """All that there are."""

    def sentences(self, found: MixComparison, /) -> list[str]:
        """The verdict, then the risks at a coverage and the coverages at a risk."""
        if found.errors_a == found.errors_b and found.errors_a in (0, found.n):
            state = "wrong" if found.errors_a else "right"
            return [f"Neither can be called better: both are always {state} {self._where(found)}."]
        if found.is_same:
            return [f"There is no difference {self._where(found)}: both have the same errors and rank all rows alike."]
        return [self._verdict(found), *self._at_coverage(found), *self._at_risk(found)]

    def otherwise(self, found: MixComparison, others: Sequence[MixComparison], /) -> list[str]:
        """Mixes on which the area speaks for the other model, or for one where it does for none."""
        told, sentences = self._better(found.area), []
        for mix in others:
            better, words = self._better(mix.area), sentence(mix_among(mix.mix, self.mixes).words)
            if better is not None and better != told:
                sentences.append(f"{words} {better} is better: {self._numbers(mix.area)}.")
            elif better is None and told is not None and mix.area.difference * found.area.difference < 0:
                sentences.append(f"{words} the sign is the other{CHANCE}: {self._numbers(mix.area)}.")
        return sentences

    def _verdict(self, found: MixComparison) -> str:
        """By the area where that tells; by where they are better if it does not, or where the curves cross."""
        better, (for_a, for_b) = self._better(found.area), _points(found)
        numbers = self._numbers(found.area)
        if not for_a and not for_b:
            return f"No difference after rejection can be told {self._where(found)}: {numbers}."
        if better is not None and not (for_a and for_b):
            return f"{better} is better after rejection {self._where(found)}: {numbers}."
        sides = [
            f"{name} is better {listed(points)}"
            for name, points in zip(self.names, (for_a, for_b), strict=True)
            if points
        ]
        which = f"it depends on the coverage which is better: {'; '.join(sides)}" if len(sides) == 2 else sides[0]
        whole = "no difference can be told" if better is None else f"{better} is better"
        over = "Over all coverages" if found.area.at == 1 else "In all"
        each = f"each by a {100 * self.level:g}% interval of its own"
        return f"After rejection {self._where(found)} {which} ({each}). {over} {whole}: {numbers}."

    def _where(self, found: MixComparison) -> str:
        rows = f"{found.n:,} rows" + ("" if found.samples == found.n else f" of {found.samples:,} samples")
        return f"{mix_among(found.mix, self.mixes).words} ({rows})"

    def _better(self, area: Difference) -> str | None:
        return None if not area.is_significant else self.names[area.difference > 0]

    def _numbers(self, area: Difference) -> str:
        values = f"{100 * area.a:.2f} for {self.names[0]} and {100 * area.b:.2f} for {self.names[1]}"
        return f"{area_name(area.at)} {values} ({self._gain(area, 2, 'is', 'better')})"

    def _gain(self, one: Difference, digits: int, verb: str, better: str, *, is_large_better: bool = False) -> str:
        """Which is better by how many points, and the interval of that."""
        positive = one.difference > 0
        value, low, high = (one.difference, one.low, one.high) if positive else one.change
        interval = f"{100 * self.level:g}% interval {ends(100 * low, 100 * high, digits, plain=True)}"
        if not float(f"{100 * value:.{digits}f}"):
            return f"no difference in these digits, {interval}"
        return f"{self.names[positive != is_large_better]} {verb} {100 * value:.{digits}f} points {better}, {interval}"

    def _at_coverage(self, found: MixComparison) -> list[str]:
        if not found.risk:
            return []
        one = min(found.risk, key=lambda each: abs(each.at - USUAL_COVERAGE))
        told = "" if one.is_significant else CHANCE
        share = "all rows" if one.at == 1 else f"{one.at:.4g} of the rows"
        words = f"Where both accept {share}, {100 * one.a:.2f}% and {100 * one.b:.2f}% of these are wrong"
        return [f"{words}{told}.", *self._gained(found, one)]

    def _gained(self, found: MixComparison, one: Difference) -> list[str]:
        """How much more the better one accepts at the risk of the other."""
        if not one.is_significant or one.at == 1:
            return []
        first = one.difference < 0
        better, other = self.names if first else self.names[::-1]
        rows = found.coverage_at_risk_of_b if first else found.coverage_at_risk_of_a
        gain = next(each for each in rows if each.at == one.at)
        share = gain.a if first else gain.b
        low, high = (gain.low, gain.high) if first else (-gain.high, -gain.low)
        interval = ends(100 * low, 100 * high, 1, all_at=100 * (1 - one.at))
        least, _, most = interval.replace("+", "").partition(" to ")
        more = f"{least} points more to all" if most == "all" else f"{least} to {most} points more"
        accepted = "all rows" if share == 1 else f"{share:.1%}"
        return [f"At the risk that {other} has there, {better} accepts {accepted}{f' ({more})' if most else ''}."]

    def _at_risk(self, found: MixComparison) -> list[str]:
        if not found.coverage:
            return []
        one = found.coverage[0]
        if one.a == one.b == 1:
            return [f"At a risk of {one.at:.4g} both accept all rows."]
        words = " and ".join("all rows" if share == 1 else f"{share:.1%}" for share in (one.a, one.b))
        points = self._gain(one, 1, "accepts", "more", is_large_better=True)
        return [f"At a risk of {one.at:.4g} they accept {words} ({points}){'' if one.is_significant else CHANCE}."]


def _points(found: MixComparison) -> tuple[list[str], list[str]]:
    """Where a is better, and where b is: the areas, coverages and risks whose intervals tell."""
    sides: tuple[list[str], list[str]] = ([], [])
    for is_for_b in (False, True):
        side = sides[is_for_b]
        side += [f"by {area_name(one.at)}" for one in found.aurc if _speaks(one, is_for_b)]
        coverages = [f"{one.at:.4g}" for one in found.risk if _speaks(one, is_for_b)]
        risks = [f"{one.at:.4g}" for one in found.coverage if _speaks(one, not is_for_b)]
        side += [f"at a coverage of {listed(coverages)}"] if coverages else []
        side += [f"at a risk of {listed(risks)}"] if risks else []
    return sides


def _speaks(one: Difference, is_above: bool) -> bool:
    return one.is_significant and (one.difference > 0) == is_above
