"""The table of the paper: ten scores by mixes and α, best bold, second and third underlined; and beside the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from abstain.evaluation import Evaluation
from abstain.experiments.findings import Table
from abstain.experiments.paper.areas import EvaluatedAreas
from abstain.experiments.paper.published import paper_tables
from abstain.experiments.paper.score_claims import PAPER_SCORES
from abstain.metrics.intervals import ALPHAS
from abstain.report.tables import Ranked, latex_of
from abstain.scores.registry import SCORES

Areas = Mapping[tuple[str, str, float], float]
SHOWN_AS = {1: "**{}**", 2: "<u>{}</u>", 3: "<u>{}</u>"}
NO_VALUE = "–"


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
                for score in PAPER_SCORES
                if score in areas.scores
                for mix in areas.mixes
                for alpha in ALPHAS
            }
        )

    @property
    def columns(self) -> list[tuple[str, float]]:
        """Mixes and α."""
        return [(mix, alpha) for mix in dict.fromkeys(mix for _, mix, _ in self.areas) for alpha in ALPHAS]

    def place(self, score: str, mix: str, alpha: float, /) -> int:
        """1 for the best of a column; values that print alike share a place, as in the paper."""
        column = {round(100 * self.areas[key], 2) for key in self.areas if key[1:] == (mix, alpha)}
        return 1 + sorted(column).index(round(100 * self.areas[score, mix, alpha], 2))

    def markdown(self, title: str, note: str = "", /) -> Table:
        """For findings."""
        rows = [(_symbol(score), *(self._cell(score, *column) for column in self.columns)) for score in self._present()]
        return Table(title, ("score", *_heads(self.columns)), tuple(rows), note)

    def latex(self) -> str:
        """For a paper."""
        lines: list[tuple[tuple[str, str], Sequence[Ranked | None]]] = [
            ((score, _symbol(score)), [self._ranked(score, *column) for column in self.columns])
            for score in self._present()
        ]
        heads = [(mix, f"α={alpha:g}") for mix, alpha in self.columns]
        return latex_of(heads, lines, caption="AURC-α × 100, lower is better.")

    def beside(self, task: str, model: str, /) -> Table | None:
        """Ours, the paper's and the difference, or None if the paper has no such model."""
        printed = {key[2:]: value for key, value in paper_tables().items() if key[:2] == (task, model)}
        shared = [column for column in self.columns if (column[0], PAPER_SCORES[0], column[1]) in printed]
        if not shared:
            return None
        rows = []
        for score in self._present():
            cells = []
            for mix, alpha in shared:
                ours, theirs = self.areas.get((score, mix, alpha)), printed[mix, score, alpha]
                apart = "" if ours is None else f"{100 * ours - theirs:+.2f}".replace("-", "−")
                cells.append(NO_VALUE if ours is None else f"{_two(ours)} / {theirs:g} ({apart})")
            rows.append((_symbol(score), *cells))
        return Table("Ours / the paper's (difference), AURC × 100", ("score", *_heads(shared)), tuple(rows))

    def _present(self) -> list[str]:
        return [score for score in PAPER_SCORES if any(key[0] == score for key in self.areas)]

    def _ranked(self, score: str, mix: str, alpha: float) -> Ranked | None:
        area = self.areas.get((score, mix, alpha))
        return None if area is None else (area, self.place(score, mix, alpha))

    def _cell(self, score: str, mix: str, alpha: float) -> str:
        found = self._ranked(score, mix, alpha)
        return NO_VALUE if found is None else SHOWN_AS.get(found[1], "{}").format(_two(found[0]))


def _heads(columns: Sequence[tuple[str, float]]) -> list[str]:
    return [f"{mix} α={alpha:g}" for mix, alpha in columns]


def _symbol(score: str) -> str:
    return SCORES[score].symbol


def _two(area: float) -> str:
    return f"{100 * area:.2f}"
