"""A network trained here, as `collect` takes it, and the confidence of its selection head on collected rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain._io.fingerprint import digest
from abstain.collect.model import Model, ModelOutput, as_numpy
from abstain.outputs import Outputs
from abstain_reproduction.square import square
from abstain_reproduction.train.network_file import trained_network
from abstain_reproduction.train.pixels import pixels

torch = require("torch", extra="torch", feature="A trained network")
BLOCK = 1 << 21  # values of features at a time


@final
class TrainedModel(Model):
    """The network of a checkpoint; images are bytes, cut to ``side`` where one is given."""

    def __init__(
        self, file: Path, /, *, side: int | None = None, resize: int | None = None, device: str = "cpu"
    ) -> None:
        self.network = trained_network(file).to(device)
        self.side, self.resize, self.device = side, resize or side, device
        self.name = f"trained-{digest(type(self.network).__name__, self.network.state_dict(), side, resize)}"

    def run(self, images: Sequence[Any], /) -> ModelOutput:
        """Logits of the classifier and the features that enter it."""
        batch = np.stack([self._bytes(image) for image in images])
        weight, bias = self.network.classifier()
        with torch.inference_mode():
            features = self.network.features(pixels(batch).to(self.device))
            return as_numpy(features @ weight.T + bias), as_numpy(features)

    def head(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weight and bias of the classifier."""
        weight, bias = self.network.classifier()
        return as_numpy(weight), as_numpy(bias)

    def with_own_confidence(self, outputs: Outputs, /) -> Outputs:
        """The outputs with what the network was trained to give, such as the logit of its selection head."""
        if self.network.own_name is None or outputs.features is None:
            return outputs
        own, step = np.empty(len(outputs)), max(1, BLOCK // outputs.features.shape[1])
        with torch.inference_mode():
            for start in range(0, len(outputs), step):
                rows = slice(start, start + step)
                part = torch.as_tensor(np.array(outputs.features[rows], dtype=np.float32), device=self.device)
                own[rows] = as_numpy(self.network.own_confidence(part))
        return Outputs(
            logits=outputs.logits,
            labels=outputs.labels,
            features=outputs.features,
            weight=outputs.weight,
            bias=outputs.bias,
            confidences={self.network.own_name: own},
            shift=outputs.shift,
            domain=outputs.domain,
            ids=outputs.ids,
            class_names=outputs.class_names,
        )

    def _bytes(self, image: Any) -> NDArray[np.uint8]:
        if self.side is None or self.resize is None:
            return np.asarray(image, dtype=np.uint8)
        return np.asarray(square(image, resize=self.resize, crop=self.side), dtype=np.uint8)
