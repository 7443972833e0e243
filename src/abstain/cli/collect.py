"""`abstain collect`: from a model and data to saved outputs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, final

import typer

import abstain
from abstain._errors import InvalidInputError
from abstain._io.files import read_text
from abstain._model_kinds import model_specs
from abstain._names import check_name
from abstain.cli.completion import corruption_names, model_kinds
from abstain.cli.printing import Lines, Result, next_command
from abstain.cli.progress import sample_bar

Amp = Annotated[bool, typer.Option("--amp", help="Run PyTorch in half precision, the last layer excepted.")]
Workers = Annotated[int, typer.Option(help="Processes that read and prepare samples while the model runs.", min=0)]
Part = Annotated[
    str | None, typer.Option(help="Compute one part, such as 2/4; processes with a part each share the output folder.")
]


@final
@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Shifted data in addition to the data themselves."""

    unknown: Annotated[
        list[str] | None, typer.Option(help="More data, all of classes that the model does not know; repeat.")
    ] = None
    corrupt: Annotated[
        list[str] | None,
        typer.Option(
            help="Add corrupted copies of images: NAME:SEVERITY, such as fog:3; repeat.",
            autocompletion=corruption_names,
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of the corruptions.")] = 0

    def parts(self, data: str, /) -> "list[abstain.collect.Data]":
        """The data as they are, corrupted copies of them, and data of unknown classes."""
        from abstain.collect.specs import data_from

        clean = data_from(data)
        copies = [
            clean.shifted(_corruption(spec, self.seed), domain=spec.replace(":", "-")) for spec in self.corrupt or ()
        ]
        return [clean, *copies, *(data_from(path, unknown=True) for path in self.unknown or ())]


@final
@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """How the model is loaded."""

    checkpoint: Annotated[str | None, typer.Option(help="Weights: .safetensors, or a torch state dictionary.")] = None
    class_names: Annotated[Path | None, typer.Option(help="A text file with a class name per line.")] = None
    device: Annotated[str, typer.Option(help="Where PyTorch or ONNX Runtime runs: cpu, cuda, cuda:1, mps.")] = "cpu"
    amp: Amp = False

    def load(self, model: str, /) -> "abstain.collect.Model":
        """The model that a name stands for."""
        from abstain.collect.model import ModelOptions, NamedModel
        from abstain.collect.specs import model_from

        options = ModelOptions(**vars(self) | {"class_names": _class_names(self.class_names)})
        return NamedModel(model_from(model, options))


@final
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How the model is run."""

    batch_size: Annotated[int, typer.Option(help="Samples per batch.")] = 64
    workers: Workers = 0
    part: Part = None
    on_error: Annotated[
        Literal["raise", "skip"], typer.Option(help="'raise', or 'skip' to leave out samples that fail.")
    ] = "raise"

    def collect(
        self, model: "abstain.collect.Model", data: "list[abstain.collect.Data]", output: Path, /
    ) -> "abstain.Outputs | None":
        """Run all of it, or a part: None while other parts are missing."""
        from abstain.collect.run import collect, collect_part

        options = {name: value for name, value in vars(self).items() if name != "part"}
        with sample_bar() as progress:
            if self.part is None:
                return collect(model, data, output, **options, progress=progress)
            return collect_part(model, data, output, self.part, **options, progress=progress)


def collect(
    model: Annotated[
        str,
        typer.Argument(
            help=f"{model_specs()}.",
            autocompletion=model_kinds,
        ),
    ],
    data: Annotated[str, typer.Argument(help="A folder of images, a .parquet, .csv or .npz file, a saved dataset.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    shifted: DataOptions,
    loading: ModelSettings,
    running: RunOptions,
) -> Result:
    """Run a model over data and save its outputs. Called again, it continues where it stopped.

    Example: abstain collect torch:mynets:net images/ -o run/ --corrupt fog:3 --unknown strangers/
    """
    outputs = running.collect(loading.load(model), shifted.parts(data), output)
    if outputs is None:
        waiting = f"Part {running.part} is done. {output} is written when the other parts are done too."
        return Result({"part": running.part, "outputs": None}, [waiting])
    document = {"n": len(outputs), "classes": outputs.n_classes, "outputs": str(output)}
    return Result(document, _lines(outputs, output))


def _lines(outputs: "abstain.Outputs", folder: Path) -> Lines:
    yield repr(outputs)
    if outputs.features is not None and outputs.weight is not None:
        yield str(outputs.check_head())
    yield next_command("evaluate", folder)


def _class_names(file: Path | None) -> list[str] | None:
    if file is None:
        return None
    return [name.strip() for name in read_text(file, "class names").split("\n") if name.strip()]


def _corruption(spec: str, seed: int) -> Callable[[Any, int], Any]:
    """The function that NAME:SEVERITY stands for."""
    from abstain.shifts import corrupt_picture
    from abstain.shifts.severities import SMALL

    name, _, severity = spec.partition(":")
    rule = "be NAME:SEVERITY, such as fog:3"
    check_name("--corrupt", name, SMALL, rule=rule)
    if not severity.isdigit():
        raise InvalidInputError(f"`--corrupt` must {rule}, got {spec!r}.")
    return partial(corrupt_picture, name, int(severity), seed)
