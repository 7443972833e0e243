import copy
import gc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from onnxruntime import InferenceSession

from abstain import Risk, calibrate
from abstain.collect import Data, TorchModel, collect
from abstain.scores import SCORES
from abstain.scores.confidences import above, decide
from abstain.scores.head import Head
from abstain.torch import SelectiveModel

pytestmark = pytest.mark.filterwarnings(
    "ignore:`model` is in training mode"
)  # networks whose answers it does not change


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 6)).astype(np.float32)
    labels = rng.integers(4, size=3000)
    inputs = (centres[labels] + rng.normal(scale=0.8, size=(3000, 6))).astype(np.float32)
    network = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    x, y = torch.as_tensor(inputs), torch.as_tensor(labels)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(x[:1000]), y[:1000]).backward()
        optimizer.step()
    outputs = collect(TorchModel(network), Data(inputs, labels=labels), tmp_path_factory.mktemp("net") / "run")
    return network, x, outputs


@pytest.mark.parametrize("score", SCORES)
def test_every_row_is_decided_as_the_selector_does(classifier, score):
    network, x, outputs = classifier
    calibration, new = outputs.select(np.arange(1000, 2500)), outputs.select(np.arange(2500, 3000))
    selector = calibrate(calibration, score=score, coverage=0.6, delta=0.1)
    passes = []
    handle = network.register_forward_pre_hook(lambda *_: passes.append(1))
    prediction, confidence, accepted = SelectiveModel(network, selector)(x[2500:])
    handle.remove()
    assert len(passes) == 1
    np.testing.assert_array_equal(prediction, new.predictions)
    np.testing.assert_allclose(confidence.detach(), selector.confidence(new), rtol=1e-4, atol=1e-4)
    assert (accepted.numpy() == selector.accepts(new)).mean() > 0.995  # rounding of the logits at the threshold


@pytest.mark.parametrize("score", SCORES)
def test_the_same_logits_are_decided_alike_on_rows_of_calibration_too(classifier, score):
    _, _, outputs = classifier
    selector = calibrate(outputs, score=score, coverage=0.6, delta=0.1)
    z, x = torch.as_tensor(outputs.logits.copy()), torch.as_tensor(outputs.features.copy())
    prediction, confidence = decide(selector.fitted, z, x, Head(outputs.weight, outputs.bias))
    np.testing.assert_array_equal(above(selector.class_values, prediction, confidence), selector.accepts(outputs))


def test_each_class_has_its_own_threshold(classifier):
    network, x, outputs = classifier
    selector = calibrate(outputs, Risk(0.03, delta=0.2, per="class"))
    prediction, confidence, accepted = SelectiveModel(network, selector)(x)
    values = torch.as_tensor(selector.class_values)[prediction]
    assert torch.equal(accepted, confidence > values)
    assert len(set(values.tolist())) > 1


