"""torchvision with a torch that it was not built for."""

import importlib
import sys
from importlib.util import find_spec
from typing import Any

from abstain._extras import require

_LIBRARIES: list[Any] = []  # an operator is declared for as long as its library object lives


def repair_torchvision() -> None:
    """Make torchvision importable where it only lacks its compiled operators, none of which classifying needs."""
    if _LIBRARIES or find_spec("torchvision") is None:
        return
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    try:
        importlib.import_module("torchvision")
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]  # what the failed import left behind
        library = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)
