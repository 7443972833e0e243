"""Residual networks (He et al., 2016): ResNet-34 for ImageNet, ResNet-20 for small images."""

from collections.abc import Sequence
from typing import Any

from abstain._extras import require

torch = require("torch", extra="torch", feature="Training")
nn = torch.nn


class ResidualBlock(nn.Module):  # type: ignore[misc, name-defined]
    """Two 3 x 3 convolutions around which the input is led, by a 1 x 1 convolution where the shape changes."""

    def __init__(self, before: int, after: int, *, stride: int = 1) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.around = nn.Identity()
        if stride != 1 or before != after:
            self.around = nn.Sequential(nn.Conv2d(before, after, 1, stride=stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: Any) -> Any:
        """The sum of both ways."""
        return torch.relu(self.inner(x) + self.around(x))


def resnet20(*, channels: int = 3, narrowest: int = 16) -> Any:
    """The 20-layer network for images of 32 x 32 pixels: three stages of three blocks; 64 features."""
    stem = nn.Sequential(nn.Conv2d(channels, narrowest, 3, padding=1, bias=False), nn.BatchNorm2d(narrowest), nn.ReLU())
    widths = (narrowest, 2 * narrowest, 4 * narrowest)
    return _resnet(stem, widths, blocks=(3, 3, 3))


def resnet34(*, channels: int = 3) -> Any:
    """The 34-layer network for images of 224 x 224 pixels, as in the paper's ImageNet run; 512 features."""
    stem = nn.Sequential(
        nn.Conv2d(channels, 64, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, stride=2, padding=1),
    )
    return _resnet(stem, (64, 128, 256, 512), blocks=(3, 4, 6, 3))


def _resnet(stem: Any, widths: Sequence[int], *, blocks: Sequence[int]) -> Any:
    layers, before = [stem], widths[0]
    for stage, (width, count) in enumerate(zip(widths, blocks, strict=True)):
        for number in range(count):
            layers.append(ResidualBlock(before, width, stride=2 if stage and not number else 1))
            before = width
    body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    for layer in body.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    body.width = before
    return body
