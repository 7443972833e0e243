"""The layers of Keras that image networks are made of, on (n, channels, h, w)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._extras import require

torch = require("torch", extra="torch", feature="A network of Keras")
nn = torch.nn
Tensor = Any
Config = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda x: x,
    "relu": nn.functional.relu,
    "relu6": nn.functional.relu6,
    "softmax": lambda x: nn.functional.softmax(x, dim=1),
}


class Window(nn.Module):  # type: ignore[misc, name-defined]
    """What slides over an image, after the padding that Keras calls "same": more at the end where it is uneven."""

    def __init__(self, inner: Callable[[Tensor], Tensor], config: Config, *, size: str, fill: float = 0.0) -> None:
        super().__init__()
        self.inner, self.activation = inner, config.get("activation", "linear")
        self.size, self.strides = list(config[size]), list(config["strides"] or config[size])
        self.same, self.fill = config["padding"] == "same", fill

    def forward(self, images: Tensor) -> Tensor:
        """Pad, slide, activate."""
        if self.same:
            sides = []
            for length, size, stride in zip(images.shape[:1:-1], self.size[::-1], self.strides[::-1], strict=True):
                missing = max((-(-length // stride) - 1) * stride + size - length, 0)
                sides += [missing // 2, missing - missing // 2]
            images = nn.functional.pad(images, sides, value=self.fill)
        return ACTIVATIONS[self.activation](self.inner(images))


class Dense(nn.Module):  # type: ignore[misc, name-defined]
    """A linear layer and its activation."""

    def __init__(self, config: Config, weights: Arrays) -> None:
        super().__init__()
        inputs, units = weights["kernel"].shape
        self.linear = nn.Linear(inputs, units, bias="bias" in weights)
        self.activation = config["activation"]
        _fill(self.linear, weights["kernel"].T, weights.get("bias"))

    def forward(self, rows: Tensor) -> Tensor:
        """Multiply, activate."""
        return ACTIVATIONS[self.activation](self.linear(rows))


class Simple(nn.Module):  # type: ignore[misc, name-defined]
    """A function of its inputs, with its name for whoever looks at the module."""

    def __init__(self, name: str, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.name, self.function = name, function

    def forward(self, *inputs: Tensor) -> Tensor:
        """Call it."""
        return self.function(*inputs)


def _fill(layer: Any, weight: NDArray[Any], bias: NDArray[Any] | None) -> None:
    with torch.no_grad():
        layer.weight.copy_(torch.as_tensor(np.ascontiguousarray(weight)))
        if bias is not None:
            layer.bias.copy_(torch.as_tensor(bias))


def _conv(config: Config, weights: Arrays) -> Any:
    kernel = weights["kernel"].transpose(3, 2, 0, 1)
    groups = config.get("groups", 1)
    inner = nn.Conv2d(
        groups * kernel.shape[1],
        len(kernel),
        kernel.shape[2:],
        config["strides"],
        groups=groups,
        bias="bias" in weights,
    )
    _fill(inner, kernel, weights.get("bias"))
    return Window(inner, config, size="kernel_size")


def _batch_norm(config: Config, weights: Arrays) -> Any:
    norm = nn.BatchNorm2d(len(weights["moving_mean"]), eps=config["epsilon"])
    ones, zeros = np.ones_like(weights["moving_mean"]), np.zeros_like(weights["moving_mean"])
    _fill(norm, weights.get("gamma", ones), weights.get("beta", zeros))
    with torch.no_grad():
        norm.running_mean.copy_(torch.as_tensor(weights["moving_mean"]))
        norm.running_var.copy_(torch.as_tensor(weights["moving_variance"]))
    return norm


def _pool(kind: Any, config: Config, fill: float) -> Any:
    return Window(kind(config["pool_size"], config["strides"]), config, size="pool_size", fill=fill)


def _zero_padding(config: Config) -> Any:
    (top, bottom), (left, right) = config["padding"]
    return nn.ZeroPad2d((left, right, top, bottom))


LAYERS: Mapping[str, Callable[[Config, Arrays], Any]] = {
    "InputLayer": lambda *_: nn.Identity(),
    "Dropout": lambda *_: nn.Identity(),
    "Conv2D": _conv,
    "BatchNormalization": _batch_norm,
    "Activation": lambda config, _: Simple(config["activation"], ACTIVATIONS[config["activation"]]),
    "Add": lambda *_: Simple("add", lambda *inputs: torch.stack(inputs).sum(0)),
    "MaxPooling2D": lambda config, _: _pool(nn.MaxPool2d, config, -np.inf),
    "AveragePooling2D": lambda config, _: _pool(nn.AvgPool2d, config, 0.0),
    "GlobalAveragePooling2D": lambda *_: Simple("mean", lambda images: images.mean((2, 3))),
    "ZeroPadding2D": lambda config, _: _zero_padding(config),
    "Flatten": lambda *_: Simple("flatten", lambda images: images.permute(0, 2, 3, 1).flatten(1)),
    "Dense": Dense,
}


def layer_of(kind: str, config: Config, weights: Arrays, /) -> Any:
    """The layer of that kind."""
    if kind not in LAYERS:
        raise InvalidInputError(f"`config` must have layers among {', '.join(LAYERS)}, got {kind}.")
    return LAYERS[kind](config, weights)
