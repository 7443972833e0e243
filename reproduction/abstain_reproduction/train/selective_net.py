"""SelectiveNet (Geifman & El-Yaniv, 2019): a classifier, a selector and an auxiliary classifier on one body."""

from dataclasses import dataclass
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.network import Network
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")
nn = torch.nn
LEAST_COVERAGE = 1e-6  # a batch of which nothing is accepted has no risk to divide


@final
class SelectiveNet(Network):
    """Heads f, g and h; the confidence is the selector's logit, *before* the sigmoid, which would make ties.

    Layers and first weights of the heads are those of the code that the paper names.
    """

    own_name = "selection_head"

    def __init__(self, body: Any, classes: int) -> None:
        super().__init__()
        self.body, width = body, body.width
        self.head = nn.Linear(width, classes)
        self.selector = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.BatchNorm1d(width), nn.Linear(width, 1))
        self.auxiliary = nn.Linear(width, classes)
        for head in (self.head, self.selector, self.auxiliary):
            head.apply(narrow)

    def forward(self, images: Any) -> Any:
        """Logits of f (b, K), of the selector (b,), and of h (b, K)."""
        features = self.features(images)
        return self.head(features), self.own_confidence(features), self.auxiliary(features)

    def features(self, images: Any, /) -> Any:
        """(b, d) of the body."""
        return self.body(images)

    def classifier(self) -> tuple[Any, Any]:
        """The head f; h only helps the body to learn."""
        return self.head.weight, self.head.bias

    def own_confidence(self, features: Any, /) -> Any:
        """(b,) the selector's logit."""
        return self.selector(features).squeeze(1)


def narrow(layer: Any, /) -> None:
    """First weights of a dense layer: normal, of spread 0.01, and no bias."""
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=0.01)
        nn.init.zeros_(layer.bias)


@final
@dataclass(frozen=True)
class Selective(Objective):
    r"""α(r̂ + λ max(0, c − φ̂)²) + (1−α) ℓ̄_h with φ̂ = mean g and r̂ = mean(ℓ_f g)/φ̂.

    Risk among the selected, a penalty below the coverage c, and the cross-entropy of the auxiliary head.
    """

    coverage: float = 0.7
    alpha: float = 0.5
    penalty: float = 32.0

    def network(self, body: Any, classes: int, /) -> Network:
        """With three heads."""
        return SelectiveNet(body, classes)

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """Of the three heads together."""
        logits, selection, auxiliary = said
        cross_entropy = nn.functional.cross_entropy
        each = cross_entropy(logits, labels, reduction="none")
        return self.combined(each, torch.sigmoid(selection), cross_entropy(auxiliary, labels))

    def combined(self, losses: Any, selection: Any, auxiliary: Any, /) -> Any:
        """From the losses (b,) of f, what g says (b,) in [0, 1], and the mean loss of h."""
        covered = selection.mean()
        risk = (losses * selection).mean() / covered.clamp(min=LEAST_COVERAGE)
        missing = (self.coverage - covered).clamp(min=0)
        return self.alpha * (risk + self.penalty * missing**2) + (1 - self.alpha) * auxiliary
