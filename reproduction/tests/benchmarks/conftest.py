"""Small data in the layouts that the authors of the paper's data sets publish, and small models that learn nothing."""

import csv
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

SYNSETS = ("n01440764", "n01443537", "n01484850")
CORRUPTIONS = (  # as ImageNet-C and CIFAR-10-C name them
    "gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "defocus_blur", "glass_blur", "motion_blur",
    "zoom_blur", "gaussian_blur", "snow", "frost", "fog", "brightness", "contrast", "elastic_transform", "pixelate",
    "jpeg_compression", "spatter", "saturate",
)  # fmt: skip


def picture(file, number, *, kind=0, side=40):
    """An image whose colour tells its class, more or less."""
    rng = np.random.default_rng(number)
    pixels = rng.integers(0, 120, size=(side, side + 8, 3))
    pixels[..., kind % 3] += rng.integers(0, 130)
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(file)


@pytest.fixture
def imagenet(tmp_path):
    """Validation images by synset, and OpenImage-O with its list."""
    root = tmp_path / "data"
    for number in range(24):
        picture(root / "val" / SYNSETS[number % 3] / f"ILSVRC2012_val_{number + 1:08d}.JPEG", number, kind=number % 3)
    for number in range(9):
        picture(root / "openimage_o" / "images" / f"{number:016x}.jpg", 100 + number, kind=number)
    listed = [f"openimage_o/images/{number:016x}.jpg -1" for number in range(8)]
    (root / "openimage_o.txt").write_text("\n".join(listed) + "\n")
    (root / "LOC_synset_mapping.txt").write_text("".join(f"{name} a thing, another name\n" for name in SYNSETS))
    return root


@pytest.fixture
def imagenet_c(imagenet):
    """The same with ImageNet-C, as its archives unpack: with a folder above for some corruptions."""
    for corruption in CORRUPTIONS:
        above = "digital/" if corruption in ("contrast", "jpeg_compression") else ""
        for number in range(24):
            file = f"{above}{corruption}/3/{SYNSETS[number % 3]}/ILSVRC2012_val_{number + 1:08d}.JPEG"
            picture(imagenet / "imagenet-c" / file, number, kind=number % 3, side=24)
    return imagenet


