"""`attach`: an ONNX classifier that abstains by itself: prediction, confidence and accepted as outputs of one graph."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from abstain._errors import InvalidInputError, foreign, reason_of
from abstain._extras import require
from abstain._io.files import write_whole
from abstain.collect.onnx_head import OnnxHead, find_head, load_onnx
from abstain.scores.confidences import above, decide
from abstain.scores.head import Head
from abstain.selector import Selector

OUTPUTS = ("prediction", "confidence", "accepted")


def attach(
    model: str | PathLike[str], selector: Selector, output: str | PathLike[str], /, *, logits: str | None = None
) -> None:
    """Write ``output``: the graph of ``model`` that also outputs the selector's prediction, confidence and accepted.

    Every score can be attached. It is computed in float64 from the logits and the features, which are found as
    `abstain.collect` finds them, or by the name of the ``logits``, so the decisions are those of the Python selector;
    the prediction is −1 where a row is non-finite. A graph of half precision also gets the logits and the features as
    outputs, so that they are rounded as in calibration. A graph of an opset before 21 is converted to it. Nothing is
    written unless ONNX Runtime loads it.
    """
    onnx = require("onnx", extra="onnx", feature="Attaching a selector to an ONNX graph")
    if not selector.fitted.is_formula:
        raise InvalidInputError(
            f"`selector` must be of a score that the graph can compute, got {selector.score!r}, a confidence that was "
            "given or a function of yours. Calibrate a score of the logits."
        )
    graph_model = load_onnx(model)
    layer = find_head(graph_model, logits)
    if layer.weight is not None and len(layer.weight) != selector.n_classes:
        raise InvalidInputError(
            f"`model` must have {selector.n_classes} classes, as in calibration, got {len(layer.weight)} at "
            f"{layer.logits!r}. Name the logits."
        )
    if layer.weight is None and selector.needs_head:
        raise InvalidInputError(
            f"`model` must end in a product with constant weights for {selector.score}, got another operation at "
            f"{layer.logits!r}. Name the logits, or calibrate a score of the logits alone."
        )
    if taken := _names(graph_model) & set(OUTPUTS):
        raise InvalidInputError(f"`model` must not have a tensor named {min(taken)!r} already, got one. Rename it.")
    with foreign("`model` must be a graph in good form, of opset 21 or convertible to it"):
        _declare_shapes(onnx, graph_model)
        kind = _element_type(onnx, graph_model, layer.logits)
        scoring = _scoring_graph(selector, layer, onnx.helper.tensor_dtype_to_np_dtype(kind))
        graph_model, scoring = _same_opset(onnx, graph_model, scoring)
        _append(onnx, graph_model, scoring, layer)
        if kind in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16):
            _expose(onnx, graph_model, layer, kind)
        onnx.checker.check_model(graph_model)
    _write(onnx, graph_model, Path(output))


def _write(onnx: Any, model: Any, output: Path) -> None:
    """Write the file, whole and such that it loads, or not at all."""
    runtime = require("onnxruntime", extra="onnx", feature="Attaching a selector to an ONNX graph")

    def write(partial: Path) -> None:
        onnx.save(model, str(partial))
        try:
            runtime.InferenceSession(str(partial), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise InvalidInputError(
                f"`model` must load in ONNX Runtime with the selector attached, got {reason_of(error)}."
            ) from None

    write_whole(output, write)


def _expose(onnx: Any, model: Any, layer: OnnxHead, kind: int) -> None:
    """Make logits and features outputs of the graph too, as in the graph that `collect` runs.

    Between two operations ONNX Runtime leaves out the rounding to half precision, but not at an output: the decisions
    would differ where it did so in one graph alone.
    """
    known = {entry.name for entry in model.graph.output}
    for name in (layer.logits, layer.features):
        if name is not None and name not in known:
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, [None, None]))


def _names(model: Any) -> set[str]:
    """The names of all tensors."""
    graph = model.graph
    entries = {entry.name for entry in (*graph.input, *graph.output, *graph.initializer, *graph.value_info)}
    return entries | {name for node in graph.node for name in (*node.input, *node.output)}


def _scoring_graph(selector: Selector, layer: OnnxHead, kind: np.dtype[Any]) -> Any:
    """The selector as a graph of its own, from logits and features."""
    ndonnx = require("ndonnx", extra="onnx", feature="Attaching a selector to an ONNX graph")
    head = None if layer.weight is None else Head(layer.weight, layer.bias)
    sizes = {"logits": selector.n_classes}
    if head is not None and selector.needs_features:
        sizes["features"] = head.weight.shape[1]
    element = ndonnx.asarray(np.zeros(1, dtype=kind)).dtype
    inputs = {name: ndonnx.argument(shape=("n", size), dtype=element) for name, size in sizes.items()}
    prediction, confidence = decide(selector.fitted, inputs["logits"], inputs.get("features"), head)
    results = {
        "prediction": prediction,
        "confidence": confidence,
        "accepted": above(selector.class_values, prediction, confidence),
    }
    return ndonnx.build(inputs, results)


def _declare_shapes(onnx: Any, model: Any) -> None:
    """Shapes of outputs that the graph leaves out but that follow from the rest; what stays without one is an error."""
    inferred = {entry.name: entry for entry in onnx.shape_inference.infer_shapes(model).graph.output}
    for entry in (*model.graph.input, *model.graph.output):
        if not entry.type.HasField("tensor_type"):  # a sequence or a map has no shape
            continue
        if entry.name in inferred and not entry.type.tensor_type.HasField("shape"):
            entry.type.CopyFrom(inferred[entry.name].type)
        if not entry.type.tensor_type.HasField("shape"):
            raise InvalidInputError(
                f"`model` must declare the shape of each input and output, got none for {entry.name!r}. A dimension of "
                "any size may have a name or nothing."
            )


def _element_type(onnx: Any, model: Any, name: str) -> int:
    """The type of the logits; float32 where it cannot be inferred."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    for entry in (*inferred.value_info, *inferred.output):
        kind = entry.type.tensor_type
        if entry.name == name and kind.elem_type:
            if kind.HasField("shape") and len(kind.shape.dim) != 2:
                raise InvalidInputError(
                    f"`model` must give logits (n, K), got {len(kind.shape.dim)} dimensions at {name!r}."
                )
            return int(kind.elem_type)
    return int(onnx.TensorProto.FLOAT)


