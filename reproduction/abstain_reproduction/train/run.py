"""The state of a training run: take a step, save, or resume.

All chance is a function of the seed, the epoch and the step, and the learning rate one of the epoch, so that there is
nothing to keep but the weights, the momentum, the trust in each label, and the number of steps done.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.fingerprint import digest
from abstain_reproduction.draws import generator
from abstain_reproduction.train.checkpoint import check_same, load, part, save
from abstain_reproduction.train.image_stream import StreamedImages
from abstain_reproduction.train.network_file import network_description
from abstain_reproduction.train.pixels import pixels
from abstain_reproduction.train.recipe import Recipe

torch = require("torch", extra="torch", feature="Training")
FORMAT = 1
LARGEST = 2**63


@final
class Run:
    """A network in training, after ``done`` of ``total`` steps."""

    def __init__(
        self,
        recipe: Recipe,
        images: NDArray[np.uint8] | StreamedImages,
        labels: NDArray[np.int64],
        *,
        seed: int,
        device: str,
    ) -> None:
        self.recipe, self.images, self.labels, self.seed, self.device = recipe, images, labels, seed, device
        self.done, self.losses, self.sum = 0, list[float](), 0.0
        self.steps = max(1, len(labels) // recipe.batch_size)
        self.total = self.steps * recipe.epochs
        self._seed("weights")
        self.network = recipe.network().to(device=device).train()
        self.optimizer = torch.optim.SGD(
            self.network.parameters(), lr=recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay
        )
        self.trust = torch.ones(len(labels), device=device)
        self.order: tuple[int, NDArray[np.int64]] = (-1, np.empty(0, dtype=np.int64))

    def _seed(self, purpose: str, *indices: int) -> None:
        chosen = int(generator(purpose, self.seed, list(indices)).integers(LARGEST))
        torch.default_generator.manual_seed(chosen)  # torch.manual_seed keeps a trace of each call for a GPU to come
        if self.device.startswith("cuda"):
            torch.cuda.manual_seed_all(chosen)

    def step(self) -> None:
        """One batch."""
        epoch, number = divmod(self.done, self.steps)
        over = epoch / self.recipe.epochs
        rows = self._rows(epoch, number)
        self._seed("chance", epoch, number)
        shown = self.recipe.augmentation(pixels(self.images[rows]), torch.default_generator).to(self.device)
        labels, at = torch.from_numpy(self.labels[rows]).to(self.device), torch.from_numpy(rows).to(self.device)
        said = self.network(shown)
        self.trust[at] = self.recipe.objective.trusted(said, labels, self.trust[at], over)
        loss = self.recipe.objective.loss(said, labels, self.trust[at], over)
        self._descend(loss, epoch)
        self.done += 1
        if self.done % self.steps == 0:
            self.losses, self.sum = [*self.losses, self.sum / self.steps], 0.0

    def _rows(self, epoch: int, number: int) -> NDArray[np.int64]:
        if self.order[0] != epoch:
            self.order = epoch, generator("order", self.seed, [epoch]).permutation(len(self.labels))
        size = self.recipe.batch_size
        return self.order[1][number * size : (number + 1) * size]

    def _descend(self, loss: Any, epoch: int) -> None:
        value = float(loss.detach())
        if not np.isfinite(value):
            raise FloatingPointError(
                f"`lr` must let the loss stay finite, got {value} in epoch {epoch + 1} with {self.recipe.lr}. Lower it."
            )
        self.sum += value
        self.optimizer.param_groups[0]["lr"] = self.recipe.lr * self.recipe.schedule.share(epoch, self.recipe.epochs)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Digests of everything the result depends on; this reads the data once."""
        kind = type(self.recipe.objective)
        return {
            **{field.name: repr(getattr(self.recipe, field.name)) for field in fields(self.recipe)},
            "loss": digest(kind.loss, kind.trusted, kind.network),
            "images": self.images.fingerprint() if isinstance(self.images, StreamedImages) else digest(self.images),
            "labels": digest(self.labels),
            "seed": self.seed,
            "threads": torch.get_num_threads(),
            "device": self.device,
            "processor": torch.backends.cpu.get_cpu_capability(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "format": FORMAT,
        }

    def save(self, file: Path) -> None:
        """Write the state to one file."""
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        for name, parameter in self.network.named_parameters():
            tensors[f"momentum.{name}"] = self.optimizer.state[parameter]["momentum_buffer"]
        record = {
            "settings": self.settings,
            "network": network_description(self.recipe),
            "done": self.done,
            "total": self.total,
            "losses": self.losses,
            "sum": self.sum,
        }
        save(file, tensors | {"trust": self.trust}, record)

    def open(self, file: Path) -> None:
        """Resume from the file if it exists."""
        if not file.exists():
            return
        tensors, record = load(file)
        with foreign(f"`{file}` must be a checkpoint of a training run"):
            check_same(file, record["settings"], self.settings)
            self._check(file, tensors, record)
            self.done, self.losses, self.sum = record["done"], record["losses"], record["sum"]
            self.network.load_state_dict(part("network.", tensors))
            for name, parameter in self.network.named_parameters():
                buffer = torch.empty_like(parameter.detach()).copy_(tensors[f"momentum.{name}"])
                self.optimizer.state[parameter]["momentum_buffer"] = buffer
            self.trust = tensors["trust"].to(self.device)

    def _check(self, file: Path, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Shapes and steps are those of this run; a momentum of another shape would be spread over the weights."""
        shapes = {f"momentum.{name}": value.shape for name, value in self.network.named_parameters()}
        shapes["trust"] = self.trust.shape
        done, losses = record["done"], record["losses"]
        as_saved = (
            all(tensors[name].shape == shape and tensors[name].dtype == torch.float32 for name, shape in shapes.items())
            and isinstance(done, int)
            and 0 <= done <= self.total
            and isinstance(losses, list)
            and all(isinstance(value, float) for value in [*losses, record["sum"]])
            and len(losses) == done // self.steps
        )
        if not as_saved:
            raise InvalidInputError(f"`{file}` must be a checkpoint of a training run, got other steps or shapes.")
