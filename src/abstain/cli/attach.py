"""`abstain attach`: an ONNX graph that abstains by itself."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.options import Json
from abstain.cli.show import print_json, say


def attach(
    model: Annotated[Path, typer.Argument(help="The classifier's .onnx file.")],
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .onnx file to write.")],
    logits: Annotated[str | None, typer.Option(help="The tensor of the logits, if not nearest the output.")] = None,
    json: Json = False,
) -> None:
    """Put a selector into an ONNX graph, which then outputs prediction, confidence and accepted too.

    Example: abstain attach model.onnx selector.abstain -o selective.onnx
    """
    from abstain import Selector
    from abstain.files import check_goal
    from abstain.onnx import OUTPUTS
    from abstain.onnx import attach as put

    check_goal(output)
    chosen = Selector.load(selector)
    put(model, chosen, output, logits=logits)
    if json:
        print_json({"model": str(output), "score": chosen.score, "outputs": list(OUTPUTS)})
        return
    say(f"Wrote {output}: it outputs {', '.join(OUTPUTS)} beside what it did. {chosen.summary()}")
