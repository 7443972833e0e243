"""`SelectiveModel`: a PyTorch classifier that abstains by itself, in one forward pass."""

from typing import Any, NamedTuple

from abstain.collect.model import as_numpy
from abstain.collect.torch_model import find_linear, logits_of
from abstain.extras import require
from abstain.scores.portable import decide
from abstain.selector import Selector

torch = require("torch", extra="torch", feature="abstain.torch")


class Selection(NamedTuple):
    """What a selective model says of a batch; tensors of shape (n,) on the model's device."""

    prediction: Any
    """The classifier's own class, or the cheapest where the selector knows the costs."""
    confidence: Any
    accepted: Any
    """Whether the prediction is to be trusted."""


class SelectiveModel(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A classifier with its selector: ``prediction, confidence, accepted = selective(x)``.

    Every score is computed on the model's device, in float64; those that need features get the input of the last
    linear layer by a hook. That layer is found on the first batch, or named by ``head``. The module can be exported by
    ``torch.export`` and traced to TorchScript by ``torch.jit.trace``, after a first batch if the score needs that
    layer; what comes out gives a plain tuple and does not need abstain.
    """

    def __init__(self, model: Any, selector: Selector, *, head: str | None = None) -> None:
        super().__init__()
        self.model, self.selector = model, selector
        self.head = None if head is None else model.get_submodule(head)
        self._seen: list[Any] = []
        self._weight: Any = None
        if self.head is not None:
            self._hook(self.head)

    def forward(self, *inputs: Any, **named: Any) -> Selection:
        """One forward pass of the model, then the score and the threshold."""
        if self.head is None and self.selector.needs_head:
            return self._first(*inputs, **named)
        self._seen.clear()
        logits = logits_of(self.model(*inputs, **named))
        return self._select(logits, self._seen[-1] if self.selector.needs_features else None)

    def _select(self, logits: Any, features: Any) -> Selection:
        prediction, confidence = decide(self.selector.fitted, logits, features, self._weight)
        found = Selection(prediction, confidence, confidence > self.selector.threshold.value)
        return tuple(found) if torch.compiler.is_exporting() else found  # type: ignore[return-value]

    def _first(self, *inputs: Any, **named: Any) -> Selection:
        """The first batch: find the layer that makes the logits."""
        logits, self.head, features = find_linear(self.model, lambda: logits_of(self.model(*inputs, **named)))
        if self.head is None:
            raise ValueError(f"`model` must end in a Linear layer for {self.selector.score}, got none. Pass head=.")
        self._hook(self.head)
        return self._select(logits, features if self.selector.needs_features else None)

    def _hook(self, layer: Any) -> None:
        self._weight = as_numpy(layer.weight.detach())
        layer.register_forward_pre_hook(lambda _, given: self._seen.append(given[0]))
