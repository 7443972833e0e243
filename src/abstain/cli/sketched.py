"""What commands do with a sketch."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.options import refuse, score_list
from abstain.cli.program import program
from abstain.cli.show import print_json, say

if TYPE_CHECKING:
    from abstain.evaluation import SketchedEvaluation
    from abstain.selector import Selector
    from abstain.sketch import Sketch

REFUSED = "be left out with a sketch, which holds counts alone. Use the outputs."


def evaluate_from_sketch(
    file: Path, *, score: list[str] | None, alpha: list[float] | None, level: float, refused: Mapping[str, Any]
) -> "SketchedEvaluation":
    """The scores of a sketch compared."""
    from abstain.evaluation import evaluate_sketch
    from abstain.metrics.intervals import ALPHAS
    from abstain.sketch import Sketch

    refuse(refused, REFUSED)
    return evaluate_sketch(Sketch.load(file), scores=score_list(score), alphas=alpha or ALPHAS, level=level)


def calibrate_from_sketch(file: Path, *, refused: Mapping[str, Any], **options: Any) -> "Selector":
    """The selector that a sketch gives."""
    from abstain.selector import calibrate_sketch
    from abstain.sketch import Sketch

    refuse(refused, REFUSED)
    return calibrate_sketch(Sketch.load(file), **options)


def keep_sketch(found: "Sketch", output: Path, *, minimum: int | None, json: bool) -> None:
    """Write a sketch, with no small counts if there is a minimum, and tell what is in it."""
    from abstain.sketch.coarse import coarsened

    if minimum is not None:
        found = coarsened(found, minimum=minimum)
    found.save(output)
    if json:
        print_json({"sketch": str(output)} | found.to_dict())
        return
    say(f"Wrote {output}: {found.summary()}")
    say(f"Next: {program()} evaluate {output}, or {program()} merge {output} … -o all.sketch", whole=True)
