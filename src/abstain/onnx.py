"""`attach`: an ONNX classifier that abstains by itself: label, confidence and accepted as outputs of one graph."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect.onnx_model import find_head
from abstain.extras import require
from abstain.scores.norms import row_norms
from abstain.scores.score import LogitScore
from abstain.scores.temperature import FittedTemperature
from abstain.selector import Selector

OUTPUTS = ("label", "confidence", "accepted")


def attach(model: str | PathLike[str], selector: Selector, output: str | PathLike[str], /) -> None:
    """Write ``output``: the graph of ``model`` with the selector's label, confidence and accepted as further outputs.

    The score is computed in float64 from the logits, which are found as `abstain.collect` finds them, so the decisions
    are those of the Python selector. Scores that are formulas in the logits, also temperature-scaled ones, can be
    attached.
    """
    onnx = require("onnx", extra="onnx", feature="Attaching a selector to an ONNX graph")
    graph_model = onnx.load(str(model))
    layer = find_head(graph_model)
    if len(layer["weight"]) != selector.n_classes:
        raise ValueError(
            f"`model` must have {selector.n_classes} classes, as in calibration, got {len(layer['weight'])}."
        )
    score, temperature = _formula_of(selector)
    builder = _Builder(onnx, graph_model)
    confidence, label, top = _scored(builder, layer, score, temperature)
    above = builder.node("Greater", [confidence, builder.constant(selector.threshold.value)])
    usable = builder.node("Less", [top, builder.constant(np.inf)])
    for name, value, kind in zip(
        OUTPUTS,
        (label, confidence, builder.node("And", [above, usable])),
        (onnx.TensorProto.INT64, onnx.TensorProto.DOUBLE, onnx.TensorProto.BOOL),
        strict=True,
    ):
        if any(existing.name == name for existing in graph_model.graph.output):
            raise ValueError(f"`model` must not have an output named {name!r} already, got one.")
        builder.node("Identity", [value], name)
        graph_model.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, [None]))
    onnx.checker.check_model(graph_model)
    goal = Path(output)
    partial = goal.with_name(f".{goal.name}.partial")
    onnx.save(graph_model, str(partial))
    partial.replace(goal)


def _formula_of(selector: Selector) -> tuple[LogitScore, float]:
    if isinstance(selector.fitted, FittedTemperature):
        return selector.fitted.score, selector.fitted.temperature
    if isinstance(selector.fitted, LogitScore):
        return selector.fitted, 1.0
    raise ValueError(
        f"`selector` must use a score that is a formula in the logits to be attached, got {selector.score}. "
        "Use max_softmax, doctor, neg_entropy, max_logit, energy, confidence_margin, geometric_margin or a ts_ score."
    )


class _Builder:
    """Adds nodes and constants to a graph under names of their own."""

    def __init__(self, onnx: Any, model: Any) -> None:
        self.onnx, self.graph, self.count = onnx, model.graph, 0
        self.opset = max(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
        if self.opset < 13:
            raise ValueError(
                f"`model` must be of opset 13 or later, got {self.opset}. Convert it with onnx.version_converter."
            )

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        self.count += 1
        name = f"abstain_{self.count}"
        self.graph.initializer.append(self.onnx.numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str | None = None, **options: Any) -> str:
        self.count += 1
        name = output or f"abstain_{self.count}"
        self.graph.node.append(self.onnx.helper.make_node(kind, list(inputs), [name], **options))
        return name

    def along_classes(self, kind: str, value: str) -> str:
        """A sum or maximum over the classes; sums take their axes as an input since opset 13, maxima since 18."""
        if kind == "ReduceSum" or self.opset >= 18:
            return self.node(kind, [value, self.constant([1], np.int64)], keepdims=1)
        return self.node(kind, [value], axes=[1], keepdims=1)


def _scored(b: _Builder, layer: dict[str, Any], score: LogitScore, temperature: float) -> tuple[str, str, str]:
    """Names of confidence, label and largest logit, each (n,)."""
    double = b.onnx.TensorProto.DOUBLE
    z = b.node("Cast", [layer["logits"]], to=double)
    label = b.node("ArgMax", [z], axis=1, keepdims=0)
    if temperature != 1:
        z = b.node("Div", [z, b.constant(temperature)])
    k = len(layer["weight"])
    classes = b.constant(np.arange(k)[None], np.int64)
    column = b.node("Unsqueeze", [label, b.constant([1], np.int64)])
    is_top = b.node("Equal", [classes, column])
    others = b.node("Where", [is_top, b.constant(-np.inf), z])
    top, second = b.along_classes("ReduceMax", z), b.along_classes("ReduceMax", others)
    found = _formulas(b, score.name, layer, z, is_top, others, top, second)
    flat = b.constant([-1], np.int64)
    return b.node("Reshape", [found, flat]), label, b.node("Reshape", [top, flat])


def _formulas(
    b: _Builder, name: str, layer: dict[str, Any], z: str, is_top: str, others: str, top: str, second: str
) -> str:
    if name == "max_logit":
        return top
    margin = b.node("Sub", [top, second])
    if name == "confidence_margin":
        return margin
    if name == "geometric_margin":
        scaled = b.node("Mul", [z, b.constant(1 / row_norms(layer["weight"])[None])])
        own = b.along_classes("ReduceSum", b.node("Where", [is_top, scaled, b.constant(0.0)]))
        rival = b.along_classes("ReduceMax", b.node("Where", [is_top, b.constant(-np.inf), scaled]))
        return b.node("Sub", [own, rival])
    t = b.node("Sub", [others, second])
    e = b.node("Exp", [t])
    s1 = b.along_classes("ReduceSum", e)
    tail = b.node("Sub", [b.node("Log", [s1]), margin])
    if name == "max_softmax":
        return b.node("Neg", [tail])
    odds, one = b.node("Exp", [tail]), b.constant(1.0)
    if name == "energy":
        return b.node("Add", [top, b.node("Log", [b.node("Add", [one, odds])])])
    if name == "doctor":
        s2 = b.along_classes("ReduceSum", b.node("Mul", [e, e]))
        ratio = b.node("Mul", [b.node("Exp", [b.node("Neg", [margin])]), b.node("Div", [s2, s1])])
        spread = b.node("Log", [b.node("Sub", [b.node("Add", [b.constant(2.0), odds]), ratio])])
        certain = b.node("Log", [b.node("Add", [one, b.node("Mul", [odds, ratio])])])
        return b.node("Sub", [certain, b.node("Add", [tail, spread])])
    zero = b.constant(0.0)
    finite = b.node("Where", [b.node("Greater", [e, zero]), t, zero])
    weighted = b.along_classes("ReduceSum", b.node("Mul", [e, finite]))
    gap = b.node("Sub", [margin, b.node("Div", [weighted, s1])])
    small = b.node("Less", [odds, b.constant(1e-12)])  # there log(1 + A)/A is 1 to the last digit
    per_odds = b.node("Div", [b.node("Log", [b.node("Add", [one, odds])]), b.node("Where", [small, one, odds])])
    per_odds = b.node("Where", [small, one, per_odds])
    inside = b.node("Add", [per_odds, b.node("Div", [gap, b.node("Add", [one, odds])])])
    return b.node("Neg", [b.node("Add", [tail, b.node("Log", [inside])])])
