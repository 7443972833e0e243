"""The files that `abstain evaluate` writes: curves, figures, tables and the report."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, final

import typer

import abstain
from abstain._io.files import check_suffix
from abstain.cli.options import Figure
from abstain.cli.progress import progress_bar


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationFiles:
    """Options that name files to write, None for none."""

    figure: Figure = None
    figures: Annotated[
        Path | None, typer.Option(help="A folder for every figure that the data allow (.png, .svg, .pdf).")
    ] = None
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the table to a .md, .tex, .csv or .parquet file; repeat."),
    ] = None
    report: Annotated[Path | None, typer.Option(help="Write the report here (.html), as `abstain report` does.")] = None
    selector: Annotated[
        Path | None, typer.Option(help="A selector: figures and report are about its threshold and guarantee.")
    ] = None

    def check(self) -> None:
        """Raise an error for files that cannot be written, before anything is computed."""
        from abstain.evaluation.tables import ENDINGS
        from abstain.report.figures.save import check_figure, check_figures
        from abstain.report.tables import check_table

        check_figure(self.figure)
        check_figures(self.figures)
        if self.report is not None:
            from abstain.evaluation.page import check_page  # needs SciPy, which takes long to import

            check_suffix("--report", self.report, (".html", ".htm"))
            check_page(self.report)
        for table in self.output or ():
            check_table(table, ENDINGS)

    def write(self, evaluation: "abstain.Evaluation", /, *, selector: "abstain.Selector | None", run: str) -> list[str]:
        """Write them; a line for each of the ``figures``."""
        from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
        from abstain.evaluation.tables import write_evaluation
        from abstain.report.figures.save import save_figure

        if self.figure is not None:
            save_figure(risk_coverage_figure(evaluation), self.figure)
        for table in self.output or ():
            write_evaluation(evaluation, table)
        if self.report is not None:
            from abstain.evaluation.page import PageLabels

            labels = PageLabels(run=run, selector_file=str(self.selector))
            evaluation.to_html(self.report, selector=selector, labels=labels)
        return [] if self.figures is None else _draw(evaluation, self.figures, selector)


def _draw(evaluation: "abstain.Evaluation", folder: Path, selector: "abstain.Selector | None") -> list[str]:
    from abstain.evaluation.figures.folder import write_figures
    from abstain.evaluation.operating_point import point_of

    with progress_bar() as progress:
        progress("Drawing", 1.0)
        return write_figures(evaluation, point_of(evaluation, selector=selector, risk=None, delta=0.05), folder)
