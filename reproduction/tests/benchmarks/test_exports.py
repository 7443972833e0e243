"""FLYP and LISA: from checkpoints as their repositories write them to what `reproduce` loads."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain._extras import repair_torchvision

repair_torchvision()
torch = pytest.importorskip("torch")
open_clip = pytest.importorskip("open_clip.model")
transformers = pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from abstain.collect import collect  # noqa: E402
from abstain.collect.data import Data  # noqa: E402
from abstain_reproduction.benchmarks.clip_classifier import clip_model  # noqa: E402
from abstain_reproduction.benchmarks.lisa_model import is_lisa, lisa_model  # noqa: E402
from abstain_reproduction.benchmarks.pixels import CLIP  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("quick", [True, False], ids=["quick_gelu", "gelu"])
def test_flyp_gives_the_logits_of_its_own_classes(flyp, quick, run_script, tmp_path):
    repository, encoder, head = flyp(quick=quick)
    output = tmp_path / "models" / "flyp.safetensors"
    printed = run_script("export-flyp", repository / "checkpoint_1.pt", "-o", output, "--repository", repository)
    assert "5 classes" in printed
    model = clip_model(output, pixels=CLIP, device="cpu")
    images = [np.random.default_rng(k).integers(0, 256, size=(40, 50, 3), dtype=np.uint8) for k in range(4)]
    logits, features = model(images)
    with torch.inference_mode():
        expected = head(encoder.model.encode_image(torch.as_tensor(CLIP.sized(32)(images)))).numpy()
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, rtol=1e-5)  # normalised before the head
    weight, bias = model.head()
    np.testing.assert_allclose(features @ weight.T + bias, logits, rtol=1e-4, atol=1e-4)


def test_a_head_that_normalises_inside_does_not_pass_for_a_linear_layer(flyp, tmp_path):
    from abstain_reproduction.benchmarks.benchmark import head_words

    _, encoder, head = flyp(quick=True)

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model, self.head = encoder.model, head

        def forward(self, images):
            return self.head(self.model.encode_image(images))

    images = np.random.default_rng(0).normal(size=(6, 3, 32, 32)).astype(np.float32)
    outputs = collect(Whole(), Data(images, labels=np.arange(6) % 5), tmp_path / "run")
    (words,) = head_words(outputs)
    assert "does NOT make the logits" in words
    assert "these four rows are not the paper's; the six other scores use the logits alone and stand" in words


def test_an_export_that_is_built_otherwise_is_noticed(flyp, run_script, tmp_path):
    repository, _, _ = flyp(quick=True)
    output = tmp_path / "flyp.safetensors"
    run_script("export-flyp", repository / "checkpoint_1.pt", "-o", output, "--repository", repository)
    header = '{"kind": "clip-classifier", "heads": 2, "activation": "gelu", "normalize": true}'
    save_file(load_file(output), output, metadata={"abstain": header})
    with pytest.raises(ValueError, match="must give the original's logits on its trial input, got a difference"):
        clip_model(output, pixels=CLIP, device="cpu")
    save_file(load_file(output), output)
    with pytest.raises(ValueError, match="must be an export that scripts/export-flyp wrote, got other tensors"):
        clip_model(output, pixels=CLIP, device="cpu")


def test_lisa_is_the_first_token_and_a_linear_layer(lisa, run_script, tmp_path):
    checkpoint, tokenizer, classifier = lisa
    output = tmp_path / "models" / "lisa"
    run_script("export-lisa", checkpoint, "-o", output, "--tokenizer", tokenizer, "--heads", 2)
    assert is_lisa(output)
    model = lisa_model(output, device="cpu")
    texts = ["it is good", "bad", "really good good good"]
    logits, features = model(texts)
    own = transformers.AutoTokenizer.from_pretrained(tokenizer)
    tokens = own(texts, return_tensors="pt", padding="max_length", truncation=True, max_length=16)
    with torch.inference_mode():  # stacked, as LISA's featurizer takes them
        stacked = torch.stack([tokens["input_ids"], tokens["attention_mask"]], dim=2)
        expected = classifier(stacked).numpy()
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-5)
    weight, bias = model.head()
    np.testing.assert_allclose(features @ weight.T + bias, logits, rtol=1e-4, atol=1e-5)


def test_a_pickle_is_never_read_by_the_package():
    """Compiled kernels in the user's own folder, and what workers hand to their own process, are the exceptions."""
    sources = Path(abstain.__file__).parent.rglob("*.py")
    reading = {file.name for file in sources if re.search("pickle.load|import pickle", file.read_text())}
    assert reading == {"cache.py", "reader.py"}


def test_the_fake_checkpoint_is_one_that_only_the_repository_can_unpickle(flyp):
    repository, _, _ = flyp(quick=True)
    with pytest.raises(ModuleNotFoundError, match="src"), open(repository / "checkpoint_1.pt", "rb") as stream:
        pickle.load(stream)
