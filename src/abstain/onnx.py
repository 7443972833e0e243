"""`attach`: an ONNX classifier that abstains by itself: label, confidence and accepted as outputs of one graph."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect.onnx_model import find_head
from abstain.extras import require
from abstain.scores.portable import decide
from abstain.selector import Selector

OUTPUTS = ("label", "confidence", "accepted")
PREFIX = "abstain_"


def attach(model: str | PathLike[str], selector: Selector, output: str | PathLike[str], /) -> None:
    """Write ``output``: the graph of ``model`` with the selector's label, confidence and accepted as further outputs.

    Every score can be attached. It is computed in float64 from the logits and the features, which are found as
    `abstain.collect` finds them, so the decisions are those of the Python selector. A graph of an opset before 21 is
    converted to it.
    """
    onnx = require("onnx", extra="onnx", feature="Attaching a selector to an ONNX graph")
    protobuf = require("google.protobuf.message", extra="onnx", feature="Attaching a selector to an ONNX graph")
    try:
        graph_model = onnx.load(str(model))
    except protobuf.DecodeError:
        raise ValueError(f"`model` must be an ONNX model, got other contents in {model}.") from None
    layer = find_head(graph_model)
    if len(layer["weight"]) != selector.n_classes:
        raise ValueError(
            f"`model` must have {selector.n_classes} classes, as in calibration, got {len(layer['weight'])}."
        )
    if taken := {entry.name for entry in graph_model.graph.output} & set(OUTPUTS):
        raise ValueError(f"`model` must not have an output named {min(taken)!r} already, got one.")
    kind = onnx.helper.tensor_dtype_to_np_dtype(_element_type(onnx, graph_model, layer["logits"]))
    graph_model, scoring = _same_opset(onnx, graph_model, _scoring_graph(selector, layer["weight"], kind))
    _append(onnx, graph_model, scoring, layer)
    onnx.checker.check_model(graph_model)
    goal = Path(output)
    partial = goal.with_name(f".{goal.name}.partial")
    onnx.save(graph_model, str(partial))
    partial.replace(goal)


def _scoring_graph(selector: Selector, weight: Any, kind: np.dtype[Any]) -> Any:
    """The selector as a graph of its own, from logits and features."""
    ndonnx = require("ndonnx", extra="onnx", feature="Attaching a selector to an ONNX graph")
    sizes = {"logits": len(weight), "features": weight.shape[1]}
    element = ndonnx.asarray(np.zeros(1, dtype=kind)).dtype
    inputs = {name: ndonnx.argument(shape=("n", size), dtype=element) for name, size in sizes.items()}
    features = inputs["features"] if selector.needs_features else None
    label, confidence = decide(selector.fitted, inputs["logits"], features, weight)
    found = {"label": label, "confidence": confidence, "accepted": confidence > selector.threshold.value}
    used = inputs if selector.needs_features else {"logits": inputs["logits"]}
    return ndonnx.build(used, found)


def _element_type(onnx: Any, model: Any, name: str) -> int:
    """The type of a tensor in the graph; float32 where inference cannot tell."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    for entry in (*inferred.value_info, *inferred.output, *inferred.input):
        if entry.name == name:
            return int(entry.type.tensor_type.elem_type)
    return int(onnx.TensorProto.FLOAT)


def _same_opset(onnx: Any, *models: Any) -> list[Any]:
    """The graphs, those of a lower opset converted to the highest."""
    versions = [_opset(model) for model in models]
    highest = max(versions)
    try:
        return [
            model if version == highest else onnx.version_converter.convert_version(model, highest)
            for model, version in zip(models, versions, strict=True)
        ]
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"`model` must be of opset {highest} or convertible to it, got {min(versions)}: {reason}."
        ) from None


def _opset(model: Any) -> int:
    return max(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))


def _append(onnx: Any, model: Any, scoring: Any, layer: dict[str, Any]) -> None:
    """Put the nodes of ``scoring`` behind those of ``model``."""
    renamed = onnx.compose.add_prefix(scoring, PREFIX)
    graph = model.graph
    for entry in renamed.graph.input:
        source = layer[entry.name.removeprefix(PREFIX)]
        graph.node.append(onnx.helper.make_node("Identity", [source], [entry.name]))
    graph.node.extend(renamed.graph.node)
    graph.initializer.extend(renamed.graph.initializer)
    model.functions.extend(renamed.functions)
    known = {entry.domain for entry in model.opset_import}
    model.opset_import.extend(entry for entry in renamed.opset_import if entry.domain not in known | {"", "ai.onnx"})
    model.ir_version = max(model.ir_version, scoring.ir_version)
    for entry in renamed.graph.output:
        name = entry.name.removeprefix(PREFIX)
        graph.node.append(onnx.helper.make_node("Identity", [entry.name], [name]))
        kind = entry.type.tensor_type.elem_type
        graph.output.append(onnx.helper.make_tensor_value_info(name, kind, [None]))
