"""The graph decides as the Python selector does."""

import numpy as np
import onnx
import onnxruntime
import pytest

from abstain import Cost, Coverage, Outputs, Risk, Selector, calibrate
from abstain.collect import Data, OnnxModel, collect
from abstain.onnx import attach
from abstain.scores import SCORES

COSTS = 1 - np.eye(5) + 4 * np.eye(5, k=1)


@pytest.fixture(scope="module", params=[13, 17, 21])
def classifier(request, tmp_path_factory):
    """A small trained-looking graph and the outputs it makes of labelled inputs."""
    path = tmp_path_factory.mktemp("net")
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, 8)).astype(np.float32)
    constants = [onnx.numpy_helper.from_array(v, n) for n, v in (("w", 2 * centres), ("b", -np.square(centres).sum(1)))]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
            onnx.helper.make_node("Softmax", ["z"], ["p"], axis=1),
        ],
        "net",
        [value("x", onnx.TensorProto.FLOAT, ["n", 8])],
        [value("p", onnx.TensorProto.FLOAT, ["n", 5])],
        constants,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", request.param)], ir_version=8)
    onnx.save(model, path / "net.onnx")
    labels = rng.integers(5, size=4000)
    inputs = (centres[labels] + rng.normal(scale=1.2, size=(4000, 8))).astype(np.float32)
    outputs = collect(OnnxModel(path / "net.onnx"), Data(inputs, labels=labels), path / "run")
    return path, inputs, outputs


EVERY_SCORE = (*SCORES, "expected_cost")
OLDER = ("confidence_margin", "knn", "sirc", "ash", "rmds_norm", "learned", "expected_cost")  # converted, all alike
CASES = [(21, score) for score in EVERY_SCORE] + [(17, score) for score in OLDER]
CASES += [pytest.param(13, score, marks=() if score in OLDER[:-2] else pytest.mark.thorough) for score in EVERY_SCORE]


