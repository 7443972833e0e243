"""Self-Adaptive Training (Huang et al., 2020): labels that the network itself doubts are trusted less and less."""

from dataclasses import dataclass
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.network import Classifier, Network
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")


@final
@dataclass(frozen=True)
class SelfAdaptive(Objective):
    r"""−t log p_y − (1 − t) log p_abstain over K + 1 outputs, with t ← a t + (1 − a) p_y at every visit from 1 on.

    Before ``warm_up`` it is the cross-entropy of the K classes and t stays.
    """

    momentum: float = 0.9
    warm_up: float = 0.2
    """The share of the epochs before labels are doubted."""

    def network(self, body: Any, classes: int, /) -> Network:
        """With an output for abstention."""
        return Classifier(body, classes, abstention=True)

    def trusted(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:
        """The running mean of the probability of the label."""
        if done < self.warm_up:
            return trust
        true = said.detach().softmax(dim=1).gather(1, labels[:, None]).squeeze(1)
        return self.momentum * trust + (1 - self.momentum) * true

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:
        """Mean over the batch."""
        if done < self.warm_up:
            return torch.nn.functional.cross_entropy(said[:, :-1], labels)
        logs = said.log_softmax(dim=1)
        true = logs.gather(1, labels[:, None]).squeeze(1)
        return -(trust * true + (1 - trust) * logs[:, -1]).mean()
