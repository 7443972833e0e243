"""VGG-16 as SelectiveNet has it for CIFAR-10 (Geifman & El-Yaniv, 2019): normalised, with dropout, one dense layer."""

from typing import Any

from abstain._extras import require

torch = require("torch", extra="torch", feature="Training")
nn = torch.nn
STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))


def vgg16(*, channels: int = 3, side: int = 32, dropout: float = 0.3) -> Any:
    """13 convolutions and one dense layer of 512 features.

    After each convolution but the last of a stage drops a share of the values: ``dropout`` after the first of all,
    0.1 more after the others, and 0.2 more around the dense layer. The first weights are drawn as in the code that the
    paper names.
    """
    layers: list[Any] = []
    before = channels
    for stage, (width, count) in enumerate(STAGES):
        for number in range(count):
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU(), nn.BatchNorm2d(width)]
            if number < count - 1:
                layers.append(nn.Dropout(dropout + (0.1 if stage else 0.0)))
            before = width
        layers.append(nn.MaxPool2d(2))
    wide = before * (side // 2 ** len(STAGES)) ** 2
    layers += [nn.Dropout(dropout + 0.2), nn.Flatten(), nn.Linear(wide, 512), nn.ReLU(), nn.BatchNorm1d(512)]
    body = nn.Sequential(*layers, nn.Dropout(dropout + 0.2))
    for layer in body.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)
    body.width = 512
    return body
