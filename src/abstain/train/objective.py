"""What a network is trained for."""

from abc import ABC, abstractmethod
from typing import Any

from abstain.train.network import Classifier, Network


class Objective(ABC):
    """A loss, and the network it is for; a frozen value, so that two runs are the same if their objectives are."""

    def network(self, body: Any, classes: int, /) -> Network:
        """The body with the heads that the loss needs: by default one linear layer."""
        return Classifier(body, classes)

    @abstractmethod
    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:
        """The mean loss of a batch, from what the network said of it, its labels and how far they are trusted.

        ``done`` is the share of the epochs that are over.
        """

    def trusted(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """(b,) how far each label is trusted now, from how far it was, which begins with 1; by default always that."""
        return trust
