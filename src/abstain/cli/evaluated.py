"""What `abstain demo` and `abstain reproduce` have in common: evaluate outputs, draw, and tell."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from abstain.cli.letters import shown
from abstain.cli.program import program
from abstain.cli.show import print_json, print_summary, progress_bar
from abstain.cli.telling import tell_next

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation
    from abstain.evaluation.fitting import Fitting
    from abstain.outputs import Outputs


def evaluated(outputs: "Outputs", folder: Path, *, seed: int, fitting: "Fitting" = "fifth") -> "Evaluation":
    """All scores compared, and their curves in the folder."""
    import abstain
    from abstain.kernels.beside import compiling_beside
    from abstain.report.figures.risk_coverage import risk_coverage_figure
    from abstain.report.figures.save import save_figure

    with compiling_beside(), progress_bar() as progress:
        evaluation = abstain.evaluate(outputs, fitting=fitting, seed=seed, progress=progress)
        progress("Drawing", 1.0)
        save_figure(risk_coverage_figure(evaluation), folder / "risk-coverage.png")
    return evaluation


def tell(evaluation: "Evaluation", folder: Path, *, words: str, json: bool) -> None:
    """What was found, where the outputs and the figure are, and how to go on."""
    from rich.console import Console

    from abstain.evaluation import summarize

    outputs, figure = folder / "outputs", folder / "risk-coverage.png"
    if json:
        print_json(evaluation.to_dict() | {"outputs": str(outputs), "figure": str(figure)})
        return
    console = Console()
    console.print(words)
    summary = summarize(evaluation)
    print_summary(summary, console)
    print(shown(f"\nRisk–coverage curves: {figure}"))
    print(shown(f"Every mix of shifts:  {program()} evaluate {shlex.quote(str(outputs))} --all"))
    tell_next(evaluation, str(outputs), summary.verdict.score, f"{folder.name}.abstain", console)
