"""The models of the paper: from a local file, from timm, or a model of one's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from abstain.collect import Model, OnnxModel, hf_model, timm_model
from abstain.collect.specs import model_from
from abstain.experiments.benchmarks.local_folders import found
from abstain.experiments.benchmarks.pixels import Pixels
from abstain.extras import require

WEIGHTS = (".safetensors", ".pth", ".pt", ".bin")


@dataclass(frozen=True)
class Card:
    """A model of the paper: what it is, and its accuracy there in percent."""

    title: str
    accuracy: float | None = None
    timm: str | None = None
    """Its name in timm, which fetches the weights where no file has them."""


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

    ``pixels`` prepares images for models that do not say how, ``prepare`` for those of timm too.
    """
    card = cards.get(name)
    kind, _, rest = name.partition(":")
    timm = card.timm if card else rest if kind == "timm" else None
    if timm is not None:
        return _from_timm(
            timm,
            found(root, [f"models/{stem}{end}" for stem in (name, timm) for end in WEIGHTS]),
            prepare,
            device or _device(),
            amp,
        )
    if card is None:
        device = device or ("cpu" if kind == "onnx" else _device())
        return _sized(model_from(name, device=device, prepare=pixels, amp=amp), pixels)
    place = found(root, [f"models/{name}.onnx", f"models/{name}"])
    if place is None:
        raise FileNotFoundError(
            f"`--data` must hold {card.title} as models/{name}.onnx, or as a folder models/{name} of transformers, "
            f"got neither in {root}. Or name a model of your own: --model torch:MODULE:NAME."
        )
    return (
        hf_model(place, device=device or _device(), amp=amp)
        if place.is_dir()
        else _sized(model_from(f"onnx:{place}", device=device or "cpu", prepare=pixels, amp=amp), pixels)
    )


def _from_timm(name: str, weights: Path | None, prepare: Pixels | None, device: str, amp: bool) -> Model:
    try:
        checkpoint = None if weights is None else str(weights)
        return timm_model(name, checkpoint=checkpoint, device=device, prepare=prepare, amp=amp)
    except ValueError as error:
        if weights is not None:
            raise
        raise ValueError(f"{error} Or put its weights into the data as models/{name}.safetensors.") from error


def _device() -> str:
    """The graphics card where there is one: a million images are too many without."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    return "cuda" if torch.cuda.is_available() else "cpu"


def _sized(model: Model, pixels: Pixels | None) -> Model:
    """An ONNX graph gets images of the side that its input declares."""
    if isinstance(model, OnnxModel) and pixels is not None:
        side = model.session.get_inputs()[0].shape[-1]
        model.prepare = pixels.sized(side) if isinstance(side, int) else pixels
    return model
