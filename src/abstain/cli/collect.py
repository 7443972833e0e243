"""`abstain collect`: from a model and data to saved outputs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import corruption_names, model_kinds, on_error_words
from abstain.cli.options import Json
from abstain.cli.program import program
from abstain.cli.show import print_json, sample_bar
from abstain.names import check_name

if TYPE_CHECKING:
    from abstain.collect.data import Data


def collect(
    model: Annotated[
        str,
        typer.Argument(
            help="timm:NAME, onnx:FILE, torch:MODULE:NAME, hf:FOLDER, sklearn:FILE.skops or magika.",
            autocompletion=model_kinds,
        ),
    ],
    data: Annotated[
        str, typer.Argument(help="A folder of images or files, a .parquet, .csv or .npz file, a saved dataset.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    unknown: Annotated[
        list[str] | None, typer.Option(help="More data, all of classes the model does not know.")
    ] = None,
    corrupt: Annotated[
        list[str] | None,
        typer.Option(
            help="Add corrupted copies: NAME:SEVERITY of images, NAME of files.", autocompletion=corruption_names
        ),
    ] = None,
    checkpoint: Annotated[str | None, typer.Option(help="Weights: .safetensors, or a torch state dictionary.")] = None,
    class_names: Annotated[Path | None, typer.Option(help="A text file with a class name per line.")] = None,
    device: Annotated[str, typer.Option(help="Where torch runs.")] = "cpu",
    batch_size: Annotated[int, typer.Option(help="Samples per batch.")] = 64,
    on_error: Annotated[
        str, typer.Option(help="'raise', or 'skip' to leave out samples that fail.", autocompletion=on_error_words)
    ] = "raise",
    seed: Annotated[int, typer.Option(help="Seed of the corruptions.")] = 0,
    json: Json = False,
) -> None:
    """Run a model over data once and save its outputs; called again, it goes on where it stopped.

    Example: abstain collect torch:mynets:net images/ -o run/ --corrupt fog:3 --unknown strangers/
    """
    from rich.console import Console

    from abstain.collect.model import NamedModel
    from abstain.collect.run import collect as run
    from abstain.collect.specs import model_from

    made = model_from(model, checkpoint=checkpoint, device=device, class_names=_class_names(class_names))
    with sample_bar() as progress:
        outputs = run(
            NamedModel(made),
            _parts(model, data, corrupt or [], unknown or [], seed),
            output,
            batch_size=batch_size,
            on_error=on_error,  # type: ignore[arg-type]
            progress=progress,
        )
    if json:
        print_json({"n": len(outputs), "classes": outputs.n_classes, "outputs": str(output)})
        return
    console = Console()
    console.print(repr(outputs), markup=False)
    if outputs.features is not None and outputs.weight is not None:
        console.print(str(outputs.check_head()), markup=False)
    print(f"Next: {program()} evaluate {output}")


def _class_names(file: Path | None) -> list[str] | None:
    from abstain.files import read_text

    if file is None:
        return None
    return [name.strip() for name in read_text(file, "class names").split("\n") if name.strip()]


def _parts(model: str, data: str, corrupt: list[str], unknown: list[str], seed: int) -> "list[Data]":
    """The data as it is, corrupted copies of it, and data of unknown classes."""
    from abstain.collect.specs import data_from

    parts = data_from(data, model=model)
    copies = [parts[0].shifted(_corruption(spec, seed), domain=spec.replace(":", "-")) for spec in corrupt]
    return [*parts, *copies, *(part for place in unknown for part in data_from(place, model=model, unknown=True))]


def _corruption(spec: str, seed: int) -> Callable[[Any, int], Any]:
    """fog:3 for images, or one of the byte shifts for files."""
    from abstain.shifts import BYTE_SHIFTS
    from abstain.shifts.pictures import corrupt_picture
    from abstain.shifts.severities import SMALL

    if spec in BYTE_SHIFTS:
        return lambda content, row: BYTE_SHIFTS[spec](content, seed=seed + row)
    name, _, severity = spec.partition(":")
    rule = f"be NAME:SEVERITY, such as fog:3, or {', '.join(BYTE_SHIFTS)}"
    check_name("--corrupt", name, SMALL if severity else (*SMALL, *BYTE_SHIFTS), rule=rule)
    if not severity.isdigit():
        raise ValueError(f"`--corrupt` must {rule}, got {spec!r}.")
    return partial(corrupt_picture, name, int(severity), seed)
