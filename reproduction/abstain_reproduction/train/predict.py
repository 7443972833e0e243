"""Outputs of a trained network: features, the classifier on them, and the confidence it was trained to give."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain.collect.model import as_numpy
from abstain.collect.torch_model import evaluating
from abstain.outputs import Outputs
from abstain_reproduction.train.network import Network
from abstain_reproduction.train.pixels import pixels

torch = require("torch", extra="torch", feature="Training")
BATCH = 500


def predict(
    network: Network,
    images: NDArray[np.uint8],
    labels: NDArray[np.int64] | None = None,
    /,
    *,
    shift: str = "none",
    domain: str | NDArray[np.str_] = "clean",
    ids: NDArray[Any] | None = None,
) -> Outputs:
    """The network in evaluation mode on images (n, h, w) or (n, h, w, c).

    A confidence that the network was trained to give is there under its own name.
    """
    weight, bias = (part.detach() for part in network.classifier())
    features, logits, own = _run(network, images, weight, bias)
    return Outputs(
        logits=logits,
        labels=labels,
        features=features,
        weight=as_numpy(weight),
        bias=as_numpy(bias),
        confidences=None if own is None or network.own_name is None else {network.own_name: own},
        shift=shift,
        domain=domain,
        ids=ids,
    )


def _run(network: Network, images: NDArray[np.uint8], weight: Any, bias: Any) -> tuple[NDArray[Any] | None, ...]:
    """Features, logits and own confidence, batch by batch."""
    batches: list[tuple[Any, Any, Any]] = []
    with torch.inference_mode(), evaluating(network):
        for start in range(0, len(images), BATCH):
            features = network.features(pixels(images[start : start + BATCH]).to(weight.device))
            batches.append((features, features @ weight.T + bias, network.own_confidence(features)))
    return tuple(
        None if part[0] is None else np.concatenate([as_numpy(each) for each in part])
        for part in zip(*batches, strict=True)
    )
