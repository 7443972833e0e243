"""ONNX graphs: the last matrix product with constant weights is the head; its input and output become graph outputs."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.collect.model import Batch, Model
from abstain.extras import require

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
    """A graph run by ONNX Runtime; ``prepare`` turns a list of inputs into the array (or arrays by name) it takes.

    Arrays are cast to the type the graph declares.
    """

    def __init__(
        self,
        file: str | PathLike[str],
        *,
        prepare: Callable[[Sequence[Any]], Any] = np.stack,
        class_names: Sequence[str] | None = None,
    ) -> None:
        onnx = require("onnx", extra="onnx", feature="Collecting from ONNX")
        runtime = require("onnxruntime", extra="onnx", feature="Collecting from ONNX")
        contents = Path(file).read_bytes()
        graph_model = onnx.load_model_from_string(contents)
        self.name = f"onnx-{sha256(contents).hexdigest()[:16]}"
        self.class_names = None if class_names is None else tuple(class_names)
        self.prepare = prepare
        self.layer = find_head(graph_model)
        for name in (self.layer["features"], self.layer["logits"]):
            if name not in {output.name for output in graph_model.graph.output}:
                graph_model.graph.output.append(onnx.ValueInfoProto(name=name))
        self.session = runtime.InferenceSession(graph_model.SerializeToString(), providers=["CPUExecutionProvider"])

    def __call__(self, inputs: Sequence[Any], /) -> Batch:
        """One run of the graph."""
        given = self.prepare(inputs)
        wanted = {entry.name: TYPES.get(entry.type) for entry in self.session.get_inputs()}
        if not isinstance(given, dict):
            given = {next(iter(wanted)): given}
        given = {name: np.asarray(value, dtype=wanted.get(name)) for name, value in given.items()}
        features, logits = self.session.run([self.layer["features"], self.layer["logits"]], given)
        return logits, features

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight (K, d) and bias (K,) of the head."""
        return self.layer["weight"], self.layer["bias"]


def find_head(model: Any, /) -> dict[str, Any]:
    """Names of the features and logits of the last Gemm, or MatMul (and Add), with constant weights, and its arrays."""
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    for place in range(len(model.graph.node) - 1, -1, -1):
        node = model.graph.node[place]
        if node.op_type not in ("Gemm", "MatMul") or node.input[1] not in constants:
            continue
        options = {attribute.name: attribute for attribute in node.attribute}
        weight = constants[node.input[1]]
        if node.op_type == "Gemm" and "transB" in options and options["transB"].i:
            weight = weight.T
        bias, logits = None, node.output[0]
        if node.op_type == "Gemm" and len(node.input) > 2:
            bias = constants[node.input[2]].reshape(-1)
        for later in model.graph.node[place + 1 :]:
            others = [name for name in later.input if name != logits]
            if later.op_type == "Add" and logits in later.input and others and others[0] in constants:
                bias, logits = constants[others[0]].reshape(-1), later.output[0]
                break
        return {"features": node.input[0], "logits": logits, "weight": np.ascontiguousarray(weight.T), "bias": bias}
    raise ValueError("`model` must end in a Gemm or MatMul with constant weights, got a graph without one.")
