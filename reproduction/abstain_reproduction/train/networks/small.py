"""A convolutional network that learns Fashion-MNIST in seconds on one core."""

from typing import Any

from abstain._extras import require

torch = require("torch", extra="torch", feature="Training")
nn = torch.nn


def small_cnn(*, channels: int = 1, side: int = 28, width: int = 64, dropout: float = 0.0) -> Any:
    """Two convolutions that halve the image, with batch normalisation, and one dense layer of ``width`` features."""
    body = nn.Sequential(
        nn.Conv2d(channels, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * ((side + 3) // 4) ** 2, width), nn.ReLU(), nn.Dropout(dropout),
    )  # fmt: skip
    body.width = width
    return body
