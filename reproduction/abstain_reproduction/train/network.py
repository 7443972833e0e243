"""A network to train: a body that makes features, and heads on them, of which one linear layer is the classifier."""

from abc import abstractmethod
from typing import Any

from abstain._extras import require

torch = require("torch", extra="torch", feature="Training")


class Network(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Called with images, it returns what its objective needs; predictions use its features and its classifier."""

    own_name: str | None = None
    """The name of the confidence that it was trained to give, if any."""

    @abstractmethod
    def features(self, images: Any, /) -> Any:
        """(b, d) what enters the classifier."""

    @abstractmethod
    def classifier(self) -> tuple[Any, Any]:
        """Weight (K, d) and bias (K,) that make the logits of the known classes from the features."""

    def own_confidence(self, features: Any, /) -> Any:  # noqa: ARG002
        """(b,) the confidence of that name."""
        return None


class Classifier(Network):
    """A body and one linear layer; with ``abstention`` it has one output more, for "none of these"."""

    def __init__(self, body: Any, classes: int, *, abstention: bool = False) -> None:
        super().__init__()
        self.body, self.classes = body, classes
        self.own_name = "abstention" if abstention else None
        self.head = torch.nn.Linear(body.width, classes + abstention)

    def forward(self, images: Any) -> Any:
        """(b, K) logits, that of abstention last."""
        return self.head(self.features(images))

    def features(self, images: Any, /) -> Any:
        """(b, d) of the body."""
        return self.body(images)

    def classifier(self) -> tuple[Any, Any]:
        """The layer without the output for abstention."""
        return self.head.weight[: self.classes], self.head.bias[: self.classes]

    def own_confidence(self, features: Any, /) -> Any:
        """The log-odds against abstention, which order as one minus its probability."""
        if self.own_name is None:
            return None
        logits = self.head(features)
        return logits[:, : self.classes].logsumexp(dim=1) - logits[:, self.classes]
