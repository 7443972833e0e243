"""LogitNorm (Wei et al., 2022): cross-entropy of logits of one length."""

from dataclasses import dataclass
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")


@final
@dataclass(frozen=True)
class LogitNorm(Objective):
    r"""−log σ(z / (τ‖z‖))_y: a network cannot lower it by larger logits, only by their direction."""

    temperature: float = 0.04

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """Mean over the batch."""
        directions = torch.nn.functional.normalize(said, eps=1e-7)
        return torch.nn.functional.cross_entropy(directions / self.temperature, labels)
