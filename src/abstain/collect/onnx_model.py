"""ONNX graphs: the input and the output of the head become graph outputs."""

from collections.abc import Sequence
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, MissingFileError, foreign
from abstain._extras import require
from abstain.collect.model import Model, ModelOptions, ModelOutput, Prepare
from abstain.collect.onnx_head import find_head, load_onnx

TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(uint8)": np.uint8,
}


@final
class OnnxModel(Model):
    """A graph run by ONNX Runtime, with features and head where a linear layer makes the logits.

    Parameters
    ----------
    file : path
        The .onnx file.
    prepare : function
        Turns a list of inputs into an array, or arrays by name; they are cast to the types that the graph declares.
    class_names : sequence of str, optional
        The names of its classes.
    logits : str, optional
        The name of their tensor, where the graph's first output is not made of them (see `find_head`).
    device : str
        ``cpu``, or ``cuda`` or ``cuda:1`` with onnxruntime-gpu.
    """

    def __init__(
        self,
        file: str | PathLike[str],
        *,
        prepare: Prepare = np.stack,
        class_names: Sequence[str] | None = None,
        logits: str | None = None,
        device: str = "cpu",
    ) -> None:
        onnx = require("onnx", extra="onnx", feature="Collecting from ONNX")
        runtime = require("onnxruntime", extra="onnx", feature="Collecting from ONNX")
        providers = _providers(runtime, device)
        graph_model = load_onnx(file)
        digest = sha256(Path(file).read_bytes())
        for tensor in graph_model.graph.initializer:  # external data is not in the file
            digest.update(tensor.raw_data)
        self.name = f"onnx-{digest.hexdigest()[:16]}"
        self.class_names = None if class_names is None else tuple(class_names)
        self.prepare = prepare
        self.layer = find_head(graph_model, logits)
        self.wanted = [name for name in (self.layer.logits, self.layer.features) if name is not None]
        for name in self.wanted:
            if name not in {output.name for output in graph_model.graph.output}:
                graph_model.graph.output.append(onnx.ValueInfoProto(name=name))
        with foreign(f"`{file}` must be a graph that ONNX Runtime loads"):
            self.session = runtime.InferenceSession(graph_model.SerializeToString(), providers=providers)

    def run(self, prepared: Any, /) -> ModelOutput:
        """One run of the graph."""
        wanted = {entry.name: TYPES.get(entry.type) for entry in self.session.get_inputs()}
        given = prepared if isinstance(prepared, dict) else {next(iter(wanted)): prepared}
        given = {name: np.asarray(value, dtype=wanted.get(name)) for name, value in given.items()}
        logits, *features = self.session.run(self.wanted, given)
        return logits, features[0] if features else None

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight (K, d) and bias (K,) of the head."""
        return self.layer.weight, self.layer.bias


def from_spec(rest: str, options: ModelOptions, /) -> OnnxModel:
    """The graph in that file."""
    if not Path(rest).is_file():
        raise MissingFileError(f"`model` must name a file that exists, got {rest}.")
    return OnnxModel(rest, class_names=options.class_names, prepare=options.prepare or np.stack, device=options.device)


def _providers(runtime: Any, device: str) -> list[Any]:
    """What runs the graph on a device."""
    kind, _, number = device.partition(":")
    if kind == "cpu":
        return ["CPUExecutionProvider"]
    there = runtime.get_available_providers()
    if kind != "cuda" or "CUDAExecutionProvider" not in there:
        hint = " Install onnxruntime-gpu in place of onnxruntime." if kind == "cuda" else ""
        raise InvalidInputError(f"`device` must be one that ONNX Runtime has here, got {device!r}.{hint}")
    return [("CUDAExecutionProvider", {"device_id": int(number or 0)}), "CPUExecutionProvider"]
