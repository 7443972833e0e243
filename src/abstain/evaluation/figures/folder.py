"""Every figure of an evaluation that its data allow, in a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from abstain.evaluation import Evaluation
from abstain.evaluation.figures.guarantee import guarantee_figure
from abstain.evaluation.figures.histogram import histogram_figure
from abstain.evaluation.figures.risk_coverage import risk_coverage_figure
from abstain.evaluation.figures.scale import scale_figure
from abstain.evaluation.figures.significance import significance_figure
from abstain.evaluation.figures.slices import slices_figure
from abstain.evaluation.operating_point import Point
from abstain.evaluation.sensitivity import scale_sensitivity
from abstain.report.figures.save import METADATA, check_figures, save_figure
from abstain.report.figures.style import CannotDrawError


def _scale(evaluation: Evaluation, _point: Point) -> Any:
    if not evaluation.outputs.n_classes:
        raise CannotDrawError("there are no logits")
    return scale_figure(scale_sensitivity(evaluation.outputs))


FIGURES: dict[str, tuple[str, Callable[[Evaluation, Point], Any]]] = {
    "risk-coverage": ("risk over coverage", lambda evaluation, _: risk_coverage_figure(evaluation)),
    "histogram": ("the score of right, wrong and unknown samples, with the threshold", histogram_figure),
    "group": ("risk and coverage by group at the threshold", lambda *both: slices_figure(*both, by="group")),
    "class": ("risk and coverage by true class at the threshold", lambda *both: slices_figure(*both, by="class")),
    "scale": ("softmax scores over the scale of the logits", _scale),
    "significance": ("which score is better than which", lambda evaluation, _: significance_figure(evaluation)),
    "guarantee": ("certified against realised risk", guarantee_figure),
}
"""By name, in words, and how each is drawn at an operating point; adding one takes a file, a line here and a test."""


def write_figures(evaluation: Evaluation, point: Point, folder: Path, /) -> list[str]:
    """Write each figure as .png, .svg and .pdf; a line for each, also for those that the data do not allow."""
    check_figures(folder)
    folder.mkdir(exist_ok=True)
    return [_write(name, evaluation, point, folder) for name in FIGURES]


def _write(name: str, evaluation: Evaluation, point: Point, folder: Path) -> str:
    words, draw = FIGURES[name]
    try:
        figure = draw(evaluation, point)
    except CannotDrawError as reason:
        return f"{name}: {words}: left out, as {reason}."
    for ending in METADATA:
        save_figure(figure, folder / f"{name}{ending}")
    return f"{folder / name}{{{','.join(METADATA)}}}: {words}"
