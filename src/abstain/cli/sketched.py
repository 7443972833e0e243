"""What `abstain evaluate` and `abstain calibrate` do with a sketch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.letters import shown
from abstain.cli.show import print_json, print_summary

if TYPE_CHECKING:
    from abstain.evaluation import SketchedEvaluation
    from abstain.selector import Selector


def tell_sketch(
    file: Path,
    *,
    score: list[str] | None,
    alpha: list[float] | None,
    mix: list[str] | None,
    every: bool,
    level: float,
    json: bool,
    refused: dict[str, Any],
) -> None:
    """Compare the scores of a sketch, and print what is found with its brackets."""
    from abstain.evaluation import evaluate_sketch
    from abstain.scores.registry import split_names
    from abstain.sketch import Sketch

    _check_refused(refused)
    names = [name for names in score for name in split_names(names)] if score else None
    found = evaluate_sketch(Sketch.load(file), scores=names, alphas=alpha or (0.1, 0.5, 1.0), level=level)
    tell(found, mix=mix, every=every, json=json)


def tell(found: "SketchedEvaluation", *, mix: list[str] | None, every: bool, json: bool) -> None:
    """What was found, as a document or for people."""
    if json:
        print_json(found.to_dict())
        return
    show(found, mix=mix, every=every)


def show(found: "SketchedEvaluation", *, mix: list[str] | None, every: bool) -> None:
    """The usual table, and under it what is certain of the largest α."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from abstain.evaluation import summarize

    console, mixes = Console(), found.mixes if every else mix
    print_summary(summarize(found, mixes=mixes, shown=None if every else 15), console, intervals=every)
    last = (mixes or found.mixes)[-1]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=f"{last}: certain bounds", title_justify="left")
    table.add_column("score", no_wrap=True)
    for alpha in found.alphas:
        table.add_column(shown(f"α={alpha:g}"), justify="right", no_wrap=True)
    for name in sorted(found.scores, key=lambda name: float(found.row(name, last, found.alphas[-1])["aurc"])):
        rows = [found.row(name, last, alpha) for alpha in found.alphas]
        table.add_row(name, *(shown(f"{100 * row['lower']:.4f}–{100 * row['upper']:.4f}") for row in rows))
    console.print(table)


def calibrate_from_sketch(file: Path, *, refused: dict[str, Any], **options: Any) -> "Selector":
    """The selector that a sketch gives."""
    from abstain.selector import calibrate_sketch
    from abstain.sketch import Sketch

    _check_refused(refused)
    return calibrate_sketch(Sketch.load(file), **options)


def _check_refused(refused: dict[str, Any]) -> None:
    for name, value in refused.items():
        if value:
            raise ValueError(f"`{name}` must be left out with a sketch, which holds counts alone. Use the outputs.")
