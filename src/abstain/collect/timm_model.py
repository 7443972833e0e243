"""timm models with their own preprocessing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from abstain._errors import foreign
from abstain._extras import repair_torchvision, require
from abstain._io.files import reading
from abstain.collect.model import ModelOptions, Prepare
from abstain.collect.torch_model import TorchModel, tensors


def timm_model(
    name: str,
    /,
    *,
    checkpoint: str | None = None,
    pretrained: bool = True,
    device: str = "cpu",
    class_names: Sequence[str] | None = None,
    prepare: Prepare | None = None,
    amp: bool = False,
) -> TorchModel:
    """A timm model of Pillow images, resized, cropped and normalized as its configuration says.

    Parameters
    ----------
    name : str
        One of ``timm.list_models()``.
    checkpoint : str, optional
        Weights: a .safetensors file, or a state dictionary, read without unpickling.
    pretrained : bool
        Whether timm provides the weights, if there is no checkpoint.
    device : str
        As of `TorchModel`.
    class_names : sequence of str, optional
        As of `TorchModel`.
    amp : bool
        As of `TorchModel`.
    prepare : function, optional
        Makes an array of a list of images in place of timm's own transform.

    Returns
    -------
    TorchModel
        In evaluation mode.
    """
    repair_torchvision()
    timm = require("timm", extra="timm", feature="Collecting from timm")
    torch = require("torch", extra="timm", feature="Collecting from timm")
    with foreign(f"`model` must be one of timm.list_models(), with weights that can be found, here {name!r}"):
        model = timm.create_model(name, pretrained=pretrained and checkpoint is None)
    if checkpoint is not None:
        load_into(model, checkpoint)
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)

    def configured(images: Sequence[Any]) -> Any:
        return torch.stack([transform(image) for image in images])

    chosen = configured if prepare is None else tensors(prepare)
    return TorchModel(model, prepare=chosen, device=device, class_names=class_names, amp=amp)


def from_spec(rest: str, options: ModelOptions, /) -> TorchModel:
    """The timm model of that name."""
    return timm_model(
        rest,
        checkpoint=options.checkpoint,
        device=options.device,
        class_names=options.class_names,
        amp=options.amp,
    )


def load_into(module: Any, checkpoint: str, /) -> None:
    """Give a module the weights in a file."""
    with reading(Path(checkpoint), "the weights of the model"):
        open(checkpoint, "rb").close()
    with foreign(f"`{checkpoint}` must hold the weights of this model"):
        module.load_state_dict(load_weights(checkpoint))


def load_weights(file: str, /) -> dict[str, Any]:
    """A state dictionary from a .safetensors file, or from a torch file without running anything in it."""
    if file.endswith(".safetensors"):
        loaded: dict[str, Any] = require("safetensors.torch", extra="torch", feature="Reading weights").load_file(file)
        return loaded
    torch = require("torch", extra="torch", feature="Reading weights")
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return state
