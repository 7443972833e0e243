"""The settings of a training run, apart from its data and its seed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, final

from abstain._errors import InvalidInputError
from abstain_reproduction.train.augmentation import Augmentation
from abstain_reproduction.train.networks.residual import resnet20, resnet34
from abstain_reproduction.train.networks.small import small_cnn
from abstain_reproduction.train.networks.vgg import vgg16
from abstain_reproduction.train.objective import Objective
from abstain_reproduction.train.schedule import Cosine, Schedule

BODIES: dict[str, Callable[..., Any]] = {
    "small_cnn": small_cnn,
    "resnet20": resnet20,
    "resnet34": resnet34,
    "vgg16": vgg16,
}


@final
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A body, an objective, and how it is minimised: stochastic gradient descent with momentum."""

    body: Literal["small_cnn", "resnet20", "resnet34", "vgg16"]
    options: dict[str, Any] = field(default_factory=dict)
    """Of the body, such as its dropout."""
    objective: Objective
    classes: int = 10
    epochs: int
    batch_size: int = 128
    lr: float = 0.1
    schedule: Schedule = field(default_factory=Cosine)
    momentum: float = 0.9
    weight_decay: float = 5e-4
    augmentation: Augmentation = field(default_factory=Augmentation)

    def __post_init__(self) -> None:
        for name in ("classes", "epochs", "batch_size"):
            if getattr(self, name) < (least := 2 if name != "epochs" else 1):
                raise InvalidInputError(f"`{name}` must be at least {least}, got {getattr(self, name)}.")

    def network(self) -> Any:
        """A new network, its weights drawn by PyTorch's own generator."""
        return self.objective.network(BODIES[self.body](**self.options), self.classes)
