"""Additive-margin softmax (Wang et al., 2018): cross-entropy of cosines, of which the true class must win by more."""

from dataclasses import dataclass
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.network import Network
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")
normalize = torch.nn.functional.normalize


@final
class CosineClassifier(Network):
    """Logits s cos θ_j: features of length s, weights of length one, no bias; both margins are then the same."""

    def __init__(self, body: Any, classes: int, *, scale: float) -> None:
        super().__init__()
        self.body, self.scale = body, scale
        self.weight = torch.nn.Parameter(torch.empty(classes, body.width))
        torch.nn.init.xavier_normal_(self.weight)

    def forward(self, images: Any) -> Any:
        """(b, K) logits."""
        return self.features(images) @ normalize(self.weight).T

    def features(self, images: Any, /) -> Any:
        """(b, d) of the body, brought to the length s."""
        return self.scale * normalize(self.body(images))

    def classifier(self) -> tuple[Any, Any]:
        """Weights of length one."""
        return normalize(self.weight), self.weight.new_zeros(len(self.weight))


@final
@dataclass(frozen=True)
class AdditiveMargin(Objective):
    r"""−log of the softmax of s(cos θ_j − m [j = y]) at y: the angle to the true class must be smaller by a margin."""

    scale: float = 16.0
    margin: float = 0.35

    def network(self, body: Any, classes: int, /) -> Network:
        """With a head of cosines."""
        return CosineClassifier(body, classes, scale=self.scale)

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """Mean over the batch."""
        is_true = torch.nn.functional.one_hot(labels, said.shape[1]).to(said.dtype)
        return torch.nn.functional.cross_entropy(said - self.scale * self.margin * is_true, labels)
