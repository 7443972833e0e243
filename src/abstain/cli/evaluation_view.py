"""What is printed of an evaluation: one JSON document or tables, of outputs or of counts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

import abstain
from abstain._text import mean_of_outcomes
from abstain.cli.groups import group_lines
from abstain.cli.printing import Lines, Paragraph, Result, command_line, next_command, small_table
from abstain.cli.summary_table import table_lines

if TYPE_CHECKING:
    from rich.table import Table

    from abstain.evaluation import SketchedEvaluation
    from abstain.evaluation.operating_point import Point

    Groups = tuple[str, Point, abstain.metrics.GroupComparison]


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationView:
    """Options on what is shown of an evaluation."""

    mix: Annotated[list[str] | None, typer.Option(help="Show in, in+cov, in+label or all; repeat. [the widest]")] = None
    intervals: Annotated[bool, typer.Option("--intervals", help="Show the interval of every value.")] = False
    every: Annotated[bool, typer.Option("--all", help="Show every score in every mix.")] = False

    def of_outputs(
        self, evaluation: "abstain.Evaluation", /, *, run: str, drawn: list[str], groups: "Groups | None"
    ) -> Result:
        """An evaluation of outputs, its groups at a point, the figures drawn of it, and the next command."""
        document = evaluation.to_dict() | ({"figures": drawn} if drawn else {})
        compared = {} if groups is None else {"groups": groups[2]}
        return Result(document | compared, self._lines(evaluation, run, drawn, groups))

    def of_counts(self, evaluation: "SketchedEvaluation", /) -> Result:
        """An evaluation of counts: the usual table, and the bounds of every value."""
        return Result(evaluation.to_dict(), self._count_lines(evaluation))

    def _count_lines(self, evaluation: "SketchedEvaluation") -> Lines:
        yield from self._table(self._summary(evaluation))
        yield _bounds(evaluation, (self._mixes(evaluation) or evaluation.mixes)[-1])

    def _lines(self, evaluation: "abstain.Evaluation", run: str, drawn: list[str], groups: "Groups | None") -> Lines:
        summary = self._summary(evaluation)
        yield from self._table(summary)
        if groups is not None:
            name, point, comparison = groups
            yield f"Where {point.score} accepts {point.coverage:.1%} of the rows:"
            yield from group_lines(name, comparison, is_graded=evaluation.outputs.is_graded)
        yield from (Paragraph(line, whole=True) for line in drawn)
        yield from calibration_lines(evaluation, run, summary.verdict.score, "selector.abstain")

    def _mixes(self, evaluation: "abstain.Evaluation | SketchedEvaluation") -> list[str] | None:
        return evaluation.mixes if self.every else self.mix

    def _summary(self, evaluation: "abstain.Evaluation | SketchedEvaluation") -> "abstain.Summary":
        from abstain.evaluation.summary import SHOWN

        return abstain.summarize(evaluation, mixes=self._mixes(evaluation), shown=None if self.every else SHOWN)

    def _table(self, summary: "abstain.Summary") -> Lines:
        yield Paragraph(summary.verdict.words, "bold")
        yield from table_lines(summary, intervals=self.intervals)


def calibration_lines(evaluation: "abstain.Evaluation", run: str, score: str, selector: str) -> Lines:
    """The command that calibrates the recommended score, and what its options mean.

    Where scores were compared on these rows, `best` chooses again on a part of them that certifies nothing.
    """
    from abstain.evaluation.proposal import proposed_risk
    from abstain.scores.registry import recommended_words

    if (risk := proposed_risk(evaluation, score)) is None:
        plan = command_line("plan", "--n", len(evaluation.given))
        yield Paragraph(f"Next: {plan} (these rows are too few, or too often wrong, to certify a risk)", whole=True)
        return
    several = len(evaluation.scores) > 1
    total = float(evaluation.outcomes.sum()) if evaluation.outputs.is_graded else int(evaluation.errors.sum())
    notes = [f"--risk {risk:g} is an example; choose it without these rows ({mean_of_outcomes(total, evaluation.n)})."]
    if several:
        notes.append(recommended_words(score))
    yield from (Paragraph(f"- {note}", "dim") for note in notes)
    yield next_command("calibrate", run, "--score", "best" if several else score, "--risk", f"{risk:g}", "-o", selector)


def _bounds(evaluation: "SketchedEvaluation", mix: str) -> "Table":
    """Lower and upper bound of AURC of every score in a mix, by α."""
    alphas = evaluation.alphas
    rows = []
    for name in sorted(evaluation.scores, key=lambda name: evaluation.row(name, mix, alphas[-1]).aurc):
        values = [evaluation.row(name, mix, alpha) for alpha in alphas]
        rows.append([name, *(f"{100 * (row.lower or 0):.4f}–{100 * (row.upper or 0):.4f}" for row in values)])
    return small_table(
        ["score", *(f"α={alpha:g}" for alpha in alphas)], rows, title=f"{mix}: exact bounds (AURC × 100)"
    )