@pytest.fixture
def iwildcam(tmp_path):
    """A root of WILDS with iWildCam."""
    root = tmp_path / "data"
    folder = root / "iwildcam_v2.0"
    rows = []
    for number in range(60):
        split = ("train", "val", "test", "id_val", "id_test")[number % 5]
        rows.append((split, number % 4, number // 3, f"image-{number}.jpg", number % 3, "2013-06-05 05:44:19.000"))
        picture(folder / "train" / f"image-{number}.jpg", number, kind=number % 3)
    write_csv(
        folder / "metadata.csv", ("split", "location_remapped", "sequence_remapped", "filename", "y", "datetime"), rows
    )
    return root


@pytest.fixture
def amazon(tmp_path):
    """A root of WILDS with Amazon: reviews with commas, quotes and line breaks."""
    root = tmp_path / "data"
    folder = root / "amazon_v2.1"
    rng = np.random.default_rng(0)
    reviews, splits = [], []
    for number in range(120):
        stars = int(rng.integers(1, 6))
        text = f'It "is" {"good, " * stars}\nreally.{" bad" * int(rng.integers(0, 3))}'
        reviews.append((float(stars), f"user{number // 4}", "asin", text, "Books", 2013))
        splits.append((number % 6 - 1,))  # −1 is not in the data set
    write_csv(
        folder / "reviews.csv", ("overall", "reviewerID", "asin", "reviewText", "category", "reviewYear"), reviews
    )
    write_csv(folder / "splits" / "user.csv", ("split",), splits)
    return root


@pytest.fixture
def cifar(tmp_path):
    """CIFAR-10 and CIFAR-100 in their binary versions, and CIFAR-10-C."""
    root = tmp_path / "data"
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(20, 3, 32, 32), dtype=np.uint8)
    labels = (np.arange(20) % 10).astype(np.uint8)
    (root / "cifar-10-batches-bin").mkdir(parents=True)
    np.hstack([labels[:, None], images.reshape(20, -1)]).tofile(root / "cifar-10-batches-bin" / "test_batch.bin")
    (root / "cifar-100-binary").mkdir()
    rows = rng.integers(0, 256, size=(12, 2 + 3072), dtype=np.uint8)
    rows.tofile(root / "cifar-100-binary" / "test.bin")
    folder = root / "CIFAR-10-C"
    folder.mkdir()
    np.save(folder / "labels.npy", np.tile(labels, 5))
    for name in CORRUPTIONS:
        copies = [np.clip(images.transpose(0, 2, 3, 1) / s, 0, 255).astype(np.uint8) for s in range(1, 6)]
        np.save(folder / f"{name}.npy", np.concatenate(copies))
    return root


def write_csv(file, columns, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        writer.writerows(rows)


@pytest.fixture
def networks(tmp_path, monkeypatch):
    """A module of small models, in the current folder, as `--model torch:small_networks:NAME` finds it."""
    (tmp_path / "small_networks.py").write_text(
        """
import numpy as np
import torch

from abstain.collect import CallableModel, Model


def network(classes, side):
    torch.manual_seed(0)
    pooled = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten())
    return torch.nn.Sequential(pooled, torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, classes))


def three():
    return network(3, 224)


def ten():
    return network(10, 32)


class Stars(Model):
    name = "stars"
    weight = np.random.default_rng(0).normal(size=(5, 6))

    def run(self, texts):
        features = np.array([[text.count(w) for w in ("good", "bad", "is", " ", "\\n", "y")] for text in texts], float)
        return features @ self.weight.T, features

    def head(self):
        return self.weight, np.zeros(5)


def stars():
    return Stars()
"""
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


FLYP_MODELING = """
import torch


class CLIPEncoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images, text=None):
        return self.model.encode_image(images)


class ClassificationHead(torch.nn.Linear):
    def __init__(self, normalize, weights):
        super().__init__(weights.shape[1], weights.shape[0])
        self.normalize = normalize
        self.weight = torch.nn.Parameter(weights.clone())
        self.bias = torch.nn.Parameter(torch.zeros(len(weights)))

    def forward(self, inputs):
        return super().forward(inputs / inputs.norm(dim=-1, keepdim=True) if self.normalize else inputs)
"""
FLYP_ZEROSHOT = """
import torch

from src.models.modeling import ClassificationHead


def get_zeroshot_classifier(args, clip_model):
    assert (args.template, args.train_dataset, args.device) == ("iwildcam_template", "IWildCamIDVal", "cpu")
    tokens = torch.arange(5 * 8).reshape(5, 8) % 16
    with torch.no_grad():
        names = clip_model.encode_text(tokens)
        weights = names / names.norm(dim=-1, keepdim=True) * clip_model.logit_scale.exp()
    return ClassificationHead(True, weights)
"""


@pytest.fixture
def run_script(monkeypatch, capsys):
    """A script of the repository with arguments, as `python scripts/NAME …`, but without loading torch again."""

    def run(name, *arguments):
        script = Path(__file__).parents[3] / "scripts" / name
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [str(script), *map(str, arguments)])
            patch.setattr(sys, "path", list(sys.path))
            runpy.run_path(str(script), run_name="__main__")
        forget_flyp()
        return capsys.readouterr().out

    return run


def forget_flyp():
    for name in [name for name in sys.modules if name == "src" or name.startswith("src.")]:
        del sys.modules[name]


@pytest.fixture
def flyp(tmp_path):
    """FLYP's folder with a checkpoint as it pickles one: its encoder around a CLIP of open_clip, random and small."""
    import importlib
    import pickle

    import torch
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    def make(*, quick):
        repository = tmp_path / "FLYP"
        (repository / "src" / "models").mkdir(parents=True, exist_ok=True)
        (repository / "src" / "models" / "modeling.py").write_text(FLYP_MODELING)
        (repository / "src" / "models" / "zeroshot.py").write_text(FLYP_ZEROSHOT)
        torch.manual_seed(0)
        vision = CLIPVisionCfg(layers=2, width=32, head_width=16, patch_size=8, image_size=32)
        text = CLIPTextCfg(context_length=8, vocab_size=16, width=16, heads=2, layers=1)
        clip = CLIP(12, vision, text, quick_gelu=quick).eval()
        sys.path.insert(0, str(repository))
        try:
            modeling = importlib.import_module("src.models.modeling")
            zeroshot = importlib.import_module("src.models.zeroshot")
            encoder = modeling.CLIPEncoder(clip)
            arguments = type("Arguments", (), {"template": "iwildcam_template", "train_dataset": "IWildCamIDVal"})
            arguments.device = "cpu"
            head = zeroshot.get_zeroshot_classifier(arguments, clip)
            with open(repository / "checkpoint_1.pt", "wb") as stream:
                pickle.dump(encoder, stream)
        finally:
            sys.path.remove(str(repository))
            forget_flyp()
        return repository, encoder, head

    return make


@pytest.fixture
def lisa(tmp_path):
    """LISA's model.rar, a small random DistilBERT with a linear layer, its tokenizer, and the classifier itself."""
    import torch
    import transformers

    class Featurizer(transformers.DistilBertModel):
        def __call__(self, x):
            return super().__call__(input_ids=x[:, :, 0], attention_mask=x[:, :, 1])[0][:, 0]

    class Classifier(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.model = torch.nn.Sequential(Featurizer(config), torch.nn.Linear(config.dim, 5))

        def forward(self, x):
            return self.model(x)

    torch.manual_seed(0)
    shape = {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 12, "max_position_embeddings": 16}
    classifier = Classifier(transformers.DistilBertConfig(vocab_size=10, **shape)).eval()
    torch.save(classifier.state_dict(), tmp_path / "model.rar")
    tokenizer_folder = tmp_path / "tokenizer"
    tokenizer_folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "it", "is", "good", "bad", "really"]
    (tokenizer_folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(str(tokenizer_folder / "vocab.txt"), model_max_length=16).save_pretrained(
        tokenizer_folder
    )
    return tmp_path / "model.rar", tokenizer_folder, classifier
