"""Every figure of an evaluation that its data allow, in a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from abstain.evaluation import Evaluation
from abstain.report.evaluation_page.point import Point
from abstain.report.evaluation_page.slices import divisions
from abstain.report.histogram_figure import histogram_figure
from abstain.report.promise_figure import promise_figure
from abstain.report.risk_coverage_figure import risk_coverage_figure
from abstain.report.save import METADATA, save_figure
from abstain.report.scale_figure import scale_figure
from abstain.report.significance_figure import significance_figure
from abstain.report.slices_figure import slices_figure
from abstain.sensitivity import scale_sensitivity

Draw = Callable[[], Any]
FEW = 2  # of what a figure compares


def figures_of(evaluation: Evaluation, point: Point, /) -> Iterator[tuple[str, str, Draw | str]]:
    """By name, in words, and how to draw each; or why there is none."""
    outputs = evaluation.outputs
    yield "risk-coverage", "risk over coverage", lambda: risk_coverage_figure(evaluation)
    yield "histogram", f"{point.score} of right, wrong and unknown", lambda: histogram_figure(evaluation, point)
    found = {division.name: division for division in divisions(evaluation, point)}
    for name, lacking in (("domain", "domains"), ("true", "labels")):
        what, words = "class" if name == "true" else name, "true class" if name == "true" else name
        told = f"risk and coverage by {words} at the threshold"
        division = found.get(name)
        if division is None or len(division.parts) < FEW:
            yield what, told, f"the outputs have no {lacking}" if division is None else f"there is one {words} alone"
        else:
            yield what, told, lambda division=division: slices_figure(evaluation, point, division)
    told = "AURC of softmax scores over the scale of the logits"
    yield (
        "scale",
        told,
        (lambda: scale_figure(scale_sensitivity(outputs))) if outputs.n_classes else "there are no logits",
    )
    alone = "there is one score alone"
    several = len(evaluation.scores) >= FEW
    yield "significance", "which score beats which", (lambda: significance_figure(evaluation)) if several else alone
    yield "promise", "certified against realised risk", lambda: promise_figure(evaluation, point)


def write_figures(evaluation: Evaluation, point: Point, folder: Path, /) -> list[str]:
    """Write each figure as .png, .svg and .pdf; a line for each, also for those that cannot be drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, words, draw in figures_of(evaluation, point):
        try:
            figure = draw if isinstance(draw, str) else draw()
        except ValueError as reason:  # of what cannot be drawn of these rows
            figure = str(reason)
        if isinstance(figure, str):
            lines.append(f"{name}: {words}: left out, as {figure.rstrip('.')}.")
            continue
        for ending in METADATA:
            save_figure(figure, folder / f"{name}{ending}")
        lines.append(f"{folder / name}{{{','.join(METADATA)}}}: {words}")
    return lines
