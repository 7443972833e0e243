"""How an evaluation is told: as one document or as tables, of outputs or of counts."""

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from abstain.cli.letters import shown
from abstain.cli.program import program
from abstain.cli.show import print_json, print_summary

if TYPE_CHECKING:
    from rich.console import Console

    from abstain.evaluation import Evaluation, SketchedEvaluation


@final
@dataclass(frozen=True, kw_only=True)
class Telling:
    """What is asked to be shown."""

    mix: list[str] | None
    every: bool
    """All scores in all mixes."""
    intervals: bool
    json: bool

    def outputs(self, found: "Evaluation", *, run: str, drawn: list[str]) -> None:
        """An evaluation of outputs, the figures drawn of it, and how to go on."""
        from rich.console import Console

        if self.json:
            print_json(found.to_dict() | ({"figures": drawn} if drawn else {}))
            return
        console = Console()
        score = self._table(found, console)
        for line in drawn:
            print(shown(line))
        tell_next(found, run, score, "selector.abstain", console)

    def counts(self, found: "SketchedEvaluation") -> None:
        """An evaluation of counts: the usual table, and under it what is certain."""
        from rich.console import Console

        if self.json:
            print_json(found.to_dict())
            return
        console = Console()
        self._table(found, console)
        console.print(_bounds(found, (self._mixes(found) or found.mixes)[-1]))

    def _mixes(self, found: "Evaluation | SketchedEvaluation") -> list[str] | None:
        return found.mixes if self.every else self.mix

    def _table(self, found: "Evaluation | SketchedEvaluation", console: "Console") -> str:
        """Print it; the score that is recommended."""
        from abstain.evaluation import summarize
        from abstain.evaluation.summarize import SHOWN

        summary = summarize(found, mixes=self._mixes(found), shown=None if self.every else SHOWN)
        print_summary(summary, console, intervals=self.intervals)
        return summary.verdict.score


def tell_next(found: "Evaluation", run: str, score: str, selector: str, console: "Console") -> None:
    """What the options of the next command are, then the command, whose guarantee holds; or how to find what is needed.

    Where scores were compared on these rows, `best` chooses again on a part of them that certifies nothing.
    """
    from abstain.evaluation.proposal import proposed_risk

    if (risk := proposed_risk(found, score)) is None:
        print(shown(f"Next: {program()} plan --n {len(found.given)}, as these rows certify nothing"))
        return
    several = len(found.scores) > 1
    words = (
        f"--risk {risk:g} is an example: put the share of errors that you accept, chosen without these rows "
        f"({found.errors.mean():.1%} wrong)."
    )
    if several:
        words += f" --score best chooses on a fifth of them; on other rows --score {score} needs no fifth."
    console.print(shown(words), style="dim", markup=False, highlight=False)
    options = ["calibrate", run, "--score", "best" if several else score, "--risk", f"{risk:g}", "-o", selector]
    print(shown(f"Next: {program()} {shlex.join(options)}"))


def _bounds(found: "SketchedEvaluation", mix: str) -> Any:
    """The brackets of every score in a mix, by α."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    title = f"{escape(shown(mix))}: certain bounds"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left")
    table.add_column("score", no_wrap=True)
    for alpha in found.alphas:
        table.add_column(shown(f"α={alpha:g}"), justify="right", no_wrap=True)
    for name in sorted(found.scores, key=lambda name: float(found.row(name, mix, found.alphas[-1])["aurc"])):
        rows = [found.row(name, mix, alpha) for alpha in found.alphas]
        table.add_row(
            escape(shown(name)), *(shown(f"{100 * row['lower']:.4f}–{100 * row['upper']:.4f}") for row in rows)
        )
    return table
