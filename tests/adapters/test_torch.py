import numpy as np
import pytest
import torch

from abstain import calibrate
from abstain.collect import Data, TorchModel, collect
from abstain.scores import SCORES
from abstain.torch import SelectiveModel


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("way", ["export", "trace"])
def test_it_can_be_exported_and_traced_to_torchscript(classifier, score, way, tmp_path):
    network, x, outputs = classifier
    selective = SelectiveModel(network, calibrate(outputs, score=score, coverage=0.6)).eval()
    expected = selective(x[:50])
    if way == "export":
        batch = torch.export.Dim("batch", min=2, max=1000)
        shapes = {"inputs": ({0: batch},)}
        program = torch.export.export(selective, (x[:8],), dynamic_shapes=shapes)
        torch.export.save(program, tmp_path / "net.pt2")
        again = torch.export.load(tmp_path / "net.pt2").module()
    else:
        torch.jit.trace(selective, x[:8]).save(tmp_path / "net.pt")
        again = torch.jit.load(tmp_path / "net.pt")
    for a, b in zip(again(x[:50]), expected, strict=True):
        torch.testing.assert_close(a, b)


def test_nan_is_never_accepted(classifier):
    network, x, outputs = classifier
    broken = x[:4].clone()
    broken[2] = torch.nan
    for score in ("energy", "knn"):
        selective = SelectiveModel(network, calibrate(outputs, score=score, coverage=0.9))
        assert not selective(broken).accepted[2]