LIKE_OTHERS = (
    *("doctor", "neg_entropy", "max_logit", "energy", "pairwise_margin", "gen", "ts_max_softmax", "ts_doctor"),
    *("ts_neg_entropy", "knn_logits", "ash", "scale", "mds", "rmds", "delta_mds", "delta_knn", "she", "pca"),
)
"""Scores of the same operations as others, exported in the thorough run."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("way", "score"),
    [("trace", score) for score in SCORES]
    + [pytest.param("export", score, marks=pytest.mark.thorough if score in LIKE_OTHERS else ()) for score in SCORES],
)
def test_it_can_be_exported_and_traced_to_torchscript(classifier, score, way, tmp_path):
    network, x, outputs = classifier
    selective = SelectiveModel(network, calibrate(outputs, score=score, coverage=0.6)).eval()
    expected = selective(x[:50])
    if way == "export":
        batch = torch.export.Dim("batch", min=2, max=1000)
        program = torch.export.export(selective, (x[:8],), dynamic_shapes=({0: batch},))
        torch.export.save(program, tmp_path / "net.pt2")
        again = torch.export.load(tmp_path / "net.pt2").module()
    else:
        torch.jit.trace(selective, x[:8]).save(tmp_path / "net.pt")
        again = torch.jit.load(tmp_path / "net.pt")
    for a, b in zip(again(x[:50]), expected, strict=True):
        torch.testing.assert_close(a, b)


def test_threads_do_not_mix_up_their_batches(classifier):
    network, x, outputs = classifier
    selective = SelectiveModel(network, calibrate(outputs, score="knn", coverage=0.6)).eval()
    with torch.inference_mode():
        expected = [selective(x[10 * k : 10 * k + 10]).confidence for k in range(20)]

    def work(k):
        with torch.inference_mode():
            return all(
                torch.equal(selective(x[10 * i : 10 * i + 10]).confidence, expected[i])
                for i in np.roll(np.arange(20), k).tolist() * 10
            )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


@pytest.mark.parametrize("score", ["knn", "geometric_margin"])
def test_it_can_be_copied_saved_and_restored_and_leaves_no_trace(classifier, score, tmp_path):
    network, x, outputs = classifier
    network = copy.deepcopy(network)
    hooks = set(network[2]._forward_pre_hooks)
    selector = calibrate(outputs, score=score, coverage=0.6)
    selective = SelectiveModel(network, selector)
    expected = selective(x[:20]).confidence
    assert set(selective.state_dict()) == {"_extra_state"} | {f"model.{name}" for name in network.state_dict()}
    fresh = SelectiveModel(copy.deepcopy(network), selector)
    fresh.load_state_dict(selective.state_dict())
    torch.save(selective, tmp_path / "net.pt")
    for again in (copy.deepcopy(selective), fresh, torch.load(tmp_path / "net.pt", weights_only=False)):
        torch.testing.assert_close(again(x[:20]).confidence, expected)
    selective(x[:20])
    network(x[:20])
    assert getattr(selective._caught.thread, "features", None) is None
    del selective, fresh, again
    gc.collect()
    assert set(network[2]._forward_pre_hooks) == hooks


@pytest.mark.parametrize("score", ["knn", "max_softmax"])
def test_a_state_holds_its_selector(classifier, score, tmp_path):
    network, x, outputs = classifier
    selectors = [calibrate(outputs, score=name, coverage=c) for name, c in ((score, 0.7), ("confidence_margin", 0.3))]
    strict, other = (SelectiveModel(copy.deepcopy(network), selector) for selector in selectors)
    torch.save(strict.state_dict(), tmp_path / "net.pt")
    other.load_state_dict(torch.load(tmp_path / "net.pt", weights_only=True))
    assert other.selector.threshold == strict.selector.threshold
    for ours, theirs in zip(other(x), strict(x), strict=True):
        torch.testing.assert_close(ours, theirs)
    state = strict.state_dict()
    state["_extra_state"][100] ^= 1
    with pytest.raises(ValueError, match="`state_dict` must"):
        other.load_state_dict(state)
    with pytest.raises(RuntimeError, match="_extra_state"):
        other.load_state_dict({f"model.{name}": value for name, value in network.state_dict().items()})


def test_a_head_that_is_trained_on_is_read_again(classifier):
    network, x, outputs = classifier
    fresh = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).double()
    selector = calibrate(outputs, score="geometric_margin", coverage=0.6)
    selective = SelectiveModel(fresh, selector, head="2")
    selective(x[:5].double())
    trained = copy.deepcopy(network).double()
    expected = SelectiveModel(trained, selector)(x.double()).confidence

    def replaced():
        fresh[2].weight = torch.nn.Parameter(trained[2].weight.detach().clone())

    def by_data():
        fresh[2].weight.data = trained[2].weight.detach().clone()

    for change in (
        lambda: fresh.load_state_dict(trained.state_dict()),
        lambda: fresh.load_state_dict(trained.state_dict(), assign=True),
        replaced,
        by_data,
    ):
        change()
        torch.testing.assert_close(selective(x.double()).confidence, expected)
        fresh[2].weight.data = fresh[2].weight.data * 3 + 1
        assert not torch.allclose(selective(x.double()).confidence, expected)


def test_a_bias_that_changes_is_read_again(classifier):
    network, x, outputs = classifier
    network = copy.deepcopy(network)
    selective = SelectiveModel(network, calibrate(outputs, score="ash", coverage=0.6))
    before = selective(x[:20]).confidence
    network[2].bias.data += 7
    torch.testing.assert_close(selective(x[:20]).confidence, before + 7)  # an energy moves with its logits
    network[2].bias.data[:] = 0
    expected = selective(x[:20]).confidence
    network[2].bias = None
    torch.testing.assert_close(selective(x[:20]).confidence, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("score", ["confidence_margin", "geometric_margin", "knn"])
def test_it_can_be_compiled_and_served_in_inference_mode(classifier, score):
    network, x, outputs = classifier
    selector = calibrate(outputs, score=score, coverage=0.6)
    expected = SelectiveModel(network, selector)(x[:20]).confidence
    compiled = torch.compile(SelectiveModel(network, selector), backend="eager")
    for _ in range(2):
        torch.testing.assert_close(compiled(x[:20]).confidence, expected)
    with torch.inference_mode():
        served = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
        served.load_state_dict(network.state_dict())
        torch.testing.assert_close(SelectiveModel(served, selector)(x[:20]).confidence, expected)
    if score == "confidence_margin":
        strict = torch.export.export(SelectiveModel(network, selector), (x[:20],), strict=True).module()
        torch.testing.assert_close(strict(x[:20])[1], expected)


def test_a_head_that_runs_on_crops_is_refused(classifier):
    network, x, outputs = classifier

    class Crops(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.fc = network[:2], network[2]

        def forward(self, v):
            return self.fc(self.body(torch.cat([v, v]))).reshape(2, len(v), -1).mean(0)

    selector = calibrate(outputs, score="knn", coverage=0.6)
    for n in (1, 6):
        with pytest.raises(ValueError, match=f"features \\(n, d\\) of {n} samples"):
            SelectiveModel(Crops(), selector, head="fc")(x[:n])


def test_a_model_that_does_not_fit_is_named(classifier):
    network, x, outputs = classifier
    knn, margin = (calibrate(outputs, score=score, coverage=0.6) for score in ("knn", "confidence_margin"))
    seven = torch.nn.Linear(6, 7)
    for call, error, message in (
        (lambda: SelectiveModel(seven, margin)(x), ValueError, r"must give logits \(n, 4\), as in calibration, got"),
        (lambda: SelectiveModel(network, margin)(x[0]), ValueError, r"must give logits \(n, 4\)"),
        (lambda: SelectiveModel(network, knn, head="1"), TypeError, "must name a Linear layer, got ReLU"),
        (lambda: SelectiveModel(network, knn, head="9"), ValueError, "must name a layer of the module, got '9'"),
        (lambda: SelectiveModel(torch.nn.Conv1d(6, 4, 1), knn)(x[:, :, None]), ValueError, "must"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_a_head_called_by_name_is_caught(classifier):
    network, x, outputs = classifier

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.fc = network[:2], network[2]

        def forward(self, v):
            return self.fc(input=self.body(v))

    selector = calibrate(outputs, score="knn", coverage=0.6)
    expected = SelectiveModel(network, selector)(x[:20]).confidence
    torch.testing.assert_close(SelectiveModel(Named(), selector, head="fc")(x[:20]).confidence, expected)
    torch.testing.assert_close(SelectiveModel(Named(), selector)(x[:20]).confidence, expected)


def test_nan_is_never_accepted(classifier):
    network, x, outputs = classifier
    broken = x[:4].clone()
    broken[2] = torch.nan
    for score in ("energy", "knn"):
        selective = SelectiveModel(network, calibrate(outputs, score=score, coverage=0.9))
        assert not selective(broken).accepted[2]
        assert selective(broken).prediction[2] == -1


class Both(torch.nn.Module):
    """Two inputs by name, one of them optional."""

    def __init__(self, network):
        super().__init__()
        self.body, self.fc = network[:2], network[2]

    def forward(self, pixels, mask=None):
        return self.fc(self.body(pixels if mask is None else pixels * mask))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("score", ["confidence_margin", "knn"])
def test_shapes_of_an_export_are_told_as_for_the_model(classifier, score):
    network, x, outputs = classifier
    selective = SelectiveModel(Both(network), calibrate(outputs, score=score, coverage=0.6), head="fc").eval()
    mask, batch = torch.ones_like(x), {0: torch.export.Dim("batch")}
    for args, named, shapes in (
        ((x[:8],), {}, (batch,)),
        ((x[:8],), {}, {"pixels": batch}),
        ((x[:8], mask[:8]), {}, (batch, batch)),
        ((x[:8],), {"mask": mask[:8]}, {"pixels": batch, "mask": batch}),
        ((), {"pixels": x[:8], "mask": mask[:8]}, {"pixels": {0: torch.export.Dim.AUTO}, "mask": batch}),
    ):
        again = torch.export.export(selective, args, named, dynamic_shapes=shapes).module()
        call = (x[:30], mask[:30])[: len(args)]
        keywords = {name: (x if name == "pixels" else mask)[:30] for name in named}
        for made, expected in zip(again(*call, **keywords), selective(x[:30]), strict=True):
            torch.testing.assert_close(made, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("score", ["confidence_margin", "geometric_margin"])
def test_it_goes_to_onnx_by_torch_and_leaves_the_mode_alone(classifier, score, tmp_path):
    network, x, outputs = classifier
    selective = SelectiveModel(copy.deepcopy(network).eval(), calibrate(outputs, score=score, coverage=0.6))
    expected = selective(x[:30])
    file = tmp_path / "net.onnx"
    shapes = ({0: torch.export.Dim("batch")},)
    torch.onnx.export(selective, (x[:8],), file, dynamo=True, dynamic_shapes=shapes, verbose=False)
    assert not selective.model.training
    session = InferenceSession(file)
    made = session.run(None, {session.get_inputs()[0].name: x[:30].numpy()})
    for each, other in zip(made, expected, strict=True):
        np.testing.assert_allclose(each, other.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert [len(part) for part in session.run(None, {session.get_inputs()[0].name: x[:0].numpy()})] == [0, 0, 0]


@pytest.mark.parametrize("training", [False, True])
def test_the_model_keeps_its_mode(classifier, training):
    network, x, outputs = classifier
    network = torch.nn.Sequential(*copy.deepcopy(network)[:2], torch.nn.Dropout(0.5), copy.deepcopy(network)[2])
    network.train(training)
    selective = SelectiveModel(network, calibrate(outputs, score="knn", coverage=0.6))
    selective(x[:5])
    assert network.training == selective.training == training
    torch.manual_seed(0)
    assert torch.equal(selective(x[:5]).confidence, selective(x[:5]).confidence) == (not training)
    assert not selective.eval().model.training


@pytest.mark.parametrize("score", SCORES)
def test_no_rows_are_decided_at_once(classifier, score):
    network, x, outputs = classifier
    selective = SelectiveModel(network, calibrate(outputs, score=score, coverage=0.6))
    some = SelectiveModel(network, selective.selector)(x[:3])
    for _ in range(2):  # before the head is known, and after
        nothing = selective(x[:0])
        assert [part.shape for part in nothing] == [(0,)] * 3
        assert [part.dtype for part in nothing] == [part.dtype for part in some]
        torch.testing.assert_close(selective(x[:3]).confidence, some.confidence)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_trace_warns_of_nothing(classifier):
    network, x, outputs = classifier
    selective = SelectiveModel(network, calibrate(outputs, coverage=0.6)).eval()
    torch.jit.trace(selective, x[:8])  # a warning would be an error


def test_a_model_in_training_mode_warns_once(classifier):
    network, x, outputs = classifier
    model = torch.nn.Sequential(network, torch.nn.Dropout())
    selective = SelectiveModel(model, calibrate(outputs, score="max_softmax", coverage=0.6))
    with pytest.warns(UserWarning, match=r"`model` is in training mode: .* Call \.eval\(\) first"):
        selective(x[:5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selective(x[:5])
        SelectiveModel(model, selective.selector).eval()(x[:5])
    model.train()


def test_a_hook_of_a_collected_model_is_called_without_named_arguments(digits):
    model, selector = torch.nn.Sequential(torch.nn.Linear(4, 8)).eval(), calibrate(digits, Risk(0.05))
    first = SelectiveModel(model, selector, head="0")
    handle = next(iter(model[0]._forward_pre_hooks))
    model[0]._forward_pre_hooks_with_kwargs.pop(handle)  # as torch does first where `first` is collected while it runs
    assert first(torch.ones(2, 4)).prediction.shape == (2,)
