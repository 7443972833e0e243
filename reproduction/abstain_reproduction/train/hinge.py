"""The multi-class hinge loss: the confidence margin itself as an objective."""

from dataclasses import dataclass
from typing import Any, final

from abstain._extras import require
from abstain_reproduction.train.objective import Objective

torch = require("torch", extra="torch", feature="Training")


@final
@dataclass(frozen=True)
class Hinge(Objective):
    r"""max(0, m − (z_y − max_{j≠y} z_j)) (Crammer & Singer, 2001).

    It asks that the confidence margin of the true class be at least m and nothing of samples where it is: the paper's
    App. A derives the confidence margin from this loss.
    """

    margin: float = 1.0

    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """Mean over the batch."""
        at = labels[:, None]
        true = said.gather(1, at).squeeze(1)
        rival = said.scatter(1, at, -torch.inf).amax(dim=1)
        return (self.margin - (true - rival)).clamp(min=0).mean()