@pytest.mark.parametrize(("classifier", "score"), CASES, indirect=["classifier"], scope="module")
def test_every_row_is_decided_alike(classifier, score):
    path, inputs, outputs = classifier
    calibration, new = outputs.select(np.arange(2500)), outputs  # on what the threshold was chosen on as well
    target = Cost(0.2, costs=COSTS) if score == "expected_cost" else Coverage(0.6, delta=0.1)
    selector = calibrate(calibration, target, score=score)
    selector.save(path / "s.abstain")
    attach(path / "net.onnx", Selector.load(path / "s.abstain"), path / "selective.onnx")
    session = onnxruntime.InferenceSession(path / "selective.onnx", providers=["CPUExecutionProvider"])
    label, confidence, accepted = session.run(["prediction", "confidence", "accepted"], {"x": inputs})
    np.testing.assert_array_equal(label, selector.predictions(new))
    np.testing.assert_allclose(confidence, selector.confidence(new), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(accepted, selector.accepts(new))
    assert session.run(["p"], {"x": inputs[:3]})[0].shape == (3, 5)  # what was there stays


@pytest.mark.parametrize("score", ["confidence_margin", "geometric_margin"])
def test_a_graph_of_half_precision_rounds_as_the_one_that_was_collected_from(score, tmp_path):
    rng, helper = np.random.default_rng(0), onnx.helper
    arrays = {"v": rng.normal(size=(12, 16)), "w": rng.normal(size=(16, 5)), "b": rng.normal(size=5)}
    nodes = [(("MatMul", ["x", "v"], ["h"])), ("Relu", ["h"], ["f"]), ("Gemm", ["f", "w", "b"], ["z"])]
    graph = helper.make_graph(
        [*(helper.make_node(*node) for node in nodes), helper.make_node("Softmax", ["z"], ["p"], axis=1)],
        "net",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT16, ["n", 12])],
        [helper.make_tensor_value_info("p", onnx.TensorProto.FLOAT16, ["n", 5])],
        [onnx.numpy_helper.from_array(array.astype(np.float16), name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "net.onnx")
    inputs = rng.normal(size=(4000, 12)).astype(np.float16)
    outputs = collect(
        OnnxModel(tmp_path / "net.onnx"), Data(inputs, labels=rng.integers(5, size=4000)), tmp_path / "run"
    )
    selector = calibrate(outputs, score=score, coverage=0.6)
    attach(tmp_path / "net.onnx", selector, tmp_path / "with.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "with.onnx", providers=["CPUExecutionProvider"])
    accepted, confidence = session.run(["accepted", "confidence"], {"x": inputs})
    np.testing.assert_allclose(confidence, selector.confidence(outputs), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(accepted, selector.accepts(outputs))


@pytest.mark.parametrize("score", ["ash", "scale", "ras"])
def test_rows_of_equal_features_are_decided_alike(classifier, score, tmp_path):
    path, inputs, outputs = classifier
    rounded = np.maximum(np.round(inputs), 0)  # 8 features of a few values, zero the most frequent
    outputs = collect(OnnxModel(path / "net.onnx"), Data(rounded, labels=outputs.labels), tmp_path / "run")
    selector = calibrate(outputs, score=score, coverage=0.6, delta=0.1)
    attach(path / "net.onnx", selector, tmp_path / "selective.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "selective.onnx", providers=["CPUExecutionProvider"])
    confidence, accepted = session.run(["confidence", "accepted"], {"x": rounded})
    np.testing.assert_allclose(confidence, selector.confidence(outputs), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(accepted, selector.accepts(outputs))


def test_a_threshold_for_each_class_is_in_the_graph(classifier):
    path, inputs, outputs = classifier
    selector = calibrate(outputs.select(np.arange(2500)), Risk(0.15, delta=0.1, per="class"))
    attach(path / "net.onnx", selector, path / "selective.onnx")
    session = onnxruntime.InferenceSession(path / "selective.onnx", providers=["CPUExecutionProvider"])
    (accepted,) = session.run(["accepted"], {"x": inputs})
    np.testing.assert_array_equal(accepted, selector.accepts(outputs))
    assert len({threshold.value for threshold in selector.groups.thresholds.values()}) > 1
    by_domain = Outputs(logits=outputs.logits, labels=outputs.labels, domain=np.where(inputs[:, 0] > 0, "a", "b"))
    with pytest.raises(ValueError, match="thresholds that a model knows, got one for each domain"):
        attach(path / "net.onnx", calibrate(by_domain, Risk(0.2, per="domain")), path / "none.onnx")


def test_the_risk_on_fresh_data_is_within_the_guarantee(classifier):
    path, inputs, outputs = classifier
    selector = calibrate(outputs.select(np.arange(2500)), risk=0.1, delta=0.05)
    attach(path / "net.onnx", selector, path / "selective.onnx")
    session = onnxruntime.InferenceSession(path / "selective.onnx", providers=["CPUExecutionProvider"])
    label, accepted = session.run(["prediction", "accepted"], {"x": inputs[2500:]})
    assert accepted.mean() > 0.2
    noise = 3 * np.sqrt(0.1 * 0.9 / accepted.sum())  # of the fresh sample; the guarantee is about the law
    assert (label != outputs.labels[2500:])[accepted].mean() <= 0.1 + noise


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e38])
def test_unusable_inputs_are_never_accepted(classifier, bad):
    path, inputs, outputs = classifier
    for score in ("confidence_margin", "knn", "rmds"):
        attach(path / "net.onnx", calibrate(outputs, score=score, coverage=0.9), path / "selective.onnx")
        session = onnxruntime.InferenceSession(path / "selective.onnx", providers=["CPUExecutionProvider"])
        broken = inputs[:3].copy()
        broken[1] = bad
        label, accepted = session.run(["prediction", "accepted"], {"x": broken})
        assert not accepted[1]
        assert label[1] == -1


def test_what_cannot_be_attached_is_named(classifier):
    path, _, outputs = classifier
    other = Outputs(logits=np.random.default_rng(0).normal(size=(100, 3)), labels=np.zeros(100, dtype=int))
    three = calibrate(other, coverage=0.5)
    with pytest.raises(ValueError, match="`model` must have 3 classes, as in calibration, got 5"):
        attach(path / "net.onnx", three, path / "x.onnx")
    given = calibrate(Outputs(confidences={"vendor": outputs.logits.max(1)}, errors=outputs.errors), coverage=0.5)
    with pytest.raises(ValueError, match="score that the graph can compute, got 'vendor', a confidence that was given"):
        attach(path / "net.onnx", given, path / "x.onnx")
    attach(path / "net.onnx", calibrate(outputs, coverage=0.5), path / "once.onnx")
    with pytest.raises(ValueError, match="must not have a tensor named 'accepted' already"):
        attach(path / "once.onnx", calibrate(outputs, coverage=0.5), path / "twice.onnx")


def graph_of(nodes, constants, outputs, inputs=("x",), path=None, opset=17):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "net",
        [value(name, onnx.TensorProto.FLOAT, ["n", 6]) for name in inputs],
        [value(name, onnx.TensorProto.FLOAT, None) for name in outputs],
        [onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants.items()]
        + [onnx.numpy_helper.from_array(np.array([1]), "axis")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, path)
    return path


def node(kind, inputs, output, **options):
    return onnx.helper.make_node(kind, inputs, [output], **options)


RNG = np.random.default_rng(5)
W, B, V = RNG.normal(size=(6, 4)), RNG.normal(size=4), RNG.normal(size=(6, 4))
X = RNG.normal(size=(1500, 6)).astype(np.float32)
Z = X @ W.astype(np.float32) + B.astype(np.float32)
LABELLED = Outputs(logits=Z, features=X, weight=W.T, bias=B, labels=(Z + RNG.gumbel(size=Z.shape)).argmax(1))


@pytest.mark.parametrize(
    ("nodes", "constants", "outputs"),
    [
        (
            [node("Gemm", ["x", "w", "b"], "z"), node("MatMul", ["x", "v"], "other")],
            {"w": W, "b": B, "v": V},
            ["z", "other"],
        ),
        (
            [node("MatMul", ["x", "v"], "other"), node("Gemm", ["x", "w", "b"], "z")],
            {"w": W, "b": B, "v": V},
            ["z", "other"],
        ),
        ([node("Identity", ["b"], "c"), node("Gemm", ["x", "w", "c"], "z")], {"w": W, "b": B}, ["z"]),
        (
            [node("Gemm", ["x", "w", ""], "y"), node("Add", ["b", "y"], "z"), node("Softmax", ["z"], "p", axis=1)],
            {"w": W, "b": B},
            ["p"],
        ),
        (
            [
                onnx.helper.make_node("Constant", [], ["one"], value_float=1.0),
                node("Gemm", ["x", "w", "b"], "y"),
                node("Mul", ["y", "one"], "z"),
            ],
            {"w": W, "b": B},
            ["z"],
        ),
        (
            [node("Transpose", ["t"], "tt"), node("MatMul", ["x", "tt"], "y"), node("Add", ["y", "b"], "z")],
            {"t": W.T, "b": B},
            ["z"],
        ),
        (
            [node("Cast", ["w"], "d", to=11), node("Cast", ["d"], "f", to=1), node("Gemm", ["x", "f", "b"], "z")],
            {"w": W, "b": B},
            ["z"],
        ),
        (
            [node("Gemm", ["x", "w", "b"], "z"), node("Add", ["z", "c"], "side")],
            {"w": W, "b": B, "c": 5 * B[::-1]},
            ["z", "side"],
        ),
        (
            [
                node("Gemm", ["x", "w", "b"], "y", alpha=0.5, beta=0.25),
                node("Add", ["y", "c"], "q"),
                node("Mul", ["q", "two"], "z"),
            ],
            {"w": W, "b": 2 * B, "c": np.zeros(1), "two": np.full(1, 2.0)},
            ["z"],
        ),
        (
            [
                node("Gemm", ["x", "w", "b"], "z"),
                node("ReduceMax", ["z"], "m", axes=[1], keepdims=1),
                node("Sub", ["z", "m"], "s"),
                node("Exp", ["s"], "e"),
                node("ReduceSum", ["e", "axis"], "t", keepdims=1),
                node("Div", ["e", "t"], "p"),
            ],
            {"w": W, "b": B},
            ["p"],
        ),
        (
            [node("Identity", ["x"], "abstain_logits"), node("Gemm", ["abstain_logits", "w", "b"], "z")],
            {"w": W, "b": B},
            ["z"],
        ),
    ],
)
def test_graphs_of_many_makes_are_understood(nodes, constants, outputs, tmp_path):
    path = graph_of(nodes, constants, outputs, path=tmp_path / "net.onnx")
    model = OnnxModel(path)
    logits, features = model(list(X[:50]))
    weight, bias = model.head()
    np.testing.assert_allclose(features @ weight.T + (0 if bias is None else bias), logits, atol=1e-4)
    for score in ("confidence_margin", "knn"):
        selector = calibrate(LABELLED, score=score, coverage=0.6)
        attach(path, selector, tmp_path / "selective.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "selective.onnx", providers=["CPUExecutionProvider"])
        label, accepted = session.run(["prediction", "accepted"], {"x": X})
        np.testing.assert_array_equal(label, Z.argmax(1))
        assert (accepted == selector.accepts(LABELLED)).mean() > 0.998  # the last bit of the logits may differ


@pytest.mark.parametrize(
    "nodes",
    [
        [node("MatMul", ["x", "w"], "a"), node("MatMul", ["x", "v"], "c"), node("Add", ["a", "c"], "z")],
        [node("MatMul", ["x", "w"], "a"), node("Neg", ["a"], "z")],
        [node("MatMul", ["x", "w"], "a"), node("Relu", ["a"], "z")],
        [node("MatMul", ["x", "w"], "a"), node("Sub", ["b", "a"], "z")],
    ],
)
def test_logits_without_a_layer_are_enough_for_scores_of_the_logits(nodes, tmp_path):
    path = graph_of(nodes, {"w": W, "v": V, "b": B}, ["z"], path=tmp_path / "net.onnx")
    outputs = collect(OnnxModel(path), Data(X, labels=LABELLED.labels), tmp_path / "run")
    assert outputs.features is None
    selector = calibrate(outputs, coverage=0.6)
    attach(path, selector, tmp_path / "out.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
    label, z = session.run(["prediction", "z"], {"x": X})
    np.testing.assert_array_equal(label, z.argmax(1))
    with pytest.raises(ValueError, match="must end in a product with constant weights for knn, got another operation"):
        attach(path, calibrate(LABELLED, score="knn", coverage=0.6), tmp_path / "knn.onnx")


def test_models_that_differ_in_external_data_have_different_names(tmp_path):
    names = set()
    for k in range(2):
        (tmp_path / str(k)).mkdir()
        path = graph_of([node("MatMul", ["x", "w"], "z")], {"w": W + k}, ["z"], path=tmp_path / f"{k}.onnx")
        folder = tmp_path / str(k) / "e.onnx"
        onnx.save(onnx.load(path), folder, save_as_external_data=True, location="e.data", size_threshold=0)
        names.add(OnnxModel(folder).name)
    assert len(names) == 2


def test_the_logits_can_be_named(tmp_path):
    nodes = [node("MatMul", ["x", "v"], "other"), node("Gemm", ["x", "w", "b"], "z")]
    path = graph_of(nodes, {"w": W, "b": B, "v": RNG.normal(size=(6, 2))}, ["other", "z"], path=tmp_path / "net.onnx")
    selector = calibrate(LABELLED, coverage=0.6)
    with pytest.raises(ValueError, match=r"must have 4 classes, as in calibration, got 2 at 'other'\. Name the logits"):
        attach(path, selector, tmp_path / "out.onnx")
    with pytest.raises(ValueError, match="must name a tensor that the graph makes, got 'q'"):
        attach(path, selector, tmp_path / "out.onnx", logits="q")
    attach(path, selector, tmp_path / "out.onnx", logits="z")
    session = onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(["prediction"], {"x": X})[0], Z.argmax(1))


def test_graphs_that_cannot_be_are_named_and_nothing_is_written(tmp_path):
    selector = calibrate(LABELLED, coverage=0.6)
    tokens = [node("Unsqueeze", ["x", "axis"], "t"), node("MatMul", ["t", "w"], "z")]
    path = graph_of(
        [node("Gemm", ["prediction", "w", "b"], "z")], {"w": W, "b": B}, ["z"], ("prediction",), tmp_path / "a.onnx"
    )
    with pytest.raises(ValueError, match="must not have a tensor named 'prediction' already"):
        attach(path, selector, tmp_path / "out.onnx")
    path = graph_of(tokens, {"w": W}, ["z"], path=tmp_path / "b.onnx")
    with pytest.raises(ValueError, match=r"`model` must give logits \(n, K\), got 3 dimensions"):
        attach(path, selector, tmp_path / "out.onnx")
    (tmp_path / "text.onnx").write_text("no graph")
    with pytest.raises(ValueError, match="must be an ONNX model"):
        attach(tmp_path / "text.onnx", selector, tmp_path / "out.onnx")
    assert not list(tmp_path.glob("*out.onnx*")) + list(tmp_path.glob(".*"))


def test_external_data_is_read_from_any_folder(tmp_path):
    path = graph_of([node("Gemm", ["x", "w", "b"], "z")], {"w": W, "b": B}, ["z"], path=tmp_path / "net.onnx")
    onnx.save(onnx.load(path), tmp_path / "e.onnx", save_as_external_data=True, location="e.data", size_threshold=0)
    outputs = collect(OnnxModel(tmp_path / "e.onnx"), Data(X, labels=LABELLED.labels), tmp_path / "run")
    np.testing.assert_allclose(outputs.logits, Z, atol=1e-5)
    attach(tmp_path / "e.onnx", calibrate(outputs, coverage=0.6), tmp_path / "selective.onnx")


def _graph(nodes, outputs=("p",)):
    value = onnx.helper.make_tensor_value_info
    weight = onnx.numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
    made = [value(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    graph = onnx.helper.make_graph(nodes, "net", [value("x", onnx.TensorProto.FLOAT, ["n", 4])], made, [weight])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("nodes", "outputs", "message"),
    [
        ([("MatMul", ["x", "w"], ["z"], {}), ("Softmax", ["z"], ["p"], {"axis": 0})], ("p",), "got axis 0"),
        ([("MatMul", ["x", "w"], ["z"], {}), ("ArgMax", ["z"], ["p"], {})], ("p",), "ArgMax over the classes"),
        ([("MatMul", ["x", "w"], ["z"], {})], (), "must have an output"),
        ([("Identity", ["q"], ["p"], {}), ("Identity", ["p"], ["q"], {})], ("p",), "without cycles"),
    ],
)
def test_graphs_that_are_not_understood_are_refused_in_one_line(nodes, outputs, message):
    from abstain.collect.onnx_head import find_head

    made = [onnx.helper.make_node(kind, given, result, **options) for kind, given, result, options in nodes]
    with pytest.raises(ValueError, match=message):
        find_head(_graph(made, outputs))


@pytest.mark.parametrize("opset", [17, 21, 22])
def test_a_missing_shape_is_inferred_or_named(classifier, opset, tmp_path):
    path, inputs, outputs = classifier
    model = onnx.load(path / "net.onnx")
    model.opset_import[0].version = opset
    selector = calibrate(outputs, coverage=0.6)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(model, tmp_path / "net.onnx")
    attach(tmp_path / "net.onnx", selector, tmp_path / "selective.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "selective.onnx")
    np.testing.assert_array_equal(session.run(["accepted"], {"x": inputs})[0], selector.accepts(outputs))
    model.graph.input[0].type.tensor_type.ClearField("shape")
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.raises(ValueError, match="must declare the shape of each input and output, got none for 'x'"):
        attach(tmp_path / "net.onnx", selector, tmp_path / "selective.onnx")
