"""`abstain collect`: from a model and data to saved outputs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import corruption_names, model_kinds, on_error_words
from abstain.cli.letters import shown
from abstain.cli.options import Json
from abstain.cli.program import program
from abstain.cli.show import print_json, sample_bar
from abstain.names import check_name

if TYPE_CHECKING:
    from abstain.collect.data import Data
    from abstain.collect.model import Model
    from abstain.outputs import Outputs

Amp = Annotated[bool, typer.Option("--amp", help="Run PyTorch in half precision, the last layer excepted.")]
Workers = Annotated[int, typer.Option(help="Processes that read and prepare samples while the model runs.", min=0)]
Part = Annotated[
    str | None, typer.Option(help="Compute one part, such as 2/4; processes with a part each share the output folder.")
]


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
    device: Annotated[str, typer.Option(help="Where PyTorch or ONNX Runtime runs: cpu, cuda, cuda:1, mps.")] = "cpu",
    amp: Amp = False,
    batch_size: Annotated[int, typer.Option(help="Samples per batch.")] = 64,
    workers: Workers = 0,
    part: Part = None,
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
    from abstain.collect.specs import model_from

    made = model_from(model, checkpoint=checkpoint, device=device, class_names=_class_names(class_names), amp=amp)
    parts = _parts(model, data, corrupt or [], unknown or [], seed)
    with sample_bar() as progress:
        outputs = _run(
            NamedModel(made),
            parts,
            output,
            part,
            batch_size=batch_size,
            workers=workers,
            on_error=on_error,
            progress=progress,
        )
    if outputs is None:
        message = f"Part {part} is done; other parts are missing. The last one writes {output}."
        print_json({"part": part, "outputs": None}) if json else print(message)
        return
    if json:
        print_json({"n": len(outputs), "classes": outputs.n_classes, "outputs": str(output)})
        return
    console = Console()
    console.print(shown(repr(outputs)), markup=False)
    if outputs.features is not None and outputs.weight is not None:
        console.print(str(outputs.check_head()), markup=False)
    print(shown(f"Next: {program()} evaluate {output}"))


def _run(model: "Model", data: "list[Data]", output: Path, part: str | None, **options: Any) -> "Outputs | None":
    """All of it, or a part."""
    from abstain.collect.run import collect, collect_part

    return (
        collect(model, data, output, **options) if part is None else collect_part(model, data, output, part, **options)
    )


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
