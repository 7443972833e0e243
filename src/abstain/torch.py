"""`SelectiveModel`: a PyTorch classifier that abstains by itself, in one forward pass."""

from typing import Any, NamedTuple

from abstain.collect.torch_model import TorchModel, logits_of
from abstain.extras import require
from abstain.outputs import Outputs
from abstain.scores import gen, max_logit_pnorm, max_softmax, pairwise_margin
from abstain.scores.max_logit_pnorm import FittedMaxLogitPNorm
from abstain.scores.norms import row_norms
from abstain.scores.rows import logit_rows
from abstain.scores.score import LogitScore
from abstain.scores.temperature import FittedTemperature
from abstain.selector import Selector

torch = require("torch", extra="torch", feature="abstain.torch")


class Selection(NamedTuple):
    """What a selective model says of a batch; tensors of shape (n,) on the model's device."""

    prediction: Any
    """The classifier's own class."""
    confidence: Any
    accepted: Any
    """Whether the prediction is to be trusted."""


class SelectiveModel(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A classifier with its selector: ``prediction, confidence, accepted = selective(x)``.

    Scores that are formulas in the logits run on the model's device and, for one of them, the module can be exported by
    ``torch.export``. Scores that need features get the input of the last linear layer by a hook and are computed on the
    CPU, with the numbers of the Python selector.
    """

    def __init__(self, model: Any, selector: Selector) -> None:
        super().__init__()
        self.model, self.selector = model, selector
        self.needs_features = not _runs_in_torch(selector)
        self.finder: Any = None

    def forward(self, *inputs: Any, **named: Any) -> Selection:
        """One forward pass of the model, then the score and the threshold."""
        if self.needs_features:
            return self._with_features(*inputs, **named)
        logits = logits_of(self.model(*inputs, **named))
        confidence = self._in_torch(logits.double())
        return Selection(logits.argmax(1), confidence, confidence > self.selector.threshold.value)

    def _in_torch(self, logits: Any) -> Any:
        fitted = self.selector.fitted
        if isinstance(fitted, FittedTemperature):
            return fitted.score.formula(logit_rows(logits, temperature=fitted.temperature))
        if isinstance(fitted, FittedMaxLogitPNorm):
            return max_softmax(logits) if fitted.p < 0 else max_logit_pnorm(logits, p=fitted.p)
        if isinstance(fitted, LogitScore) and "head" not in fitted.needs:
            return fitted.formula(logit_rows(logits))
        if self.selector.score == "gen":
            return gen(logits)
        weight = self._head().weight.detach()
        if isinstance(fitted, LogitScore):
            return fitted.formula(logit_rows(logits, scale=1 / row_norms(weight)))
        return pairwise_margin(logits, weight)

    def _head(self) -> Any:
        linears = [layer for layer in self.model.modules() if isinstance(layer, torch.nn.Linear)]
        fitting = [layer for layer in linears if layer.out_features == self.selector.n_classes]
        if not fitting:
            raise ValueError(f"`model` must have a Linear layer with {self.selector.n_classes} outputs, got none.")
        return fitting[-1]

    def _with_features(self, *inputs: Any, **named: Any) -> Selection:
        if self.finder is None:
            device = next(self.model.parameters()).device
            self.finder = TorchModel(self.model, prepare=lambda batch: batch[0], device=str(device))
        logits, features = self.finder([named or inputs[0]])
        weight, bias = self.finder.head()
        outputs = Outputs(logits=logits, features=features, weight=weight, bias=bias, nonfinite="reject")
        device = next(self.model.parameters()).device
        confidence = torch.as_tensor(self.selector.confidence(outputs), device=device)
        prediction = torch.as_tensor(outputs.predictions.copy(), device=device)
        return Selection(prediction, confidence, confidence > self.selector.threshold.value)


def _runs_in_torch(selector: Selector) -> bool:
    kinds = (LogitScore, FittedTemperature, FittedMaxLogitPNorm)
    return isinstance(selector.fitted, kinds) or selector.score in ("gen", "pairwise_margin")
