"""Deep Gamblers (Liu et al., 2019): abstention is a bet that pays back a share of the stake."""

from dataclasses import dataclass
from math import log
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.network import Classifier, Network
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")


@final
@dataclass(frozen=True)
class DeepGamblers(Objective):
    r"""−log(p_y + p_abstain / o) over K + 1 outputs, 1 < o ≤ K; cross-entropy of the K classes before ``warm_up``."""

    reward: float = 2.2
    warm_up: float = 0.2
    """The share of the epochs before abstention is offered."""

    def network(self, body: Any, classes: int, /) -> Network:
        """With an output for abstention."""
        return Classifier(body, classes, abstention=True)

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """Mean over the batch."""
        if done < self.warm_up:
            return torch.nn.functional.cross_entropy(said[:, :-1], labels)
        logs = said.log_softmax(dim=1)
        true = logs.gather(1, labels[:, None]).squeeze(1)
        return -torch.logaddexp(true, logs[:, -1] - log(self.reward)).mean()
