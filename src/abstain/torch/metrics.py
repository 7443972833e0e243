"""Metrics for torchmetrics and Lightning: counts on the device, added up over batches and processes."""

import re
from abc import abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from abstain.collect.torchvision import mend_torchvision
from abstain.extras import require
from abstain.metrics.checks import check_share
from abstain.scores.default import DEFAULT
from abstain.scores.of_logits import of_logits
from abstain.scores.registry import as_score
from abstain.scores.score import PlainScore
from abstain.sketch import Bracket, Counts, Sketch
from abstain.torch.counting import bin_counts, torch

mend_torchvision()  # which torchmetrics imports where it is there
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
            raise ValueError(f"`bits` must be a whole number from 9 to 24, got {bits!r}.")
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
                raise ValueError("`target` must be errors, 0 or 1, where there is no score, got others.")
        else:
            if preds.ndim != 2:
                raise ValueError(f"`preds` must be logits of shape (n, K), got {tuple(preds.shape)}.")
            if not len(preds):
                return
            logits = preds.detach()
            confidence = of_logits({self.score: self._formula(self.score).formula}, logits)[self.score]
            errors = (logits.argmax(dim=1) != target) | (target < 0) | confidence.isnan()
        if confidence.ndim != 1 or confidence.shape != errors.shape:
            shapes = f"{tuple(preds.shape)} and {tuple(target.shape)}"
            raise ValueError(f"`preds` and `target` must be of one length, got {shapes}.")
        if len(errors):
            setattr(self, self._state, self.counts + bin_counts(confidence, errors, self.bits))

    def _formula(self, score: str | None) -> Any:
        if score is None:
            return None
        found = as_score(score)
        if not isinstance(found, PlainScore) or found.needs != ("logits",):
            raise ValueError(f"`score` must be a score of the logits with nothing to fit, or None, got {score!r}.")
        return found

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

    def _counted(self) -> Counts:
        if not int(self.counts.sum()):
            raise ValueError(
                f"{type(self).__name__} must have counted rows to be computed, got none. Call update first."
            )
        return self.sketch().counts()

    @abstractmethod
    def _value(self, counts: Counts) -> Bracket:
        """The metric of the counts."""


@final
class AURC(_Binned):
    """AURC-α that accumulates: ``AURC(alpha=0.5)``, updated with logits and labels, or with confidences and errors.

    It is that of `abstain.metrics.aurc`, with confidences of one bin as ties: ``bracket()`` tells the most that this
    can change. Processes are added up, exactly, by a sum. Labels below 0 are classes that the classifier does not know.
    """

    def __init__(self, *, alpha: float = 1.0, score: str | None = DEFAULT, bits: int = BITS, **options: Any):
        check_share("alpha", alpha)
        super().__init__(score=score, bits=bits, **options)
        self.alpha = alpha

    def _value(self, counts: Counts) -> Bracket:
        return counts.aurc(self.alpha)


@final
class AUGRC(_Binned):
    """AUGRC that accumulates, as `AURC` does."""

    def _value(self, counts: Counts) -> Bracket:
        return counts.augrc()


@final
class RiskAtCoverage(_Binned):
    """The share of errors among the most trusted ``coverage`` of the rows, which accumulates as `AURC` does."""

    def __init__(self, *, coverage: float = 0.8, score: str | None = DEFAULT, bits: int = BITS, **options: Any) -> None:
        check_share("coverage", coverage)
        super().__init__(score=score, bits=bits, **options)
        self.coverage = coverage

    def _value(self, counts: Counts) -> Bracket:
        return counts.risk_at_coverage(self.coverage)
