"""transformers sequence and image classifiers."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError, MissingFileError, foreign
from abstain._extras import repair_torchvision, require
from abstain.collect.model import ModelOptions
from abstain.collect.torch_model import TorchModel

LOCAL = {"trust_remote_code": False, "local_files_only": True}
"""Code in the folder of the weights is never run, and nothing is downloaded."""


def from_spec(rest: str, options: ModelOptions, /) -> TorchModel:
    """The model in that folder."""
    return hf_model(rest, device=options.device, amp=options.amp)


def hf_model(path: str | PathLike[str], /, *, device: str = "cpu", amp: bool = False) -> TorchModel:
    """A transformers classifier of texts or images; code in its folder is never run and nothing is downloaded.

    Parameters
    ----------
    path : path
        A folder with the model and its tokenizer or image processor; class names come from its configuration.
    device : str
        Where PyTorch runs it, such as ``cuda:1``.
    amp : bool
        Whether to run it in half precision, as `TorchModel`.

    Returns
    -------
    TorchModel
        With its own preparation of inputs.
    """
    if not Path(path).is_dir():
        raise MissingFileError(f"`model` must be a folder that exists, got {path}. Save the model there first.")
    repair_torchvision()
    transformers = require("transformers", extra="hf", feature="Collecting from transformers")
    transformers.utils.logging.disable_progress_bar()
    rule = f"`model` must be a folder with a transformers classifier and what prepares its inputs, here {path}"
    with foreign(rule):
        config = transformers.AutoConfig.from_pretrained(str(path), **LOCAL)
    names = [config.id2label[k] for k in range(config.num_labels)]
    kind = "".join(config.architectures or ())
    options: dict[str, Any] = {"return_tensors": "pt"}
    if "ImageClassification" in kind:
        makers = transformers.AutoImageProcessor, transformers.AutoModelForImageClassification
    elif "SequenceClassification" in kind:
        makers = transformers.AutoTokenizer, transformers.AutoModelForSequenceClassification
        options |= {"padding": True, "truncation": True}
    else:
        raise InvalidInputError(
            f"`path` must hold an image or sequence classifier, got {kind or 'no architecture'} in {path}."
        )
    with foreign(rule):
        processor, model = (maker.from_pretrained(str(path), **LOCAL) for maker in makers)

    def prepare(inputs: Sequence[Any]) -> Any:
        return dict(processor(list(inputs), **options))

    return TorchModel(model, prepare=prepare, device=device, class_names=names, amp=amp)
