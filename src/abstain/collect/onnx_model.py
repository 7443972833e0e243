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

    Arrays are cast to the type the graph declares. ``logits`` names the head's output where it is not the product with
    constant weights nearest to the graph's first output.
    """

    def __init__(
        self,
        file: str | PathLike[str],
        *,
        prepare: Callable[[Sequence[Any]], Any] = np.stack,
        class_names: Sequence[str] | None = None,
        logits: str | None = None,
    ) -> None:
        onnx = require("onnx", extra="onnx", feature="Collecting from ONNX")
        runtime = require("onnxruntime", extra="onnx", feature="Collecting from ONNX")
        graph_model = load_onnx(file)
        self.name = f"onnx-{sha256(Path(file).read_bytes()).hexdigest()[:16]}"
        self.class_names = None if class_names is None else tuple(class_names)
        self.prepare = prepare
        self.layer = find_head(graph_model, logits)
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


def load_onnx(file: str | PathLike[str], /) -> Any:
    """The graph in a file, with its external data; what is no graph is an error that says so."""
    onnx = require("onnx", extra="onnx", feature="Reading an ONNX graph")
    protobuf = require("google.protobuf.message", extra="onnx", feature="Reading an ONNX graph")
    try:
        model = onnx.load(str(file))
    except (protobuf.DecodeError, onnx.checker.ValidationError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"`model` must be an ONNX model with all its data, got {reason} in {file}.") from None
    if not model.graph.node:
        raise ValueError(f"`model` must be an ONNX model, got none in {file}.")
    return model


def find_head(model: Any, logits: str | None = None, /) -> dict[str, Any]:
    """Names of the features and logits of the head, and its arrays.

    The head is the Gemm, or MatMul (and Add), with constant weights that makes ``logits``, or else the one nearest to
    the first of the graph's outputs that has one before it.
    """
    constants = _constants(model)
    makers = {name: node for node in model.graph.node for name in node.output}
    heads = [
        _head(model, node, constants)
        for node in model.graph.node
        if node.op_type in ("Gemm", "MatMul") and node.input[1] in constants and constants[node.input[1]].ndim == 2
    ]
    if logits is not None:
        if not (named := [head for head in heads if head["logits"] == logits]):
            known = ", ".join(head["logits"] for head in heads) or "none"
            raise ValueError(f"`logits` must be made by a product with constant weights ({known}), got {logits!r}.")
        return named[-1]
    made = {head["logits"]: head for head in heads}
    for output in model.graph.output:
        level, seen = [output.name], {output.name}
        while level:
            if found := [made[name] for name in level if name in made]:
                return found[-1]
            before = [name for later in level if later in makers for name in makers[later].input]
            level = [name for name in dict.fromkeys(before) if name and name not in seen]
            seen.update(level)
    raise ValueError("`model` must end in a Gemm or MatMul with constant weights, got a graph without one.")


def _constants(model: Any) -> dict[str, NDArray[Any]]:
    """Arrays in the graph by name: initializers, Constant nodes, and what Identity passes on of them."""
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            for entry in node.attribute:
                if entry.name == "value":
                    constants[node.output[0]] = numpy_helper.to_array(entry.t)
        elif node.op_type == "Identity" and node.input[0] in constants:
            constants[node.output[0]] = constants[node.input[0]]
    return constants


def _head(model: Any, node: Any, constants: dict[str, NDArray[Any]]) -> dict[str, Any]:
    options = {attribute.name: attribute for attribute in node.attribute}
    weight = constants[node.input[1]]
    if node.op_type == "Gemm" and "transB" in options and options["transB"].i:
        weight = weight.T
    bias, logits = None, node.output[0]
    if node.op_type == "Gemm" and len(node.input) > 2 and node.input[2] in constants:
        bias = constants[node.input[2]].reshape(-1)
    for later in model.graph.node:
        others = [name for name in later.input if name != logits]
        if later.op_type == "Add" and logits in later.input and others and others[0] in constants:
            bias, logits = constants[others[0]].reshape(-1), later.output[0]
            break
    return {"features": node.input[0], "logits": logits, "weight": np.ascontiguousarray(weight.T), "bias": bias}
