"""Keras networks as PyTorch modules, from the files Keras and TensorFlow.js write; neither is needed.

The last dense layer keeps no activation, so that what comes out are the logits.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require

Weights = Mapping[str, Mapping[str, NDArray[Any]]]  # by layer, then by what they are: kernel, bias, gamma, …
FEATURE = "A network that Keras wrote"


def from_h5(contents: bytes, /) -> Any:
    """The network of an HDF5 file."""
    h5py = require("h5py", extra=None, feature=FEATURE)
    with foreign("`contents` must be an HDF5 file of Keras"), h5py.File(io.BytesIO(contents)) as file:
        config = json.loads(file.attrs["model_config"])
        weights: dict[str, dict[str, NDArray[Any]]] = {}

        def keep(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                layer, *_, what = name.split("/")
                weights.setdefault(layer, {})[what.removesuffix(":0")] = item[()]

        file["model_weights"].visititems(keep)
    return network(config, weights)


def from_tfjs(folder: Path, /) -> Any:
    """The network of a folder with ``model.json`` and shards of weights, a layers model of TensorFlow.js."""
    model = json.loads((folder / "model.json").read_text())
    weights: dict[str, dict[str, NDArray[Any]]] = {}
    for group in model["weightsManifest"]:
        contents = b"".join((folder / name).read_bytes() for name in group["paths"])
        start = 0
        for entry in group["weights"]:
            layer, what = entry["name"].split("/")[0], entry["name"].split("/")[-1]
            size = int(np.prod(entry["shape"]))
            if entry["dtype"] != "float32" or len(contents) < start + 4 * size:
                raise InvalidInputError(
                    f"`{folder}` must have complete float32 weights, got a part or another type for {entry['name']}."
                )
            values = np.frombuffer(contents, dtype="<f4", count=size, offset=start)
            weights.setdefault(layer, {})[what] = values.reshape(entry["shape"]).copy()
            start += 4 * size
    return network(model["modelTopology"]["model_config"], weights)


def network(config: dict[str, Any], weights: Weights, /) -> Any:
    """A module from (n, h, w, channels) to logits, of a sequential or a functional Keras model."""
    torch = require("torch", extra="torch", feature=FEATURE)
    from abstain_reproduction.real_models.keras_layers import layer_of

    layers, previous = [], None
    for entry in config["config"]["layers"]:
        name = entry["config"]["name"]
        nodes = entry.get("inbound_nodes")
        inputs = [node[0] for node in nodes[0]] if nodes else [] if previous is None or nodes == [] else [previous]
        layers.append((name, inputs, layer_of(entry["class_name"], entry["config"], weights.get(name, {}))))
        previous = name
    last: Any = layers[-1][2]
    if not isinstance(getattr(last, "linear", None), torch.nn.Linear):
        raise InvalidInputError(f"`config` must end in a dense layer, got {layers[-1][0]}.")
    last.activation = "linear"

    class KerasNetwork(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleDict({name: layer for name, _, layer in layers})
            self.sources = {name: inputs for name, inputs, _ in layers}

        def forward(self, images: Any) -> Any:
            made = {None: images.permute(0, 3, 1, 2)}
            for name, layer in self.layers.items():
                made[name] = layer(*(made[source] for source in self.sources[name] or [None]))
            return made[name]

    return KerasNetwork().eval()
