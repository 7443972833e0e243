"""Heads found on real architectures and formats."""

import json

import numpy as np
import onnx
import pytest
import torch
from PIL import Image
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from abstain._extras import repair_torchvision
from abstain.collect import Data, OnnxModel, SklearnModel, TorchModel, collect

repair_torchvision()
import timm  # noqa: E402

ARCHITECTURES = [
    "resnet18",
    pytest.param("resnext50_32x4d", marks=pytest.mark.thorough),
    "convnext_atto",
    pytest.param("convnextv2_atto", marks=pytest.mark.thorough),
    "vit_tiny_patch16_224",
    pytest.param("eva02_tiny_patch14_224", marks=pytest.mark.thorough),
    "swin_tiny_patch4_window7_224",
    pytest.param("efficientnet_b0", marks=pytest.mark.thorough),
    "mobilenetv3_small_050",
    pytest.param("regnetx_002", marks=pytest.mark.thorough),
    pytest.param("densenet121", marks=pytest.mark.thorough),
    "deit_tiny_patch16_224",
    pytest.param("mixer_s32_224", marks=pytest.mark.thorough),
    pytest.param("cait_xxs24_224", marks=pytest.mark.thorough),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_head_of_a_timm_architecture_makes_its_logits(name, tmp_path):
    torch.manual_seed(0)
    module = timm.create_model(name, pretrained=False, num_classes=20).eval()
    passes = []
    module.register_forward_pre_hook(lambda *_: passes.append(1))
    images = np.random.default_rng(0).normal(size=(4, 3, 224, 224)).astype(np.float32)
    outputs = collect(TorchModel(module), Data(images), tmp_path / "run", batch_size=2, shard_size=2)
    assert len(passes) == 2  # one forward pass a batch
    assert outputs.check_head().agrees
    with torch.inference_mode():
        np.testing.assert_allclose(outputs.logits, module(torch.as_tensor(images)).numpy(), atol=1e-4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["volo_d1_224", "deit_tiny_distilled_patch16_224"])
def test_logits_that_no_single_head_makes_are_reported(name, tmp_path):
    torch.manual_seed(0)
    module = timm.create_model(name, pretrained=False, num_classes=20)
    for parameter in module.parameters():
        parameter.data.add_(0.02 * torch.randn(parameter.shape))
    images = np.random.default_rng(0).normal(size=(2, 3, 224, 224)).astype(np.float32)
    outputs = collect(TorchModel(module), Data(images), tmp_path / "run", batch_size=2, shard_size=2)
    assert outputs.features is not None
    assert not outputs.check_head().agrees


class Wrapped(torch.nn.Module):
    def __init__(self, wrap):
        super().__init__()
        torch.manual_seed(0)
        self.body, self.classifier, self.wrap = torch.nn.Linear(6, 5), torch.nn.Linear(5, 3), wrap

    def forward(self, x):
        return self.wrap(self.classifier(torch.relu(self.body(x))))


X = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)


@pytest.mark.parametrize(
    "wrap", [lambda z: z, lambda z: {"logits": z, "loss": None}, lambda z: (z, "more"), lambda z: [(z,)]]
)
def test_modules_may_return_a_tensor_a_dictionary_or_a_tuple(wrap, tmp_path):
    outputs = collect(TorchModel(Wrapped(wrap)), Data(X), tmp_path / "run")
    assert outputs.check_head().agrees
    assert outputs.weight.shape == (3, 5)


def test_a_dictionary_without_logits_is_named(tmp_path):
    with pytest.raises(ValueError, match="`model` must return logits, got a dictionary with scores"):
        collect(TorchModel(Wrapped(lambda z: {"scores": z})), Data(X), tmp_path / "run")


def test_the_head_can_be_named(tmp_path):
    outputs = collect(TorchModel(Wrapped(lambda z: z), head="classifier"), Data(X), tmp_path / "run")
    assert outputs.check_head().agrees
    with pytest.raises(TypeError, match="`head` must name a Linear layer, got Wrapped"):
        TorchModel(Wrapped(lambda z: z), head="")


def test_a_network_without_a_linear_head_gives_logits_alone(tmp_path):
    network = torch.nn.Sequential(
        torch.nn.Linear(6, 4), torch.nn.Tanh(), torch.nn.Linear(4, 8), torch.nn.Unflatten(1, (4, 2))
    )
    network.append(torch.nn.Flatten(1)).append(torch.nn.AvgPool1d(2))
    outputs = collect(TorchModel(network), Data(X), tmp_path / "run")
    assert outputs.features is None
    assert outputs.logits.shape == (20, 4)


