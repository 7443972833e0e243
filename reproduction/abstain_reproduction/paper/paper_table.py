"""The table of the paper: its scores by mixes and α, best bold, second and third underlined; also with the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from abstain.evaluation import Evaluation
from abstain.metrics.intervals import ALPHAS
from abstain.scores.registry import SCORES
from abstain_reproduction.findings import ResultTable
from abstain_reproduction.paper.areas import EvaluatedAreas
from abstain_reproduction.paper.published_areas import paper_tables
from abstain_reproduction.paper.score_claims import FOR_OOD, MARGINS, PAPER_SCORES, SOFTMAX

Areas = Mapping[tuple[str, str, float], float]
SHOWN_AS = {1: "**{}**", 2: "<u>{}</u>", 3: "<u>{}</u>"}
NO_VALUE = "–"
HEAD = "selection_head"
"""What a SelectiveNet is trained to give, "ScNet" in Fig. 6."""
ROWS = (*MARGINS, *SOFTMAX, HEAD, *FOR_OOD)


@dataclass(frozen=True)
class PaperTable:
    """AURC-α by score, mix and α, as fractions."""

    areas: Areas

    @classmethod
    def of(cls, evaluation: Evaluation, /) -> "PaperTable":
        """That of an evaluation."""
        areas = EvaluatedAreas(evaluation)
        return cls(
            {
                (score, mix, alpha): areas.area(score, mix, alpha)
                for score in ROWS
                if score in areas.scores
                for mix in areas.mixes
                for alpha in ALPHAS
            }
        )

    @property
    def mixes(self) -> list[str]:
        """In their order."""
        return list(dict.fromkeys(mix for _, mix, _ in self.areas))

    @property
    def scores(self) -> list[str]:
        """In the order of the paper's rows."""
        return [score for score in ROWS if any(key[0] == score for key in self.areas)]

    @property
    def columns(self) -> list[tuple[str, float]]:
        """Mixes and α."""
        return [(mix, alpha) for mix in self.mixes for alpha in ALPHAS]

    def rank(self, score: str, mix: str, alpha: float, /) -> int:
        """The rank in a column, 1 for the best; values that print identically share a rank, as in the paper."""
        column = {float(printed(self.areas[key])) for key in self.areas if key[1:] == (mix, alpha)}
        return 1 + sorted(column).index(float(printed(self.areas[score, mix, alpha])))

    def markdown(self, title: str, note: str = "", /) -> ResultTable:
        """For findings."""
        rows = [(symbol_of(score), *(self._cell(score, *column) for column in self.columns)) for score in self.scores]
        return ResultTable(title, ("score", *_heads(self.columns)), tuple(rows), note)

    def paper_comparison(self, task: str, model: str, /) -> ResultTable | None:
        """Ours, the paper's and the difference, or None if the paper has no such model."""
        theirs_by = {key[2:]: value for key, value in paper_tables().items() if key[:2] == (task, model)}
        shared = [column for column in self.columns if (column[0], PAPER_SCORES[0], column[1]) in theirs_by]
        if not shared:
            return None
        rows = []
        for score in [score for score in self.scores if score in PAPER_SCORES]:
            cells = []
            for mix, alpha in shared:
                ours, theirs = self.areas.get((score, mix, alpha)), theirs_by[mix, score, alpha]
                apart = "" if ours is None else f"{100 * ours - theirs:+.2f}".replace("-", "−")
                cells.append(NO_VALUE if ours is None else f"{printed(ours)} / {printed(theirs / 100)} ({apart})")
            rows.append((symbol_of(score), *cells))
        return ResultTable("Ours / the paper's (difference), AURC × 100", ("score", *_heads(shared)), tuple(rows))

    def _cell(self, score: str, mix: str, alpha: float) -> str:
        area = self.areas.get((score, mix, alpha))
        if area is None:
            return NO_VALUE
        return SHOWN_AS.get(self.rank(score, mix, alpha), "{}").format(printed(area))


def _heads(columns: Sequence[tuple[str, float]]) -> list[str]:
    return [f"{mix} α={alpha:g}" for mix, alpha in columns]


def symbol_of(score: str, /) -> str:
    """As the paper calls it."""
    return "ScNet" if score == HEAD else SCORES[score].symbol


def printed(area: float, /) -> str:
    """AURC × 100 with the three digits that the paper has.

    >>> [printed(area) for area in (0.0016, 0.0543, 0.09996, 0.1174)]
    ['0.16', '5.43', '10.0', '11.7']
    """
    text = f"{100 * area:.2f}"
    return text if float(text) < 10 else f"{100 * area:.1f}"
