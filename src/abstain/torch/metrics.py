"""Metrics for torchmetrics and Lightning: counts on the device, added up over batches and processes."""

import re
from abc import abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from abstain._arguments import check_share
from abstain._errors import InvalidInputError
from abstain._extras import repair_torchvision, require
from abstain._kernels.counts import FIRST, LARGEST, LAST
from abstain.scores.logit_formulas import of_logits
from abstain.scores.registry import DEFAULT, as_score
from abstain.scores.score import PlainScore
from abstain.sketch import BinCounts, Bracket, Sketch

repair_torchvision()  # which torchmetrics imports where it is there
torch = require("torch", extra="torch", feature="abstain.torch")
torchmetrics = require("torchmetrics", extra="torchmetrics", feature="abstain.torch metrics")

BITS = 16  # 1 MB of counts, which every forward call copies; brackets below 1% for scores in the log domain


class _Binned(torchmetrics.Metric):  # type: ignore[misc, name-defined]
    """Rows and errors by bin of a score's confidence."""

    is_differentiable: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = False
    full_state_update: ClassVar[bool] = False
    plot_lower_bound: ClassVar[float] = 0.0
    plot_upper_bound: ClassVar[float] = 1.0

    def __init__(self, *, score: str | None = DEFAULT, bits: int = BITS, **options: Any) -> None:
        super().__init__(**options)
        if type(bits) is not int or not 9 <= bits <= 24:
            raise InvalidInputError(f"`bits` must be an integer from 9 to 24, got {bits!r}.")
        self.score, self.bits = score, bits
        self._formula(score)
        self._state = re.sub(r"\W", "_", f"counts_{score}_{bits}")  # collections join metrics of states alike by name
        self.add_state(self._state, torch.zeros(1 << bits, 2, dtype=torch.int64), dist_reduce_fx="sum")

    @property
    def counts(self) -> Any:
        """(2^bits, 2) right and wrong rows by bin."""
        return getattr(self, self._state)

    def update(self, preds: Any, target: Any) -> None:
        """Count a batch: logits (n, K) and labels (n,), or, without a score, confidences (n,) and errors (n,)."""
        if self.score is None:
            confidence, errors = preds, target != 0
            if bool(((target != 0) & (target != 1)).any()):
                raise InvalidInputError(
                    f"`target` must be 0 or 1 without a score, got {target.reshape(-1)[:5].tolist()}. "
                    "Pass 1 for a wrong answer."
                )
        else:
            if preds.ndim != 2:
                raise InvalidInputError(f"`preds` must be logits of shape (n, K), got {tuple(preds.shape)}.")
            if not len(preds):
                return
            logits = preds.detach()
            confidence = of_logits({self.score: self._formula(self.score).formula}, logits)[self.score]
            errors = (logits.argmax(dim=1) != target) | (target < 0) | confidence.isnan()
        if confidence.ndim != 1 or confidence.shape != errors.shape:
            shapes = f"{tuple(preds.shape)} and {tuple(target.shape)}"
            raise InvalidInputError(f"`preds` and `target` must be of one length, got {shapes}.")
        if len(errors):
            setattr(self, self._state, self.counts + bin_counts(confidence, errors, self.bits))

    def _formula(self, score: str | None) -> Any:
        if score is None:
            return None
        entry = as_score(score)
        if not isinstance(entry, PlainScore) or entry.needs != ("logits",):
            raise InvalidInputError(
                f"`score` must be a score of the logits with nothing to fit, or None, got {score!r}."
            )
        return entry

    def sketch(self) -> Sketch:
        """The counts so far of this process as a sketch, to be saved or merged."""
        return Sketch.of_table(np.asarray(self.counts.cpu()), score=self.score or "confidence")

    def bracket(self) -> Bracket:
        """What the rows of all processes give, between bounds that are certain."""
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync):
            return self._value(self._counted())

    def compute(self) -> Any:
        """The value, bins as ties."""
        value = self._value(self._counted()).point
        kind = torch.float32 if self.counts.device.type == "mps" else torch.float64
        return torch.tensor(value, dtype=kind, device=self.counts.device)

    def _counted(self) -> BinCounts:
        if not int(self.counts.sum()):
            raise InvalidInputError(
                f"{type(self).__name__} must have counted rows to be computed, got none. Call update first."
            )
        return self.sketch().counts()

    @abstractmethod
    def _value(self, counts: BinCounts) -> Bracket:
        """The metric of the counts."""


@final
class AURC(_Binned):
    """AURC-α that accumulates: ``AURC(alpha=0.5)``, updated with logits and labels, or with confidences and errors.

    It is that of `abstain.metrics.aurc`, with confidences of one bin as ties: ``bracket()`` bounds what this
    can change. Processes are added up, exactly, by a sum. Labels below 0 are classes that the classifier does not know.

    Parameters
    ----------
    alpha : float
        The largest coverage that counts.
    score : str or None
        The score of the logits; None where confidences and errors are given.
    bits : int
        Of the bins, 2^bits of them.
    **options : object
        Of `torchmetrics.Metric`.
    """

    def __init__(self, *, alpha: float = 1.0, score: str | None = DEFAULT, bits: int = BITS, **options: Any):
        check_share("alpha", alpha)
        super().__init__(score=score, bits=bits, **options)
        self.alpha = alpha

    def _value(self, counts: BinCounts) -> Bracket:
        return counts.aurc(self.alpha)


@final
class AUGRC(_Binned):
    """AUGRC that accumulates, as `AURC` does."""

    def _value(self, counts: BinCounts) -> Bracket:
        return counts.augrc()


@final
class RiskAtCoverage(_Binned):
    """The share of errors among the most trusted ``coverage`` of the rows, which accumulates as `AURC` does.

    Parameters
    ----------
    coverage : float
        The share of the rows to accept.
    score : str or None
        The score of the logits; None where confidences and errors are given.
    bits : int
        Of the bins, 2^bits of them.
    **options : object
        Of `torchmetrics.Metric`.
    """

    def __init__(self, *, coverage: float = 0.8, score: str | None = DEFAULT, bits: int = BITS, **options: Any) -> None:
        check_share("coverage", coverage)
        super().__init__(score=score, bits=bits, **options)
        self.coverage = coverage

    def _value(self, counts: BinCounts) -> Bracket:
        return counts.risk_at_coverage(self.coverage)


def bin_counts(confidence: Any, errors: Any, bits: int, /) -> Any:
    """(2^bits, 2) how many right and wrong rows there are in each bin, as `abstain.sketch` counts them."""
    values = confidence.detach()
    if values.dtype != torch.float64:
        values = values.to(torch.float32)
    clipped = torch.where(values.isinf(), values, values.clamp(-LARGEST, LARGEST)).to(torch.float32)
    word = clipped.contiguous().view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    key = torch.where(word >= 1 << 31, 0xFFFFFFFF - word, word + (1 << 31))
    key = torch.where(clipped == 0, 1 << 31, key)
    key = torch.where(clipped.isnan() | (key < FIRST) | (key > LAST), 0, key)
    cell = (key >> (32 - bits)) * 2 + errors.to(torch.int64)
    return torch.bincount(cell, minlength=2 << bits).view(-1, 2)
