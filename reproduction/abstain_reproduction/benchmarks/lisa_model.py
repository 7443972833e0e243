"""LISA's classifier of reviews: the first token of a DistilBERT and a linear layer on it, with nothing in between."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from abstain._errors import foreign
from abstain._extras import repair_torchvision, require
from abstain.collect.torch_model import TorchModel
from abstain_reproduction.benchmarks.export import TRIAL, check_trial, read_export

torch = require("torch", extra="torch", feature="LISA")
SCRIPT = "scripts/export-lisa"
KIND = "lisa"
TENSORS = "model.safetensors"
LONGEST = 512  # tokens


class ReviewClassifier(torch.nn.Module):  # type: ignore[misc, name-defined]
    """(b, K) logits of token numbers; layers are named as LISA's state dictionary names them."""

    def __init__(self, encoder: Any, classes: int) -> None:
        super().__init__()
        self.model = torch.nn.ModuleList([encoder, torch.nn.Linear(encoder.config.dim, classes)])

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        """The linear layer of the first token's last state."""
        encoder, head = self.model
        return head(encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state[:, 0])


def is_lisa(folder: Path, /) -> bool:
    """Whether a folder is an export of LISA and not a classifier of transformers."""
    config = folder / "config.json"
    with foreign(f"`{config}` must be a configuration"):
        return config.exists() and json.loads(config.read_text(encoding="utf-8")).get("architectures") == [KIND]


def lisa_model(folder: Path, /, *, device: str, amp: bool = False) -> TorchModel:
    """The classifier and its tokenizer in a folder that `scripts/export-lisa` wrote."""
    repair_torchvision()
    transformers = require("transformers", extra="hf", feature="LISA")
    transformers.utils.logging.disable_progress_bar()
    file = folder / TENSORS
    entries, _ = read_export(file, KIND, SCRIPT)
    with foreign(f"`{folder}` must be an export that {SCRIPT} wrote"):
        config = transformers.DistilBertConfig.from_pretrained(str(folder))
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
        module = ReviewClassifier(transformers.DistilBertModel(config), len(entries["model.1.weight"]))
        module.load_state_dict({name: value for name, value in entries.items() if not name.startswith(TRIAL)})
        ids = entries[f"{TRIAL}input_ids"]
        with torch.inference_mode():
            check_trial(file, module.eval()(ids, torch.ones_like(ids)), entries[f"{TRIAL}logits"])

    def prepare(texts: Sequence[str]) -> Any:
        longest = min(LONGEST, config.max_position_embeddings)
        made = tokenizer(list(texts), return_tensors="pt", padding=True, truncation=True, max_length=longest)
        return {name: made[name] for name in ("input_ids", "attention_mask")}

    return TorchModel(module, prepare=prepare, head="model.1", device=device, amp=amp)
