"""Formulas of the logits alone, block by block, on arrays of any library."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from array_api_compat import is_jax_array, is_torch_array
from numpy.typing import NDArray

from abstain._kernels.blocks import for_each_block
from abstain.scores.head import Head
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array
from abstain.scores.rows import as_logits, refuse

Give = Callable[[NDArray[Any]], Any]


def host_view(array: Any, /) -> tuple[NDArray[Any], Give] | None:
    """The numbers of an array without a copy, and how to give an array of that kind back, at least of float32.

    None where that would lose something: a gradient that is asked for, a graph that is being recorded, a device.
    """
    if isinstance(array, np.ndarray):
        return array, lambda values: values
    if is_torch_array(array):
        return _torch_view(array)
    return _jax_view(array) if is_jax_array(array) else None


def _torch_view(tensor: Any) -> tuple[NDArray[Any], Give] | None:
    torch = sys.modules["torch"]
    kind = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    if (
        torch.compiler.is_compiling()
        or torch.jit.is_tracing()
        or torch._C._len_torch_dispatch_stack()
        or type(tensor) not in (torch.Tensor, torch.nn.Parameter)
        or tensor.device.type != "cpu"
        or (tensor.requires_grad and torch.is_grad_enabled())
        or torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None
    ):
        return None
    try:
        view = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()
    except RuntimeError:  # a tensor of torch.func, which has no memory of its own
        return None

    def give(values: NDArray[Any]) -> Any:
        tensor = torch.from_numpy(values)
        return tensor.to(kind) if tensor.is_floating_point() else tensor

    return view, give


def _jax_view(array: Any) -> tuple[NDArray[Any], Give] | None:
    jax = sys.modules["jax"]
    if isinstance(array, jax.core.Tracer) or [device.platform for device in array.devices()] != ["cpu"]:
        return None
    kind = np.float64 if array.dtype == np.float64 else np.float32

    def give(values: NDArray[Any]) -> Any:
        return jax.device_put(values.astype(kind) if values.dtype.kind == "f" else values, array.device)

    view = np.asarray(array)
    return (view if view.dtype.kind == "f" else view.astype(np.float32)), give  # bfloat16 is not NumPy's


def of_logits(
    formulas: Mapping[str, Callable[[Inputs], Array]], logits: Array, head: Head | None = None, /
) -> dict[str, Array]:
    """Confidence (n,) by the name of the formula.

    NumPy arrays, and those of other libraries on the CPU of which no gradient is asked, are worked in float64, in
    threads and in blocks that stay in cache while all formulas look at them; others by their own operations. What comes
    out is float64 for NumPy and of the logits' own type, at least float32, for other libraries. A non-finite row, with
    NaN, +inf or nothing above −inf, is refused in a NumPy array and NaN in others, which are not inspected, since that
    would wait for their device.
    """
    logits = as_logits(logits)
    if (host := host_view(logits)) is None:
        inputs = Inputs(logits, head=head)
        return {name: formula(inputs) for name, formula in formulas.items()}
    view, give = host
    values = {name: np.empty(len(view)) for name in formulas}
    bad = np.empty(len(view), dtype=bool)

    def work(block: slice) -> None:
        inputs = Inputs(view[block], head=head)
        with np.errstate(invalid="ignore"):  # in non-finite rows
            for name, formula in formulas.items():
                values[name][block] = formula(inputs)
        bad[block] = inputs.predictions < 0
        if bad[block].any():
            for confidence in values.values():
                confidence[block][bad[block]] = np.nan

    for_each_block(work, *view.shape)
    if view is logits:
        refuse(bad)
    return {name: give(confidence) for name, confidence in values.items()}
