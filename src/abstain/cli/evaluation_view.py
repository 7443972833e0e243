"""What is printed of an evaluation: one JSON document or tables, of outputs or of counts."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

from abstain._text import mean_of_outcomes
from abstain.cli.groups import print_groups
from abstain.cli.printing import command_line, print_json, print_next, say, small_table
from abstain.cli.summary_table import print_summary
from abstain.cli.terminal import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from abstain.evaluation import Evaluation, SketchedEvaluation
    from abstain.evaluation.operating_point import Point
    from abstain.metrics import GroupComparison


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationView:
    """Options on what is shown of an evaluation."""

    mix: Annotated[list[str] | None, typer.Option(help="Show in, in+cov, in+label or all; repeat. [the widest]")] = None
    intervals: Annotated[bool, typer.Option("--intervals", help="Show the interval of every value.")] = False
    every: Annotated[bool, typer.Option("--all", help="Show every score in every mix.")] = False

    def print_outputs(
        self,
        evaluation: "Evaluation",
        /,
        *,
        run: str,
        drawn: list[str],
        json: bool,
        groups: "tuple[str, Point, GroupComparison] | None" = None,
    ) -> None:
        """An evaluation of outputs, its groups at a point, the figures drawn of it, and the next command."""
        from rich.console import Console

        if json:
            compared = {} if groups is None else {"groups": asdict(groups[2])}
            print_json(evaluation.to_dict() | ({"figures": drawn} if drawn else {}) | compared)
            return
        console = Console()
        score = self._print_table(evaluation, console)
        if groups is not None:
            name, point, comparison = groups
            say(f"Where {point.score} accepts {point.coverage:.1%} of the rows:")
            print_groups(name, comparison, is_graded=evaluation.outputs.is_graded)
        for line in drawn:
            print(shown(line))
        print_calibration(evaluation, run, score, "selector.abstain", console)

    def print_counts(self, evaluation: "SketchedEvaluation", /, *, json: bool) -> None:
        """An evaluation of counts: the usual table, and the bounds of every value."""
        from rich.console import Console

        if json:
            print_json(evaluation.to_dict())
            return
        console = Console()
        self._print_table(evaluation, console)
        console.print(_bounds(evaluation, (self._mixes(evaluation) or evaluation.mixes)[-1]))

    def _mixes(self, evaluation: "Evaluation | SketchedEvaluation") -> list[str] | None:
        return evaluation.mixes if self.every else self.mix

    def _print_table(self, evaluation: "Evaluation | SketchedEvaluation", console: "Console") -> str:
        """Print it; the score that is recommended."""
        from abstain.evaluation import summarize
        from abstain.evaluation.summary import SHOWN

        summary = summarize(evaluation, mixes=self._mixes(evaluation), shown=None if self.every else SHOWN)
        print_summary(summary, console, intervals=self.intervals)
        return summary.verdict.score


def print_calibration(evaluation: "Evaluation", run: str, score: str, selector: str, console: "Console") -> None:
    """The command that calibrates the recommended score, and what its options mean.

    Where scores were compared on these rows, `best` chooses again on a part of them that certifies nothing.
    """
    from abstain.evaluation.proposal import proposed_risk
    from abstain.scores.registry import recommended_words

    if (risk := proposed_risk(evaluation, score)) is None:
        plan = command_line("plan", "--n", len(evaluation.given))
        say(f"Next: {plan} (these rows are too few, or too often wrong, to certify a risk)", whole=True)
        return
    several = len(evaluation.scores) > 1
    total = float(evaluation.outcomes.sum()) if evaluation.outputs.is_graded else int(evaluation.errors.sum())
    notes = [f"--risk {risk:g} is an example; choose it without these rows ({mean_of_outcomes(total, evaluation.n)})."]
    if several:
        notes.append(recommended_words(score))
    for note in notes:
        console.print(shown(f"- {note}"), style="dim", markup=False, highlight=False)
    print_next("calibrate", run, "--score", "best" if several else score, "--risk", f"{risk:g}", "-o", selector)


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