def export(tmp_path, with_bias=True, matmul=False):
    """A small graph by hand: Relu(x·A)·W + b, then softmax."""
    rng = np.random.default_rng(0)
    a, w, b = (rng.normal(size=s).astype(np.float32) for s in ((6, 5), (5, 3), (3,)))
    constants = [
        onnx.numpy_helper.from_array(v, n) for n, v in (("a", a), ("w", w if matmul else w.T.copy()), ("b", b))
    ]
    if matmul:
        head = [onnx.helper.make_node("MatMul", ["h", "w"], ["m"]), onnx.helper.make_node("Add", ["b", "m"], ["z"])]
    else:
        head = [onnx.helper.make_node("Gemm", ["h", "w", "b"] if with_bias else ["h", "w"], ["z"], transB=1)]
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "a"], ["p"]),
        onnx.helper.make_node("Relu", ["p"], ["h"]),
        *head,
        onnx.helper.make_node("Softmax", ["z"], ["probabilities"]),
    ]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "net",
        [value("x", onnx.TensorProto.FLOAT, ["n", 6])],
        [value("probabilities", onnx.TensorProto.FLOAT, ["n", 3])],
        constants,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "net.onnx")
    hidden = np.maximum(X @ a, 0)
    return hidden, hidden @ w + (b if with_bias else 0)


@pytest.mark.parametrize(("with_bias", "matmul"), [(True, False), (False, False), (True, True)])
def test_the_head_of_an_onnx_graph_is_its_last_product(tmp_path, with_bias, matmul):
    hidden, logits = export(tmp_path, with_bias, matmul)
    outputs = collect(OnnxModel(tmp_path / "net.onnx"), Data(X), tmp_path / "run")
    np.testing.assert_allclose(outputs.features, hidden, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outputs.logits, logits, rtol=1e-4, atol=1e-5)
    assert outputs.check_head().agrees


def test_a_graph_without_a_head_is_refused(tmp_path):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Softmax", ["x"], ["y"])],
        "none",
        [value("x", onnx.TensorProto.FLOAT, ["n", 3])],
        [value("y", onnx.TensorProto.FLOAT, ["n", 3])],
    )
    onnx.save(onnx.helper.make_model(graph, ir_version=9), tmp_path / "none.onnx")
    with pytest.raises(ValueError, match="must compute its logits by a node such as Gemm or MatMul, got none"):
        OnnxModel(tmp_path / "none.onnx")


DIGITS = load_digits(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (LogisticRegression(max_iter=50), DIGITS),
        (RidgeClassifier(), DIGITS),
        (SGDClassifier(random_state=0), DIGITS),
        (LinearSVC(max_iter=200), DIGITS),
        (LinearSVC(multi_class="crammer_singer", max_iter=200), DIGITS),
        (MLPClassifier((16,), max_iter=20, random_state=0), DIGITS),
        (MLPClassifier((16, 8), activation="tanh", max_iter=20, random_state=0), DIGITS),
        (make_pipeline(StandardScaler(), LogisticRegression()), CANCER),
        (make_pipeline(StandardScaler(), LinearSVC()), CANCER),
    ],
)
def test_scikit_learn_predictions_are_kept(estimator, data, tmp_path):
    x, y = data
    estimator.fit(x, y)
    outputs = collect(SklearnModel(estimator), Data(x, labels=y.astype(str)), tmp_path / "run")
    assert outputs.check_head().agrees
    np.testing.assert_array_equal(outputs.predictions, estimator.predict(x))
    assert outputs.errors.mean() == pytest.approx(1 - estimator.score(x, y))


def test_a_text_pipeline(tmp_path):
    texts, labels = ["good film", "bad film", "fine good", "awful bad"] * 5, ["yes", "no", "yes", "no"] * 5
    estimator = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)
    outputs = collect(SklearnModel(estimator), Data(texts, labels=np.array(labels)), tmp_path / "run")
    assert not outputs.errors.any()


