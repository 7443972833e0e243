"""Cross-entropy, what nearly every classifier is trained by."""

from dataclasses import dataclass
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")


@final
@dataclass(frozen=True)
class CrossEntropy(Objective):
    r"""−log σ(z)_y, or with ``smoothing`` s the same of targets (1 − s)·1[k = y] + s/K, which keep logits small."""

    smoothing: float = 0.0

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """Mean over the batch."""
        return torch.nn.functional.cross_entropy(said, labels, label_smoothing=self.smoothing)