def _same_opset(onnx: Any, *models: Any) -> list[Any]:
    """The graphs, those of a lower opset converted to the highest."""
    versions = [_opset(model) for model in models]
    return [
        model if version == max(versions) else onnx.version_converter.convert_version(model, max(versions))
        for model, version in zip(models, versions, strict=True)
    ]


def _opset(model: Any) -> int:
    return max(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))


def _append(onnx: Any, model: Any, scoring: Any, layer: OnnxHead) -> None:
    """Put the nodes of ``scoring`` behind those of ``model``."""
    prefix, taken = "abstain_", _names(model)
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    renamed = onnx.compose.add_prefix(scoring, prefix)
    graph = model.graph
    for entry in renamed.graph.input:
        source = getattr(layer, entry.name.removeprefix(prefix))
        graph.node.append(onnx.helper.make_node("Identity", [source], [entry.name]))
    graph.node.extend(renamed.graph.node)
    graph.initializer.extend(renamed.graph.initializer)
    model.functions.extend(renamed.functions)
    known = {entry.domain for entry in model.opset_import}
    model.opset_import.extend(entry for entry in renamed.opset_import if entry.domain not in known | {"", "ai.onnx"})
    model.ir_version = max(model.ir_version, scoring.ir_version)
    for entry in renamed.graph.output:
        name = entry.name.removeprefix(prefix)
        graph.node.append(onnx.helper.make_node("Identity", [entry.name], [name]))
        kind = entry.type.tensor_type.elem_type
        graph.output.append(onnx.helper.make_tensor_value_info(name, kind, [None]))
