"""The models of the paper: from a local file, from timm, or a custom model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from abstain._errors import InvalidInputError, MissingFileError
from abstain._extras import require
from abstain.collect import Model, OnnxModel, hf_model, timm_model
from abstain.collect.model import ModelOptions
from abstain.collect.specs import model_from
from abstain_reproduction.benchmarks.local_folders import first_existing
from abstain_reproduction.benchmarks.pixels import Pixels

WEIGHTS = (".safetensors", ".pth", ".pt", ".bin")


@dataclass(frozen=True)
class Card:
    """A model of the paper: what it is, and its accuracy there in percent."""

    title: str
    """What the paper calls it, and after a comma what it is."""
    accuracy: float | None = None
    timm: str | None = None
    """Its name in timm, which fetches the weights where no file has them."""
    made_by: str = ""
    """The command that makes its file."""
    trained: bool = False
    """Whether it is a checkpoint of `abstain_reproduction.train`."""

    @property
    def short(self) -> str:
        """What the paper calls it."""
        return self.title.partition(",")[0]


def model_of(
    name: str,
    cards: Mapping[str, Card],
    root: Path,
    /,
    *,
    pixels: Pixels | None,
    prepare: Pixels | None,
    device: str | None = None,
    amp: bool = False,
) -> Model:
    """The model of a card, from ``models/`` in the data if it is there, or the model that a spec names.

    ``pixels`` prepares images for models without their own transform, ``prepare`` also for those of timm.
    """
    card = cards.get(name)
    if (card and card.trained) or is_checkpoint(name):
        if amp:
            raise InvalidInputError(
                f"`--amp` must be left out for a checkpoint of `abstain_reproduction.train`, got it for {name}."
            )
        return _from_checkpoint(name, card, root, pixels, device or _device())
    kind, _, rest = name.partition(":")
    timm = card.timm if card else rest if kind == "timm" else None
    if timm is not None:
        return _from_timm(
            timm,
            first_existing(root, [f"models/{stem}{end}" for stem in (name, timm) for end in WEIGHTS]),
            prepare,
            device or _device(),
            amp,
        )
    if card is None:
        device = device or ("cpu" if kind == "onnx" else _device())
        return _with_size(model_from(name, ModelOptions(device=device, prepare=pixels, amp=amp)), pixels)
    path = first_existing(root, [f"models/{name}.safetensors", f"models/{name}", f"models/{name}.onnx"])
    if path is None:
        raise MissingFileError(
            f"`--data` must hold {card.title} as models/{name}, got none in {root}. {card.made_by} makes it from the "
            "authors' checkpoint. Or use your own model: --model torch:MODULE:NAME."
        )
    return _from_export(path, pixels, device, amp)


def is_checkpoint(name: str, /) -> bool:
    """Whether a model is named by the file that `abstain_reproduction.train` left of it."""
    return name.endswith(".safetensors") and Path(name).is_file()


def _from_checkpoint(name: str, card: Card | None, root: Path, pixels: Pixels | None, device: str) -> Model:
    from abstain_reproduction.benchmarks.scnet_model import TrainedModel

    path = Path(name) if card is None else first_existing(root, [f"models/{name}.safetensors"])
    if path is None:
        raise MissingFileError(
            f"`--data` must hold {card.title if card else name} as models/{name}.safetensors, a checkpoint of "
            f"`abstain_reproduction.train`, got none in {root}. docs/training.md shows how to train it."
        )
    cut = {} if pixels is None else {"side": pixels.crop, "resize": pixels.resize}
    return TrainedModel(path, device=device, **cut)


def _from_export(path: Path, pixels: Pixels | None, device: str | None, amp: bool) -> Model:
    """FLYP in one file, LISA or a classifier of transformers in a folder, or an ONNX graph."""
    if path.is_dir():
        from abstain_reproduction.benchmarks.lisa_model import is_lisa, lisa_model

        return (lisa_model if is_lisa(path) else hf_model)(path, device=device or _device(), amp=amp)
    if path.suffix == ".onnx" or pixels is None:
        options = ModelOptions(device=device or "cpu", prepare=pixels, amp=amp)
        return _with_size(model_from(f"onnx:{path}", options), pixels)
    from abstain_reproduction.benchmarks.clip_classifier import clip_model

    return clip_model(path, pixels=pixels, device=device or _device(), amp=amp)


def _from_timm(name: str, weights: Path | None, prepare: Pixels | None, device: str, amp: bool) -> Model:
    try:
        checkpoint = None if weights is None else str(weights)
        return timm_model(name, checkpoint=checkpoint, device=device, prepare=prepare, amp=amp)
    except ValueError as error:
        if weights is not None:
            raise
        raise InvalidInputError(f"{error} Or put its weights into the data as models/{name}.safetensors.") from error


def _device() -> str:
    """The GPU if there is one."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    return "cuda" if torch.cuda.is_available() else "cpu"


def _with_size(model: Model, pixels: Pixels | None) -> Model:
    """An ONNX graph gets images of the side that its input declares."""
    if isinstance(model, OnnxModel) and pixels is not None:
        side = model.session.get_inputs()[0].shape[-1]
        model.prepare = pixels.sized(side) if isinstance(side, int) else pixels
    return model
