"""`SelectiveModel`: a PyTorch classifier that abstains by itself, in one forward pass."""

import inspect
import threading
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._extras import require
from abstain.collect.model import as_numpy
from abstain.collect.torch_head import find_linear, linear_at, logits_of
from abstain.scores.confidences import above, decide
from abstain.scores.head import Head
from abstain.selector import Selector
from abstain.selector.file import SELECTOR_FILE

torch = require("torch", extra="torch", feature="abstain.torch")


class Selection(NamedTuple):
    """What a selective model returns for a batch; tensors on the model's device.

    Attributes
    ----------
    prediction : (n,) tensor
        The classifier's own class, or the cheapest where the selector knows the costs; −1 where a row is non-finite.
    confidence : (n,) tensor
        By the selector's score.
    accepted : (n,) tensor
        Whether the prediction is to be trusted.
    """

    prediction: Any
    confidence: Any
    accepted: Any


class SelectiveModel(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A classifier with its selector: ``prediction, confidence, accepted = selective(x)``.

    Every score is computed on the model's device, in float64; those that need features get the input of the last
    linear layer by a hook. That layer is found on the first batch, or named by ``head``. The module can be exported by
    ``torch.export`` and traced to TorchScript by ``torch.jit.trace``, after a first batch if that layer was not named;
    what comes out gives a plain tuple and does not need abstain. It may be called from several threads. Its
    ``state_dict`` holds the selector with the weights, and ``load_state_dict`` takes both.

    Parameters
    ----------
    model : torch.nn.Module
        The classifier, which returns logits.
    selector : Selector
        What decides; its score must not be a function of the user's.
    head : str, optional
        The name of the last linear layer.
    """

    def __init__(self, model: Any, selector: Selector, *, head: str | None = None) -> None:
        super().__init__()
        self.model, self.selector = model, selector
        self.training = model.training  # so that who restores the mode of this module restores that of the model
        self._has_warned = False
        self.head: str | None = None
        self._caught = _Caught()
        self._finding = threading.Lock()
        self._known: tuple[tuple[Any, ...], Head | None] = ((None, None), None)
        self._take_signature()
        if head is not None:
            self._watch(head)

    def forward(self, *inputs: Any, **named: Any) -> Selection:
        """One forward pass of the model, then the score and the threshold."""
        if self.model.training and not self._has_warned and not torch.compiler.is_compiling():
            self._has_warned = True
            warnings.warn(
                "`model` is in training mode: dropout and batch norm change its answers, and the guarantee is about "
                "those in evaluation mode. Call .eval() first.",
                stacklevel=2,
            )
        logits, features = self._run(*inputs, **named)
        with _without_tracer_warnings():
            return self._select(logits, features)

    def _select(self, logits: Any, features: Any) -> Selection:
        """Score the outputs of the model and compare with the threshold."""
        self._check_logits(logits)
        if _is_empty(logits):
            return _nothing(logits)
        self._check_features(logits, features)
        compiling = torch.compiler.is_compiling() and not torch.compiler.is_exporting()
        decision = _DECIDE_EAGERLY(self, logits, features) if compiling else self._decide(logits, features)
        return tuple(decision) if torch.compiler.is_exporting() else decision  # type: ignore[return-value]

    def _decide(self, logits: Any, features: Any) -> Selection:
        prediction, confidence = decide(self.selector.fitted, logits, features, self._read_head())
        return Selection(prediction, confidence, above(self.selector.class_values, prediction, confidence))

    def _check_logits(self, logits: Any) -> None:
        k = self.selector.n_classes
        if logits.ndim != 2 or logits.shape[1] != k:
            raise InvalidInputError(f"`model` must give logits (n, {k}), as in calibration, got {tuple(logits.shape)}.")

    def _check_features(self, logits: Any, features: Any) -> None:
        if self.selector.needs_features and (
            features is None or features.ndim != 2 or features.shape[0] != logits.shape[0]
        ):
            shape = "nothing" if features is None else tuple(features.shape)
            raise InvalidInputError(
                f"`head` must be the layer that gets features (n, d) of {logits.shape[0]} samples, got {shape} at "
                f"{self.head!r}."
            )

    def _run(self, *inputs: Any, **named: Any) -> tuple[Any, Any]:
        """Logits, and the input of the head if the score needs it."""
        if self.head is None and self.selector.needs_head:
            if torch.compiler.is_exporting() or torch.jit.is_tracing():
                raise InvalidInputError(
                    "`head` must be named, or a batch run once, before a score of features is exported."
                )
            with self._finding:
                if self.head is None:
                    return self._find(*inputs, **named)
        if not self.selector.needs_features:
            return logits_of(self.model(*inputs, **named)), None
        with self._caught as caught:
            return logits_of(self.model(*inputs, **named)), caught.features

    def _find(self, *inputs: Any, **named: Any) -> tuple[Any, Any]:
        """The first batch: find the layer that makes the logits."""
        logits, layer, features = find_linear(self.model, lambda: logits_of(self.model(*inputs, **named)))
        if _is_empty(logits):  # an empty batch matches every layer
            return logits, None
        if layer is None:
            raise InvalidInputError(
                f"`model` must end in a Linear layer for {self.selector.score}, got none. Calibrate a score of the "
                "logits alone."
            )
        self._watch(next(name for name, module in self.model.named_modules() if module is layer))
        return logits, features if self.selector.needs_features else None

    def _watch(self, head: str) -> None:
        handle = linear_at(self.model, head).register_forward_pre_hook(self._caught.hook, with_kwargs=True)
        weakref.finalize(self, handle.remove)
        self.head = head
        self._read_head()

    def _read_head(self) -> Head | None:
        """What the score needs of the head as it is now, worked out again only where it changed."""
        if self.head is None or not self.selector.needs_head:
            return None
        if torch.compiler.is_exporting() or torch.jit.is_tracing():
            return self._known[1]
        layer = self.model.get_submodule(self.head)
        now = tuple(None if part is None else part.detach() for part in (layer.weight, layer.bias))
        if not all(map(_is_same, self._known[0], now)):
            copies = tuple(None if part is None else part.clone() for part in now)
            self._known = (copies, Head(*(None if part is None else as_numpy(part) for part in now)))
        return self._known[1]

    def _take_signature(self) -> None:
        """Copy the signature of the model; exports read shapes from the names and positions of arguments."""
        plain = type(self).forward
        forward = FunctionType(plain.__code__, plain.__globals__, plain.__name__, plain.__defaults__)
        signature = inspect.signature(self.model.forward)
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        forward.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
        self.forward = MethodType(forward, self)  # type: ignore[method-assign]

    def get_extra_state(self) -> Any:
        """The selector, as the bytes of its file, for ``state_dict``."""
        return torch.frombuffer(bytearray(SELECTOR_FILE.dumped(self.selector)), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:
        """Take the selector of a ``state_dict``; a damaged one, or one of other classes, is an error."""
        if not isinstance(state, torch.Tensor) or state.dtype != torch.uint8:
            raise InvalidTypeError(f"`state_dict` must hold a selector as bytes, got {type(state).__name__}.")
        selector = SELECTOR_FILE.read(Selector, state.detach().cpu().numpy().tobytes(), "state_dict")
        if selector.n_classes != self.selector.n_classes:
            raise InvalidInputError(
                f"`state_dict` must hold a selector of {self.selector.n_classes} classes, got {selector.n_classes}."
            )
        self.selector, self._known = selector, ((None, None), None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_finding", "forward")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._finding = threading.Lock()
        self._take_signature()


@contextmanager
def _without_tracer_warnings() -> Iterator[None]:
    """While a trace is recorded: that shapes are checked in Python is meant, and no part of the graph."""
    if not torch.jit.is_tracing():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        yield


def _is_same(seen: Any, now: Any) -> bool:
    """Whether a parameter is what it was, and where it was."""
    if seen is None or now is None:
        return seen is now
    return bool(seen.shape == now.shape and seen.device == now.device and torch.equal(seen, now))


def _is_empty(logits: Any) -> bool:
    """Whether there is no row; an export or a trace is of a graph for any number of them."""
    recording = torch.compiler.is_compiling() or torch.jit.is_tracing()
    return not recording and logits.ndim == 2 and logits.shape[0] == 0


def _nothing(logits: Any) -> Selection:
    """The result for an empty batch."""
    kinds = (torch.int64, torch.float64, torch.bool)
    return Selection(*(torch.empty(0, dtype=kind, device=logits.device) for kind in kinds))


_DECIDE_EAGERLY = torch.compiler.disable(SelectiveModel._decide)


class _Caught:
    """The input of the head in this thread, inside the context."""

    def __init__(self) -> None:
        self.thread = threading.local()

    def __reduce__(self) -> Any:
        return _Caught, ()

    def __enter__(self) -> "_Caught":
        self.thread.open, self.thread.features = True, None
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.open, self.thread.features = False, None

    @property
    def features(self) -> Any:
        """The input of the last call."""
        return self.thread.features

    def hook(self, _: Any, given: Any, named: Any = None) -> None:
        """To be called before the head; without ``named`` where garbage collection removes it during the call."""
        if getattr(self.thread, "open", False) and (given or named):
            self.thread.features = given[0] if given else named["input"]
