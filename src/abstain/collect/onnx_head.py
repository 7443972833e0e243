"""The logits of an ONNX graph, and the linear layer that makes them."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.files import reading

Floats = NDArray[Any]
KEEP_THE_ORDER = ("Softmax", "LogSoftmax", "Identity", "Cast", "Dropout", "ArgMax", "ZipMap")
ALONG_AN_AXIS = ("Softmax", "LogSoftmax", "ArgMax")
PASS_ON = ("Identity", "Cast", "Dropout")


def load_onnx(file: str | PathLike[str], /) -> Any:
    """The ONNX model in a file, with its external data."""
    onnx = require("onnx", extra="onnx", feature="Reading an ONNX graph")
    with reading(Path(file), "an ONNX model"):
        open(file, "rb").close()
    try:
        model = onnx.load(str(file), format="protobuf")
    except Exception as error:  # of the parser, the checker, or the system where external data is not there
        reason = " ".join(str(error).split()).rstrip(".")
        raise InvalidInputError(f"`model` must be an ONNX model with all its data, got {reason} in {file}.") from None
    if not model.graph.node:
        raise InvalidInputError(f"`model` must be an ONNX model, got none in {file}.")
    return model


@dataclass(frozen=True, eq=False)
class OnnxHead:
    """The tensor of the logits, and, if a linear layer with constant weights makes it, its input and arrays."""

    logits: str
    features: str | None = None
    weight: Floats | None = None
    bias: Floats | None = None


def find_head(model: Any, logits: str | None = None, /) -> OnnxHead:
    """The head of a graph.

    The logits are those named, or else what the first output is made of by operations that keep the order of the
    classes, such as a softmax. The layer before them may be a Gemm or a MatMul, with constants added to it and a
    constant factor; with anything else in between, or weights that are not constant, there are logits alone.
    """
    try:
        with foreign("`model` must be a graph in good form"):
            return _head(model, logits)
    except RecursionError:
        raise InvalidInputError("`model` must be a graph without cycles, got a cycle.") from None


def _head(model: Any, logits: str | None) -> OnnxHead:
    graph = _Graph(model)
    if logits is None:
        if not model.graph.output:
            raise InvalidInputError("`model` must have an output, got a graph without.")
        logits = graph.before_softmax(model.graph.output[0].name)
        if logits not in graph.makers:
            raise InvalidInputError("`model` must compute its logits by a node such as Gemm or MatMul, got none.")
    elif logits not in graph.makers:
        raise InvalidInputError(f"`logits` must name a tensor that the graph makes, got {logits!r}.")
    elif graph.are_probabilities(logits):
        raise InvalidInputError(
            f"`logits` must name a tensor of logits, got {logits!r}, the probabilities of a softmax. Name "
            f"{graph.before_softmax(logits)!r}."
        )
    layer = graph.linear(logits)
    if layer is None or layer.weight is None:
        return OnnxHead(logits)
    k = len(layer.weight)
    bias = None if layer.bias is None else np.broadcast_to(layer.bias.reshape(-1), (k,)).copy()
    return replace(layer, logits=logits, bias=bias)


class _Graph:
    """A graph with the nodes that make its tensors, and its constants, evaluated on demand."""

    def __init__(self, model: Any) -> None:
        from onnx import numpy_helper

        self.makers = {name: node for node in model.graph.node for name in node.output}
        self.opsets = {entry.domain: entry.version for entry in model.opset_import}
        self.known: dict[str, Floats | None] = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer
        }

    def before_softmax(self, name: str) -> str:
        """What a tensor is made of by operations that keep the order of the classes."""
        node = self.makers.get(name)
        if node is None:
            return name
        if node.op_type in KEEP_THE_ORDER:
            self._check_axis(node)
            return self.before_softmax(node.input[0])
        above = self.makers.get(node.input[0])
        if node.op_type == "Div" and above is not None and above.op_type == "Exp":  # a softmax written out
            inner = self.makers.get(above.input[0])
            shifted = inner is not None and inner.op_type == "Sub" and self.constant(inner.input[1]) is None
            return self.before_softmax(inner.input[0] if inner is not None and shifted else above.input[0])
        return name

    def are_probabilities(self, name: str) -> bool:
        """Whether a tensor is made by a softmax."""
        node = self.makers.get(name)
        if node is None or node.op_type in PASS_ON:
            return node is not None and self.are_probabilities(node.input[0])
        return node.op_type in ("Softmax", "Div") and self.before_softmax(name) != name

    def _check_axis(self, node: Any) -> None:
        """An operation over another axis than that of the classes does not keep their order."""
        if node.op_type not in ALONG_AN_AXIS:
            return
        default = 0 if node.op_type == "ArgMax" else 1 if self.opsets.get("", 13) < 13 else -1
        axis = next((entry.i for entry in node.attribute if entry.name == "axis"), default)
        if axis not in (1, -1):
            raise InvalidInputError(
                f"`model` must have its {node.op_type} over the classes, axis 1 of logits (n, K), got axis {axis}. "
                "Name the logits."
            )

    def linear(self, name: str) -> OnnxHead | None:
        """The tensor as a linear layer of another, if it is one."""
        node = self.makers.get(name)
        if node is None:
            return None
        if node.op_type == "Gemm":
            return self._gemm(node)
        if node.op_type == "MatMul":
            weight = self.constant(node.input[1])
            if weight is None or weight.ndim != 2:
                return None
            return OnnxHead(name, node.input[0], np.ascontiguousarray(weight.T))
        if node.op_type in PASS_ON:
            return self.linear(node.input[0])
        if node.op_type in ("Add", "Sub", "Mul", "Div"):
            return self._with_constant(node)
        return None

    def _gemm(self, node: Any) -> OnnxHead | None:
        options = {entry.name: entry for entry in node.attribute}
        weight = self.constant(node.input[1])
        has_bias = len(node.input) > 2 and node.input[2] != ""
        bias = self.constant(node.input[2]) if has_bias else None
        if weight is None or (has_bias and bias is None) or ("transA" in options and options["transA"].i):
            return None
        weight = weight if "transB" in options and options["transB"].i else weight.T
        alpha, beta = (options[key].f if key in options else 1.0 for key in ("alpha", "beta"))
        scaled = np.ascontiguousarray(weight if alpha == 1 else weight * alpha)
        return OnnxHead(node.output[0], node.input[0], scaled, bias if bias is None or beta == 1 else bias * beta)

    def _with_constant(self, node: Any) -> OnnxHead | None:
        first, second = (self.constant(name) for name in node.input)
        inner = self.linear(node.input[0] if second is not None else node.input[1])
        value = second if second is not None else first
        swapped = second is None
        if inner is None or value is None or inner.weight is None or (swapped and node.op_type in ("Sub", "Div")):
            return None
        if node.op_type in ("Add", "Sub"):
            if value.size not in (1, len(inner.weight)):
                return None
            added = (value if node.op_type == "Add" else -value).reshape(-1)
            return replace(inner, bias=added if inner.bias is None else inner.bias.reshape(-1) + added)
        factor = float(value.reshape(-1)[0]) if value.size == 1 else np.nan
        factor = 1 / factor if node.op_type == "Div" and factor else factor
        if not factor > 0 or factor == np.inf:
            return None
        return replace(inner, weight=inner.weight * factor, bias=None if inner.bias is None else inner.bias * factor)

    def constant(self, name: str) -> Floats | None:
        """The array behind a name, if it does not depend on the inputs."""
        if name not in self.known:
            node = self.makers.get(name)
            self.known[name] = None if node is None else self._evaluated(node, name)
        return self.known[name]

    def _evaluated(self, node: Any, name: str) -> Floats | None:
        given = {source: self.constant(source) for source in node.input if source}
        if any(value is None for value in given.values()) or (not given and node.op_type != "Constant"):
            return None
        reference = require("onnx.reference", extra="onnx", feature="Reading an ONNX graph")
        try:
            made = reference.ReferenceEvaluator(node, opsets=self.opsets).run(None, given)
        except Exception:
            return None  # an operation that the reference lacks: not a known constant, so no head
        return np.asarray(made[list(node.output).index(name)])