class Boosted:
    """A classifier of somebody's own, that answers with probabilities in float32."""

    def __init__(self, means):
        self.means = means

    def predict_proba(self, x):
        apart = np.exp(-np.square(np.asarray(x)[:, None] - self.means).mean(axis=2) / 20)
        return (apart / apart.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        RandomForestClassifier(10, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
)
@pytest.mark.parametrize("data", [DIGITS, CANCER], ids=["digits", "cancer"])
def test_any_classifier_of_scikit_learn_gives_its_answers(estimator, data, tmp_path):
    x, y = data
    estimator.fit(x[::2], y[::2])
    outputs = collect(SklearnModel(estimator), Data(x[:300], labels=y[:300]), tmp_path / "run")
    np.testing.assert_array_equal(outputs.predictions, estimator.predict(x[:300]))
    assert outputs.weight is None


def test_whatever_has_probabilities_is_a_model(tmp_path):
    x, y = DIGITS
    means = np.array([x[y == k].mean(axis=0) for k in range(10)])
    outputs = collect(SklearnModel(Boosted(means)), Data(x, labels=y), tmp_path / "run")
    np.testing.assert_allclose(np.exp(outputs.logits), Boosted(means).predict_proba(x), rtol=1e-6)
    assert outputs.errors.mean() < 0.2
    assert SklearnModel(Boosted(means)).name == SklearnModel(Boosted(means.copy())).name
    assert SklearnModel(Boosted(means)).name != SklearnModel(Boosted(means + 1e-9)).name


def test_classifiers_that_learned_other_trees_have_other_names():
    x, y = CANCER
    for kind in (RandomForestClassifier(3, random_state=0), HistGradientBoostingClassifier(max_iter=3, random_state=0)):
        first, same, other = (clone(kind).fit(x, labels) for labels in (y, y, np.roll(y, 9)))
        assert SklearnModel(first).name == SklearnModel(same).name
        assert SklearnModel(first).name != SklearnModel(other).name


class Fixed:
    classes_ = np.arange(2)

    def __init__(self, answer):
        self.answer = answer

    def predict_proba(self, x):
        return [self.answer] * 2 if isinstance(self.answer, np.ndarray) else np.full((len(x), *self.answer), 0.4)


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (Fixed(()), ValueError, r"`predict_proba` must give a column per class, got shape \(3,\) from Fixed"),
        (Fixed((1,)), ValueError, r"must give a column per class, got shape \(3, 1\) .* np.column_stack"),
        (Fixed((2,)), ValueError, "`predict_proba` must give rows of non-negative numbers that sum to 1"),
        (Fixed(np.full((3, 2), 0.5)), TypeError, "`estimator` must have one output, got 2 from Fixed"),
        (LinearRegression(), TypeError, "must be a fitted classifier with decision_function or predict_proba, got Lin"),
        ("forest", TypeError, "must be a fitted classifier with decision_function or predict_proba, got str"),
    ],
)
def test_answers_that_are_no_probabilities_of_classes_are_refused(estimator, error, message):
    with pytest.raises(error, match=message):
        SklearnModel(estimator)(np.zeros((3, 2)))


def test_answers_that_are_not_the_favoured_class_are_refused():
    x, y = CANCER
    tuned = FixedThresholdClassifier(LogisticRegression(max_iter=5000), threshold=0.999).fit(x, y)
    with pytest.raises(
        ValueError, match=r"must predict the class with its largest value, got another class for .* cv='prefit'"
    ):
        SklearnModel(tuned)(x)


@pytest.mark.filterwarnings("ignore")
def test_transformers_classifiers_of_text_and_images(tmp_path):
    import transformers

    from abstain.collect import hf_model

    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "film"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary))
    tokenizer = transformers.BertTokenizer(str(tmp_path / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=2,
        id2label={0: "neg", 1: "pos"}, label2id={"neg": 0, "pos": 1},
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path / "text")
    tokenizer.save_pretrained(tmp_path / "text")
    outputs = collect(
        hf_model(tmp_path / "text"), Data(["good film", "bad"], labels=np.array(["pos", "neg"])), tmp_path / "run"
    )
    assert outputs.class_names == ("neg", "pos")
    assert outputs.check_head().agrees

    vit = transformers.ViTConfig(
        image_size=16, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        num_labels=3,
    )  # fmt: skip
    transformers.ViTForImageClassification(vit).save_pretrained(tmp_path / "image")
    transformers.ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(tmp_path / "image")
    pictures = [Image.fromarray(np.full((20, 30, 3), shade, dtype=np.uint8)) for shade in (0, 200)]
    outputs = collect(hf_model(tmp_path / "image"), Data(pictures, labels=np.array([0, 2])), tmp_path / "other")
    assert outputs.logits.shape == (2, 3)
    assert outputs.check_head().agrees


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("named", ["AutoConfig", "AutoModelForSequenceClassification", "AutoTokenizer"])
def test_code_in_a_folder_of_transformers_is_never_run(tmp_path, monkeypatch, named):
    import builtins

    from abstain.collect import hf_model

    monkeypatch.setattr(builtins, "input", lambda *_: "yes")  # the prompt that `yes |` answers
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'was-run')!r}, 'w')\nclass Own: pass\n")
    known = "my-own" if named == "AutoConfig" else "bert"
    config = {"model_type": known, "architectures": ["OwnForSequenceClassification"], "auto_map": {named: "own.Own"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"auto_map": {"AutoTokenizer": ["own.Own", None]}}))
    with pytest.raises(ValueError, match="`model` must be a folder with a transformers classifier"):
        hf_model(tmp_path)
    assert not (tmp_path / "was-run").exists()


def test_a_folder_that_is_not_there_is_no_request_to_a_hub(tmp_path, monkeypatch):
    from abstain.collect import hf_model

    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection was tried"))
    for path in (tmp_path / "none", "somebody/a-model"):
        with pytest.raises(FileNotFoundError, match="`model` must be a folder that exists, got"):
            hf_model(path)


def test_a_forest_fitted_on_a_table_is_handed_one():
    pandas = pytest.importorskip("pandas")
    x, y = load_breast_cancer(return_X_y=True)
    names = [f"f{i}" for i in range(x.shape[1])]
    forest = RandomForestClassifier(5, random_state=0).fit(pandas.DataFrame(x, columns=names), y)
    logits, _ = SklearnModel(forest)(list(x[:9]))  # a warning would be an error
    np.testing.assert_allclose(np.exp(logits), forest.predict_proba(pandas.DataFrame(x[:9], columns=names)), atol=1e-12)
