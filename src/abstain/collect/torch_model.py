"""PyTorch modules: logits, the input of the last linear layer, and that layer, in one forward pass."""

import inspect
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.fingerprint import digest
from abstain.collect.model import Model, ModelOutput, Prepare, as_numpy
from abstain.collect.torch_head import find_linear, hooked, linear_at, logits_of


@final
class TorchModel(Model):
    """A PyTorch module, run in evaluation mode and left in the mode it was in.

    Its head is found on the first batch: the last ``Linear`` to run whose output is the logits. Failing that, as with
    auxiliary or averaged heads, it is one of the last with as many outputs as classes, and `Outputs.check_head` reports
    how far off it is.

    Parameters
    ----------
    module : torch.nn.Module
        The ``torch.nn.Module``.
    prepare : function, optional
        Turns a list of inputs into the module's argument, a tensor or a dictionary of keyword arguments; by default it
        stacks them. Of a dictionary the module gets the keywords that it takes, or its only entry.
    head : str, optional
        The name of the last linear layer, if it is not the one found.
    device : str
        Where the module runs.
    class_names : sequence of str, optional
        The names of its classes.
    name : str, optional
        Differs between models; by default its class and a digest of its weights.
    amp : bool
        Run in half precision (float16 on a graphics card, bfloat16 elsewhere), except the head, whose logits would tie.
    """

    def __init__(
        self,
        module: Any,
        *,
        prepare: Prepare | None = None,
        head: str | None = None,
        device: str = "cpu",
        class_names: Sequence[str] | None = None,
        name: str | None = None,
        amp: bool = False,
    ) -> None:
        self.torch = require("torch", extra="torch", feature="Collecting from PyTorch")
        with foreign(f"`device` {device!r} must be one that PyTorch has here"):
            self.module = module.to(device)
        self.prepare = prepare or self._stack
        self.device = device
        self.class_names = None if class_names is None else tuple(class_names)
        self.name = (name or f"{type(module).__name__}-{digest(module)}") + ("-amp" if amp else "")
        self.amp = amp
        self.linear: Any = None if head is None else linear_at(module, head)
        self.searched = head is not None

    def run(self, prepared: Any, /) -> ModelOutput:
        """One forward pass, with a hook on the head."""
        with self.torch.inference_mode(), evaluating(self.module), self._precision():
            prepared = _to(prepared, self.device)
            if not self.searched:
                self.searched = True
                logits, self.linear, features = find_linear(self.module, lambda: logits_of(self._run(prepared)))
                if not self.amp or self.linear is None:
                    return as_numpy(logits), None if features is None else as_numpy(features)
            if self.linear is None:
                return as_numpy(logits_of(self._run(prepared))), None
            seen: list[Any] = []

            def see(layer: Any, given: Any, _: Any) -> Any:
                seen.append(given)
                return self._exact(layer, given) if self.amp else None

            with hooked([self.linear], see):
                logits = logits_of(self._run(prepared))
            return as_numpy(logits), as_numpy(seen[-1])

    def _precision(self) -> AbstractContextManager[Any]:
        if not self.amp:
            return nullcontext()
        kind = self.torch.device(self.device).type
        if kind == "cpu" and not runs_bfloat16():  # which would end the process
            raise InvalidInputError(
                "`amp` must be left out on a processor that cannot run bfloat16, got it here. A virtual machine may "
                "withhold what its processor has."
            )
        dtype = self.torch.bfloat16 if kind == "cpu" else self.torch.float16
        context: AbstractContextManager[Any] = self.torch.autocast(kind, dtype=dtype)
        return context

    def _exact(self, layer: Any, given: Any) -> Any:
        """The output of a linear layer in float32: rounded to half precision, logits tie."""
        with self.torch.autocast(self.torch.device(self.device).type, enabled=False):
            bias = None if layer.bias is None else layer.bias.float()
            return self.torch.nn.functional.linear(given.float(), layer.weight.float(), bias)

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight and bias of the linear layer found."""
        if self.linear is None:
            return None, None
        return as_numpy(self.linear.weight), None if self.linear.bias is None else as_numpy(self.linear.bias)

    def _run(self, prepared: Any) -> Any:
        return self.module(**prepared) if isinstance(prepared, dict) else self.module(prepared)

    def _stack(self, inputs: Sequence[Any]) -> Any:
        if isinstance(inputs[0], dict):
            taken = _taken(self.module, list(inputs[0]))
            stacked = {name: self._stack([value[name] for value in inputs]) for name in taken or inputs[0]}
            return stacked if taken else next(iter(stacked.values()))
        rows = [value if hasattr(value, "detach") else self.torch.as_tensor(np.asarray(value)) for value in inputs]
        if len(shapes := {tuple(row.shape) for row in rows}) > 1:
            raise InvalidInputError(
                f"`data` must give inputs of one shape in a batch, got {' and '.join(map(str, sorted(shapes)[:2]))}. "
                "Pad them, or pass a loader's own batch size."
            )
        return self.torch.stack(rows)


def tensors(prepare: Prepare, /) -> Prepare:
    """The same preparation, but of a tensor for PyTorch where it makes an array."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    return lambda inputs: torch.as_tensor(prepare(inputs))


@contextmanager
def evaluating(module: Any, /) -> Iterator[None]:
    """Evaluation mode inside the context; every part is left in the mode it was in."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _taken(module: Any, names: list[str]) -> list[str]:
    """The names that the module's forward has keywords for; none if a single input is to go in as it is."""
    parameters = inspect.signature(module.forward).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return names
    taken = [name for name in names if name in parameters]
    if not taken and len(names) != 1:
        raise InvalidInputError(
            f"`data` must give inputs that the module takes ({', '.join(parameters)}), got {', '.join(names)}."
        )
    return taken


def _to(prepared: Any, device: str) -> Any:
    if isinstance(prepared, dict):
        return {name: value.to(device) for name, value in prepared.items()}
    return prepared.to(device)


@cache
def runs_bfloat16() -> bool:
    """Whether PyTorch multiplies bfloat16 matrices here; tried in another process, which it may end."""
    code = (
        "import torch\n"
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n"
        "    for n in (32, 75, 256): torch.nn.Linear(n, 32)(torch.ones(9, n)); torch.nn.Linear(n, n)(torch.ones(n, n))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
