"""`abstain attach`: an ONNX graph that abstains by itself."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.options import Json
from abstain.cli.printing import print_json, say


def attach(
    model: Annotated[Path, typer.Argument(help="The classifier's .onnx file.")],
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .onnx file to write.")],
    logits: Annotated[
        str | None, typer.Option(help="The name of the logits tensor. [the one nearest the output]")
    ] = None,
    json: Json = False,
) -> None:
    """Add a selector to an ONNX graph. It then also outputs prediction, confidence and accepted.

    Example: abstain attach model.onnx selector.abstain -o selective.onnx
    """
    from abstain import Selector
    from abstain._io.files import check_output_path
    from abstain.onnx import OUTPUTS
    from abstain.onnx import attach as attach_selector

    check_output_path(output)
    loaded = Selector.load(selector)
    attach_selector(model, loaded, output, logits=logits)
    if json:
        print_json({"model": str(output), "score": loaded.score, "outputs": list(OUTPUTS)})
        return
    say(f"Wrote {output}, with the additional outputs {', '.join(OUTPUTS)}.")
    say(loaded.summary())
