"""Tests of losses between 0 and 1 along the sample's own ranks: coins where losses are few, bets elsewhere."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Self, final

import numpy as np

from abstain._arrays import Floats, Ints
from abstain._draws import coarse, generator
from abstain._kernels.bets import passed_in_turn
from abstain.thresholds.sample import Sample

FEW_LOSSES = 20.0  # n·risk, below which bets certify less than coins
MANY_ROWS = 20_000  # beyond which bets of every rank take too long
CELLS = 50  # of a cell's ranks are at most as many as a segment's first rank


def are_tossed(n: int, risk: float, /) -> bool:
    """Whether losses become coins: n and the risk decide, so that it is fixed beforehand."""
    return n * risk < FEW_LOSSES


def tossed(sample: Sample, /) -> Sample:
    """The sample with each loss L replaced by an error with probability L: the same risk, and exact tests apply."""
    coins = _draws("coins for losses", sample) < sample.losses
    return replace(sample, losses=coins.astype(np.float64), are_errors=True)


@final
@dataclass(frozen=True, eq=False)
class Bets:
    """Bets on the losses of the most trusted rows, in one random order for all ranks."""

    losses: Floats
    """(n,) most trusted first."""
    order: Ints
    """(n,) the rows in the order in which they are bet on."""

    @classmethod
    def of(cls, sample: Sample, /) -> Self:
        """The order is a draw that the data seed."""
        return cls(np.ascontiguousarray(sample.losses), np.argsort(_draws("order of bets", sample), kind="stable"))

    def in_turn(self, first: int, last: int, risk: float, levels: tuple[float, ...], /) -> int:
        """The last rank that passes if ranks are tested one after the other; first − 1 for none.

        A rank passes if the bets reach their target at each of the levels: the one it is tested at and all higher ones
        that could have been, so that passing at one level implies passing at every higher one. With many rows the
        ranks of a cell share their bets; n and ``first`` decide how many do, so that cells are fixed beforehand.
        """
        step = max(1, min(ceil((len(self.losses) / MANY_ROWS) ** 2), first // CELLS))
        return int(passed_in_turn(self.losses, self.order, first, last, step, risk, -np.log(levels)))


def _draws(purpose: str, sample: Sample) -> Floats:
    return generator(purpose, 0, coarse(sample.confidence), sample.losses).random(len(sample))
