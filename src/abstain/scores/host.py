"""Arrays of other libraries that lie in the memory of the CPU, as NumPy arrays and back."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import is_jax_array, is_torch_array
from numpy.typing import NDArray

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
        found = torch.from_numpy(values)
        return found.to(kind) if found.is_floating_point() else found

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
