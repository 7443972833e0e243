"""The base class of training objectives."""

from abc import ABC, abstractmethod
from typing import Any

from abstain_reproduction.train.network import Classifier, Network


class Objective(ABC):
    """A loss, and the network it is for; a frozen value, so that two runs are the same if their objectives are."""

    def network(self, body: Any, classes: int, /) -> Network:
        """The body with the heads that the loss needs: by default one linear layer."""
        return Classifier(body, classes)

    @abstractmethod
    def loss(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:
        """The mean loss of a batch, from the network's output, the labels and the trust in each label.

        ``done`` is the share of the epochs that are over.
        """

    def trusted(self, said: Any, labels: Any, trust: Any, done: float, /) -> Any:  # noqa: ARG002
        """(b,) the updated trust in each label, which begins at 1; by default it stays 1."""
        return trust
