"""From a checkpoint to table.tex for all four tasks, in the layouts of the data and of the checkpoints."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from abstain.cli.app import app
from abstain.collect.torchvision import mend_torchvision
from abstain.experiments.benchmarks.tasks import IMAGENET
from abstain.experiments.experiment import Setting
from abstain.experiments.paper.run_record import RunRecord
from abstain.experiments.paper.score_claims import PAPER_SCORES
from abstain.experiments.registry import EXPERIMENTS

mend_torchvision()
torch = pytest.importorskip("torch")
pytest.importorskip("open_clip.model")
pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")


def reproduce(name, *options, folder):
    run = CliRunner().invoke(app, ["reproduce", name, "--folder", str(folder), "--json", *map(str, options)])
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


def without_figures(name, folder, **options):
    """The same without the seconds that figures take."""
    setting = Setting(folder=folder, **options)
    experiment = EXPERIMENTS[name]
    return experiment.run(replace(setting, folder=experiment.place(setting)))


def lines_of(file):
    return [line for line in file.read_text().splitlines() if line.endswith(r"\\") and line[0] in "$SEKV"]


def tiny_timm(cards, root, monkeypatch):
    """The four cards, each a random network of timm's own test classes, with its weights in models/."""
    import timm
    from safetensors.torch import save_file

    (root / "models").mkdir(exist_ok=True)
    for seed, name in enumerate(("eva", "convnext", "resnext", "volo")):
        torch.manual_seed(seed)
        network = timm.create_model("test_vit", pretrained=False)
        save_file(network.state_dict(), root / "models" / f"{name}.safetensors")
        card = cards[name]
        monkeypatch.setitem(cards, name, type(card)(card.title, card.accuracy, "test_vit"))


def test_imagenet_with_four_models_side_by_side(imagenet_c, tmp_path, monkeypatch):
    tiny_timm(IMAGENET.cards, imagenet_c, monkeypatch)
    found = tmp_path / "found"
    for model in ("eva", "convnext", "resnext", "volo"):
        without_figures("imagenet", found, data=imagenet_c, model=model, limit=4)
    tables = {folder.name: (folder / "table.tex").read_text() for folder in sorted(found.iterdir())}
    assert list(tables) == [f"imagenet-{model}-4" for model in ("convnext", "eva", "resnext", "volo")]
    assert len(set(tables.values())) == 4  # none was overwritten
    told = reproduce("paper", "--limit", 4, folder=found)
    assert "From 4 of 8 runs: table-3.tex, table-8.tex, figure-4, figure-9" in told["words"]
    assert len(lines_of(found / "paper" / "table-3.tex")) == 10
    assert len(lines_of(found / "paper" / "table-8.tex")) == 30
    assert (found / "paper" / "figure-9.pdf").exists()
    eva = lines_of(found / "imagenet-eva-4" / "table.tex")
    assert lines_of(found / "paper" / "table-3.tex") == eva


def test_cifar_with_a_selective_net_that_was_trained_here(cifar, tmp_path):
    from abstain.train.recipe import Recipe
    from abstain.train.selective_net import Selective
    from abstain.train.training import train

    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(40, 32, 32, 3), dtype=np.uint8)
    options = {"channels": 3, "side": 32, "width": 8}
    recipe = Recipe(body="small_cnn", options=options, objective=Selective(), epochs=1, batch_size=20)
    (cifar / "models").mkdir()
    network = train(recipe, images, np.arange(40) % 10, cifar / "models" / "scnet.safetensors")
    told = reproduce("cifar", "--data", cifar, folder=tmp_path / "found")
    assert {row["score"] for row in told["table"]} == {*PAPER_SCORES, "selection_head"}
    place = tmp_path / "found" / "cifar-scnet"
    assert any(line.startswith("ScNet & ") for line in lines_of(place / "table.tex"))
    assert (place / "figure-6.png").exists()
    claims = {verdict["claim"] for verdict in told["verdicts"]}
    assert claims >= {"scnet-cifar", "scnet-imagenet", "scnet-not-best"}
    curves = {(curve.score, curve.mix) for curve in RunRecord.load(place).curves}
    assert {("selection_head", mix) for mix in ("in", "all", "in+cov")} <= curves
    # the confidence is that of the network's own head on the same images
    from abstain.experiments.benchmarks import cifar_data
    from abstain.experiments.benchmarks.scnet_model import TrainedModel
    from abstain.outputs import Outputs
    from abstain.train.predict import predict

    clean = cifar_data.parts(cifar, None, 0)[0]
    expected = predict(network, np.stack([clean[row] for row in range(len(clean))]))
    collected = Outputs.load(place / "outputs-scnet")
    own = TrainedModel(cifar / "models" / "scnet.safetensors").with_own_confidence(collected)
    np.testing.assert_allclose(own.given[:20, 0], expected.given[:, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(own.logits[:20], expected.logits, rtol=1e-4, atol=1e-5)
    file = cifar / "models" / "scnet.safetensors"
    assert without_figures("cifar", tmp_path, data=cifar, model=str(file)).numbers["table"] == told["table"]


def test_iwildcam_with_flyp(iwildcam, flyp, run_script, tmp_path):
    repository, _, _ = flyp(quick=True)
    output = iwildcam / "models" / "flyp.safetensors"
    run_script("export-flyp", repository / "checkpoint_1.pt", "-o", output, "--repository", repository)
    told = reproduce("iwildcam", "--data", iwildcam, folder=tmp_path / "found")
    assert "does NOT make" not in told["words"]
    text = (tmp_path / "found" / "iwildcam-flyp" / "table.tex").read_text()
    assert r"\texttt{iWildCam} - FLYP" in text
    assert "--" not in "".join(lines_of(tmp_path / "found" / "iwildcam-flyp" / "table.tex"))


def test_amazon_with_lisa(amazon, lisa, run_script, tmp_path):
    checkpoint, tokenizer, _ = lisa
    output = amazon / "models" / "lisa"
    run_script("export-lisa", checkpoint, "-o", output, "--tokenizer", tokenizer, "--heads", 2)
    told = reproduce("amazon", "--data", amazon, folder=tmp_path / "found")
    assert "does NOT make" not in told["words"]
    assert len(lines_of(tmp_path / "found" / "amazon-lisa" / "table.tex")) == 10
    assembled = reproduce("paper", folder=tmp_path / "found")
    assert "From 1 of 8 runs: table-4.tex, figure-5" in assembled["words"]
    assert "Not run yet: imagenet eva, iwildcam flyp" in assembled["words"]


def test_appendix_c_is_one_command(imagenet, tmp_path, monkeypatch):
    tiny_timm(IMAGENET.cards, imagenet, monkeypatch)
    (imagenet / "openimage_o").rename(imagenet / "imagenet-o")
    told = reproduce("imagenet-o", "--data", imagenet, "--limit", 8, folder=tmp_path / "found")
    assert set(told["vim"]) == {"AUROC", "AUPR", "FPR@TPR=0.95"}
    text = (tmp_path / "found" / "imagenet-o-eva-8" / "findings.md").read_text()
    assert "| AUROC (↑) |" in text
    assert "| 0.765 | **0.944** |" in text  # the paper's
    assert (tmp_path / "found" / "imagenet-o-eva-8" / "figure-7.png").exists()


def test_nothing_to_assemble_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold a run of a model of the paper \(imagenet-eva, .* got none"):
        without_figures("paper", tmp_path)
