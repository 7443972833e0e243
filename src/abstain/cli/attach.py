"""`abstain attach`: an ONNX graph that abstains by itself."""

from pathlib import Path
from typing import Annotated

import typer

import abstain
from abstain._io.files import check_output_path
from abstain.cli.options import LogitsName, SelectorFile
from abstain.cli.printing import Result


def attach(
    model: Annotated[Path, typer.Argument(help="The classifier's .onnx file.")],
    selector: SelectorFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .onnx file to write.")],
    logits: LogitsName = None,
) -> Result:
    """Add a selector to an ONNX graph. It then also outputs prediction, confidence and accepted.

    Example: abstain attach model.onnx selector.abstain -o selective.onnx
    """
    check_output_path(output)
    loaded, names = abstain.Selector.load(selector), abstain.onnx.OUTPUTS
    abstain.onnx.attach(model, loaded, output, logits=logits)
    return Result(
        {"model": str(output), "score": loaded.score, "outputs": names},
        [f"Wrote {output}, with the additional outputs {', '.join(names)}.", loaded.summary()],
    )
