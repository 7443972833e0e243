"""Learning rates as functions of the epoch alone, so that a checkpoint need not store them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import cos, pi
from typing import final


class Schedule(ABC):
    """The learning rate in an epoch, as a share of the first."""

    @abstractmethod
    def share(self, epoch: int, epochs: int, /) -> float:
        """In epoch 0, 1, … of ``epochs``."""


@final
@dataclass(frozen=True)
class Steps(Schedule):
    """Multiplied by ``factor`` after every so many epochs."""

    every: int = 25
    factor: float = 0.5

    def share(self, epoch: int, epochs: int, /) -> float:  # noqa: ARG002
        """factor^⌊epoch / every⌋.

        >>> Steps(every=25, factor=0.5).share(50, 300)
        0.25
        """
        return float(self.factor ** (epoch // self.every))


@final
@dataclass(frozen=True)
class Cosine(Schedule):
    """Half a cosine wave down to zero (Loshchilov & Hutter, 2017)."""

    def share(self, epoch: int, epochs: int, /) -> float:
        """(1 + cos(π epoch / epochs)) / 2.

        >>> round(Cosine().share(4, 8), 3)
        0.5
        """
        return (1 + cos(pi * epoch / epochs)) / 2
