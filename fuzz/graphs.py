"""ONNX graphs with other nodes, weights and bytes, to which a selector is attached."""

from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes
from kind import Kind, command, expect
from samples import CLASSES, WIDTH, outputs

from abstain import calibrate

OPERATIONS = (
    "MatMul",
    "Gemm",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Softmax",
    "Identity",
    "Relu",
    "Cast",
    "ArgMax",
    "Exp",
    "Nope",
)


class Graphs(Kind):
    """Wrong: a graph with a selector that answers otherwise than the graph alone does."""

    name = "onnx"
    share = 0.1

    def __init__(self, folder: Path) -> None:
        import onnx
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        self.onnx, self.runtime = onnx, onnxruntime
        self.file, self.goal, self.selector = folder / "net.onnx", folder / "with.onnx", folder / "s.abstain"
        calibrate(outputs(400), coverage=0.5).save(self.selector)
        self.model = _model(onnx)
        self.rows = np.asarray(outputs().features, dtype=np.float32)

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the graph in its own terms, or its bytes."""
        model = self.onnx.ModelProto()
        model.CopyFrom(self.model)
        for _ in range(int(rng.integers(1, 3))):
            _alter(rng, model)
        content = model.SerializeToString()
        self.file.write_bytes(altered_bytes(rng, content) if rng.random() < 0.3 else content)
        self.goal.unlink(missing_ok=True)
        run = command("attach", self.file, self.selector, "-o", self.goal, "--json")
        expect(run.code in (0, 1), f"exit code {run.code}: {run.errors[:200]}")
        expect(self.goal.exists() == (run.code == 0), "a file in spite of an error, or none without")
        if run.code == 1:
            return "refused"
        alone, with_selector = (self._answers(file) for file in (self.file, self.goal))
        if alone is not None and with_selector is not None and alone.shape == (len(self.rows), CLASSES):
            usable = np.isfinite(alone).all(axis=1)
            largest = np.take_along_axis(alone, with_selector[:, None], axis=1)[:, 0] == alone.max(axis=1)  # may tie
            expect(largest[usable].all(), "labels that the graph does not give")
        return "taken"

    def _answers(self, file: Path) -> Any:
        """The label of each row where the graph has one, else its first output; None where it does not run."""
        try:
            session = self.runtime.InferenceSession(file, providers=["CPUExecutionProvider"])
            outputs = [entry.name for entry in session.get_outputs()]
            wanted = "prediction" if "prediction" in outputs else outputs[0]
            return session.run([wanted], {session.get_inputs()[0].name: self.rows})[0]
        except Exception:  # the graph is the hostile one's own
            return None


def _model(onnx: Any) -> Any:
    constants = {"v": np.eye(WIDTH), "w": 2 * np.eye(CLASSES, WIDTH), "b": np.zeros(CLASSES), "t": np.array(2.0)}
    value, node = onnx.helper.make_tensor_value_info, onnx.helper.make_node
    graph = onnx.helper.make_graph(
        [
            node("MatMul", ["x", "v"], ["h"]),
            node("Gemm", ["h", "w", "b"], ["z"], transB=1),
            node("Div", ["z", "t"], ["s"]),
            node("Softmax", ["s"], ["p"], axis=1),
        ],
        "net",
        [value("x", onnx.TensorProto.FLOAT, ["n", WIDTH])],
        [value("p", onnx.TensorProto.FLOAT, ["n", CLASSES])],
        [onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants.items()],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)


def _alter(rng: np.random.Generator, model: Any) -> None:
    graph = model.graph
    node = graph.node[int(rng.integers(len(graph.node)))] if graph.node else graph.node.add()
    names = ["x", "h", "z", "s", "p", "v", "w", "b", "t", "", "none"]
    match int(rng.integers(8)):
        case 0:
            node.op_type = str(rng.choice(OPERATIONS))
        case 1:
            del node.input[int(rng.integers(len(node.input) + 1)) :]
        case 2:
            node.input.insert(int(rng.integers(len(node.input) + 1)), str(rng.choice(names)))
        case 3:
            if node.input:
                node.input[int(rng.integers(len(node.input)))] = str(rng.choice(names))
        case 4:
            for attribute in node.attribute:
                attribute.i = int(rng.choice([0, 1, -1, 2, 2**40]))
        case 5:
            tensor = graph.initializer[int(rng.integers(len(graph.initializer)))]
            tensor.dims[:] = rng.choice([-1, 0, 1, 3, 4, 2**40], size=int(rng.integers(4))).tolist()
        case 6:
            tensor = graph.initializer[int(rng.integers(len(graph.initializer)))]
            tensor.raw_data = altered_bytes(rng, tensor.raw_data)
            tensor.data_type = int(rng.choice([1, 1, 7, 10, 11, 8, 99]))
        case 7:
            graph.output[0].name = str(rng.choice(names)) if graph.output else ""
            if rng.random() < 0.3:
                del model.opset_import[:]
