"""Do NumPy, PyTorch and ONNX Runtime decide every row alike, those of calibration among them?"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from abstain import calibrate
from abstain.scores import SCORES
from abstain.scores.confidences import above, decide
from abstain.scores.head import Head

N, CLASSES, WIDTH = 100_000, 10, 16


def decisions() -> bool:
    """Every score on 100,000 rows, of which 20,000 are those that its threshold was chosen on."""
    import onnxruntime
    import torch

    from abstain.collect import Data, OnnxModel, collect
    from abstain.onnx import attach

    alike = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        inputs, labels = _classifier(root / "net.onnx")
        data, model = Data(inputs, labels=labels), OnnxModel(root / "net.onnx")
        outputs = collect(model, data, root / "run")
        z, x = torch.as_tensor(outputs.logits.copy()), torch.as_tensor(np.asarray(outputs.features).copy())
        for score in SCORES:
            selector = calibrate(outputs.select(np.arange(20_000)), score=score, coverage=0.6)
            ours = selector.accepts(outputs)
            prediction, confidence = decide(selector.fitted, z, x, Head(np.asarray(outputs.weight), outputs.bias))
            torchs = above(selector.class_values, prediction, confidence).numpy()
            attach(root / "net.onnx", selector, root / "selective.onnx")
            session = onnxruntime.InferenceSession(root / "selective.onnx", providers=["CPUExecutionProvider"])
            parts = [session.run(["accepted"], {"x": part})[0] for part in np.array_split(inputs, 20)]
            other = int((torchs != ours).sum()), int((np.concatenate(parts) != ours).sum())
            print(
                f"{score:20} accepted {ours.mean():.3f}; decided otherwise: PyTorch {other[0]}, ONNX {other[1]}",
                flush=True,
            )
            alike &= other == (0, 0)
    return alike


def _classifier(file: Path) -> tuple[Any, Any]:
    """A graph with a hidden layer, and inputs with labels."""
    import onnx

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, WIDTH)).astype(np.float32)
    first, second = np.eye(WIDTH, dtype=np.float32), 2 * centres
    bias = -np.square(centres).sum(axis=1)
    constants = {"v": first, "w": second, "b": bias}
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("MatMul", ["x", "v"], ["h"]),
            onnx.helper.make_node("Gemm", ["h", "w", "b"], ["z"], transB=1),
        ],
        "net",
        [value("x", onnx.TensorProto.FLOAT, ["n", WIDTH])],
        [value("z", onnx.TensorProto.FLOAT, ["n", CLASSES])],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opset = [onnx.helper.make_opsetid("", 21)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=10), file)
    labels = rng.integers(CLASSES, size=N)
    return (centres[labels] + rng.normal(scale=1.5, size=(N, WIDTH))).astype(np.float32), labels
