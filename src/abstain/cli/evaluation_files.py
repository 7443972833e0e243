"""The files that `abstain evaluate` writes of outputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from abstain.cli.show import progress_bar

if TYPE_CHECKING:
    from abstain.evaluation import Evaluation
    from abstain.selector import Selector


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationFiles:
    """Where the curves, all figures, tables and the page go, None for none."""

    figure: Path | None
    figures: Path | None
    tables: tuple[Path, ...]
    page: Path | None

    def check(self) -> None:
        """What would stop them from being written, before anything is computed."""
        from abstain.report.figures.save import check_figure, check_figures
        from abstain.report.table_file import check_table

        check_figure(self.figure)
        check_figures(self.figures)
        if self.page is not None:
            from abstain.report.evaluation_page import check_page  # needs SciPy, which takes long to import

            check_page(self.page)
        for goal in self.tables:
            check_table(goal)

    def write(self, result: "Evaluation", *, selector: "Selector | None", run: str, selector_file: str) -> list[str]:
        """Write them; a line for each of the ``figures``."""
        from abstain.report.figures.risk_coverage import risk_coverage_figure
        from abstain.report.figures.save import save_figure
        from abstain.report.table_file import write_evaluation

        if self.figure is not None:
            save_figure(risk_coverage_figure(result), self.figure)
        for goal in self.tables:
            write_evaluation(result, goal)
        if self.page is not None:
            from abstain.report.evaluation_page import write_page

            write_page(result, self.page, selector=selector, run=run, selector_file=selector_file)
        return [] if self.figures is None else _draw(result, self.figures, selector)


def _draw(result: "Evaluation", folder: Path, selector: "Selector | None") -> list[str]:
    from abstain.report.figures.folder import write_figures
    from abstain.report.point import point_of

    with progress_bar() as progress:
        progress("Drawing", 1.0)
        point = point_of(result, selector=selector, risk=None, delta=0.05)
        return write_figures(result, point, folder)
