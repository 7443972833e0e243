"""transformers sequence and image classifiers."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from abstain.collect.torch_model import TorchModel
from abstain.collect.torchvision import mend_torchvision
from abstain.extras import require
from abstain.foreign import foreign

LOCAL = {"trust_remote_code": False, "local_files_only": True}
"""No code that lies beside the weights is run, whatever the folder asks for, and nothing is fetched."""


def hf_model(path: str | PathLike[str], /, *, device: str = "cpu", amp: bool = False) -> TorchModel:
    """A classifier saved with its tokenizer or image processor; class names come from its configuration.

    Code in the folder is never run, and nothing is fetched from a hub.
    """
    if not Path(path).is_dir():
        raise FileNotFoundError(f"`model` must be a folder that exists, got {path}. Save the model there first.")
    mend_torchvision()
    transformers = require("transformers", extra="hf", feature="Collecting from transformers")
    transformers.utils.logging.disable_progress_bar()
    rule = f"`model` must be a folder with a transformers classifier and what prepares its inputs, here {path}"
    with foreign(rule):
        config = transformers.AutoConfig.from_pretrained(str(path), **LOCAL)
    names = [config.id2label[k] for k in range(config.num_labels)]
    kind = "".join(config.architectures or ())
    if "ImageClassification" in kind:
        with foreign(rule):
            processor = transformers.AutoImageProcessor.from_pretrained(str(path), **LOCAL)
            model = transformers.AutoModelForImageClassification.from_pretrained(str(path), **LOCAL)

        def prepare(images: Sequence[Any]) -> Any:
            return dict(processor(list(images), return_tensors="pt"))
    elif "SequenceClassification" in kind:
        with foreign(rule):
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(path), **LOCAL)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(str(path), **LOCAL)

        def prepare(images: Sequence[Any]) -> Any:
            return dict(tokenizer(list(images), return_tensors="pt", padding=True, truncation=True))
    else:
        raise ValueError(
            f"`path` must hold an image or sequence classifier, got {kind or 'no architecture'} in {path}."
        )
    return TorchModel(model, prepare=prepare, device=device, class_names=names, amp=amp)
