"""The linear layer of a PyTorch module that makes its logits."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._extras import require


class hooked:  # noqa: N801
    """Forward hooks inside the context, called with the layer, its input and its output, which it may replace."""

    def __init__(self, layers: Sequence[Any], hook: Callable[..., Any]) -> None:
        self.layers, self.hook = layers, hook

    def __enter__(self) -> None:
        def hook(layer: Any, given: Any, named: Any, made: Any) -> Any:
            return self.hook(layer, given[0] if given else named["input"], made)

        self.handles = [layer.register_forward_hook(hook, with_kwargs=True) for layer in self.layers]

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()


def linear_at(module: Any, name: str, /) -> Any:
    """The linear layer of that name."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    try:
        layer = module.get_submodule(name)
    except AttributeError:
        raise InvalidInputError(f"`head` must name a layer of the module, got {name!r}.") from None
    if not isinstance(layer, torch.nn.Linear):
        raise InvalidTypeError(f"`head` must name a Linear layer, got {type(layer).__name__} at {name!r}.")
    return layer


def find_linear(module: Any, run: Callable[[], Any], /) -> tuple[Any, Any, Any]:
    """The logits of a run, the linear layer that makes them, and its input; None and None where there is none."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    seen: list[tuple[Any, Any, Any]] = []
    linears = [layer for layer in module.modules() if isinstance(layer, torch.nn.Linear)]
    with hooked(linears, lambda layer, given, made: seen.append((layer, given, made))):
        logits = run()
    exact = [entry for entry in seen if entry[2].shape == logits.shape and torch.equal(entry[2], logits)]
    last = list(takewhile(lambda entry: entry[0].out_features == logits.shape[1], reversed(seen)))
    candidates = exact[::-1] or [entry for entry in last if entry[2].shape == logits.shape]
    return (logits, *candidates[0][:2]) if candidates else (logits, None, None)


def logits_of(output: Any, /) -> Any:
    """The logits in what a module returns: a tensor, something with ``logits``, or the first of a tuple."""
    if isinstance(output, dict):
        if "logits" not in output:
            raise InvalidInputError(f"`model` must return logits, got a dictionary with {', '.join(map(str, output))}.")
        return output["logits"]
    if hasattr(output, "logits"):
        return output.logits
    return logits_of(output[0]) if isinstance(output, (tuple, list)) else output
