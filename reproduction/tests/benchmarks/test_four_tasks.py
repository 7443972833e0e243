"""From a checkpoint to table.tex for all four tasks, in the layouts of the data and of the checkpoints."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from abstain._extras import repair_torchvision
from abstain.cli.app import app
from abstain.outputs import Outputs
from abstain_reproduction.benchmarks.tasks import IMAGENET
from abstain_reproduction.experiment import Setting
from abstain_reproduction.paper.run_record import RunRecord
from abstain_reproduction.paper.score_claims import PAPER_SCORES
from abstain_reproduction.registry import EXPERIMENTS

repair_torchvision()
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
    return experiment.run(replace(setting, folder=experiment.run_folder(setting)))


def lines_of(file):
    return [line for line in file.read_text().splitlines() if line.endswith(r"\\") and line[0] in "$SEKV"]


SIBLINGS = {  # small networks of the same classes of timm: Eva, ConvNeXt, ResNet, VOLO
    "eva": "eva02_tiny_patch14_336",
    "convnext": "convnextv2_atto",
    "resnext": "seresnext26d_32x4d",
    "volo": "volo_d1_224",
}
TEST_NETWORKS = dict.fromkeys(SIBLINGS, "test_vit")


def tiny_timm(cards, root, monkeypatch, names=TEST_NETWORKS):
    """The four cards, each a random small network of timm, with its weights in models/."""
    import timm
    from safetensors.torch import save_file

    (root / "models").mkdir(exist_ok=True)
    for seed, (name, timm_name) in enumerate(names.items()):
        torch.manual_seed(seed)
        network = timm.create_model(timm_name, pretrained=False)
        save_file(network.state_dict(), root / "models" / f"{name}.safetensors")
        card = cards[name]
        monkeypatch.setitem(cards, name, type(card)(card.title, card.accuracy, timm_name))


def test_imagenet_with_four_models_side_by_side(imagenet_c, tmp_path, monkeypatch):
    tiny_timm(IMAGENET.cards, imagenet_c, monkeypatch)
    findings_folder = tmp_path / "found"
    for model in ("eva", "convnext", "resnext", "volo"):
        without_figures("imagenet", findings_folder, data=imagenet_c, model=model, limit=4)
    tables = {folder.name: (folder / "table.tex").read_text() for folder in sorted(findings_folder.iterdir())}
    assert list(tables) == [f"imagenet-{model}-4" for model in ("convnext", "eva", "resnext", "volo")]
    assert len(set(tables.values())) == 4  # none was overwritten
    findings = without_figures("paper", findings_folder, limit=4)
    assert "From 4 of 8 runs: table-3.tex, table-8.tex, figure-4, figure-9" in findings.words
    assert len(lines_of(findings_folder / "paper" / "table-3.tex")) == 10
    assert len(lines_of(findings_folder / "paper" / "table-8.tex")) == 30
    assert len(findings.figures["figure-4"]().axes) == 4
    assert [axes.get_title() for axes in findings.figures["figure-9"]().axes][::4] == [
        "ImageNet - ConvNext\nIn-D", "ImageNet - ResNext\nIn-D", "ImageNet - VOLO\nIn-D",
    ]  # fmt: skip
    eva = lines_of(findings_folder / "imagenet-eva-4" / "table.tex")
    assert lines_of(findings_folder / "paper" / "table-3.tex") == eva


@pytest.mark.thorough
@pytest.mark.parametrize("model", SIBLINGS)
def test_imagenet_with_the_classes_of_the_papers_models(model, imagenet_c, tmp_path, monkeypatch):
    import timm

    real = IMAGENET.cards[model].timm.partition(".")[0]
    with torch.device("meta"):
        expected = type(timm.create_model(real, pretrained=False))
    assert type(timm.create_model(SIBLINGS[model], pretrained=False)) is expected
    tiny_timm(IMAGENET.cards, imagenet_c, monkeypatch, {model: SIBLINGS[model]})
    findings = without_figures("imagenet", tmp_path / "found", data=imagenet_c, model=model, limit=2)
    assert len(lines_of(tmp_path / "found" / f"imagenet-{model}-2" / "table.tex")) == 7  # two rows fit nothing
    assert ("does NOT make the logits" in findings.words) == (model == "volo")  # which adds a second head's maximum


def test_cifar_with_a_selective_net_that_was_trained_here(cifar, tmp_path):
    from abstain_reproduction.train.recipe import Recipe
    from abstain_reproduction.train.selective_net import Selective
    from abstain_reproduction.train.training import train

    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(40, 32, 32, 3), dtype=np.uint8)
    options = {"channels": 3, "side": 32, "width": 8}
    recipe = Recipe(body="small_cnn", options=options, objective=Selective(), epochs=1, batch_size=20)
    (cifar / "models").mkdir()
    network = train(recipe, images, np.arange(40) % 10, cifar / "models" / "scnet.safetensors")
    findings = without_figures("cifar", tmp_path / "found", data=cifar)
    assert {row["score"] for row in findings.numbers["table"]} == {*PAPER_SCORES, "selection_head"}
    run_folder = tmp_path / "found" / "cifar-scnet"
    assert any(line.startswith("ScNet & ") for line in lines_of(run_folder / "table.tex"))
    panels = findings.figures["figure-6"]().axes
    assert [axes.get_title().split("\n")[1] for axes in panels] == ["In-D", "In-D + Shift (both)", "In-D + Shift (Cov)"]
    assert "ScNet" in panels[0].get_legend_handles_labels()[1]
    claims = {verdict.claim for verdict in findings.verdicts}
    assert claims >= {"scnet-cifar", "scnet-imagenet", "scnet-not-best"}
    curves = {(curve.score, curve.mix) for curve in RunRecord.load(run_folder).curves}
    assert {("selection_head", mix) for mix in ("in", "all", "in+cov")} <= curves
    # the confidence is that of the network's own head on the same images
    from abstain_reproduction.benchmarks import cifar_data
    from abstain_reproduction.benchmarks.scnet_model import TrainedModel
    from abstain_reproduction.train.predict import predict

    clean = cifar_data.parts(cifar, None, 0)[0]
    expected = predict(network, np.stack([clean[row] for row in range(len(clean))]))
    collected = Outputs.load(run_folder / "outputs-scnet")
    own = TrainedModel(cifar / "models" / "scnet.safetensors").with_own_confidence(collected)
    np.testing.assert_allclose(own.confidences[:20, 0], expected.confidences[:, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(own.logits[:20], expected.logits, rtol=1e-4, atol=1e-5)
    file = cifar / "models" / "scnet.safetensors"
    assert without_figures("cifar", tmp_path, data=cifar, model=str(file)).numbers["table"] == findings.numbers["table"]


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["cifar", "imagenet"])
def test_the_papers_selective_nets(task, request, tmp_path):
    """VGG-16 and ResNet-34 of App. F after one step, with too few rows to fit SIRC."""
    from abstain_reproduction.train import paper
    from abstain_reproduction.train.training import train

    recipe, side, data = {"cifar": (paper.CIFAR10, 32, "cifar"), "imagenet": (paper.IMAGENET, 256, "imagenet_c")}[task]
    root = request.getfixturevalue(data)
    (root / "models").mkdir()
    images = np.random.default_rng(0).integers(0, 256, size=(4, side, side, 3), dtype=np.uint8)
    recipe = replace(recipe, epochs=1, batch_size=4)
    train(recipe, images, np.arange(4), root / "models" / "scnet.safetensors")
    findings = without_figures(task, tmp_path / "found", data=root, model="scnet", limit=1)
    assert "does NOT make" not in findings.words
    assert any(line.startswith("ScNet & ") for line in lines_of(tmp_path / "found" / f"{task}-scnet-1" / "table.tex"))
    assert "scnet-not-best" not in {verdict.claim for verdict in findings.verdicts}  # it speaks of SIRC
    assert Outputs.load(tmp_path / "found" / f"{task}-scnet-1" / "outputs-scnet-1").logits.shape == (21, recipe.classes)


def test_iwildcam_with_flyp(iwildcam, flyp, run_script, tmp_path):
    repository, _, _ = flyp(quick=True)
    output = iwildcam / "models" / "flyp.safetensors"
    run_script("export-flyp", repository / "checkpoint_1.pt", "-o", output, "--repository", repository)
    findings = without_figures("iwildcam", tmp_path / "found", data=iwildcam)
    assert "does NOT make" not in findings.words
    text = (tmp_path / "found" / "iwildcam-flyp" / "table.tex").read_text()
    assert r"\texttt{iWildCam} - FLYP" in text
    assert "--" not in "".join(lines_of(tmp_path / "found" / "iwildcam-flyp" / "table.tex"))


def test_amazon_with_lisa(amazon, lisa, run_script, tmp_path):
    checkpoint, tokenizer, _ = lisa
    output = amazon / "models" / "lisa"
    run_script("export-lisa", checkpoint, "-o", output, "--tokenizer", tokenizer, "--heads", 2)
    printed = reproduce("amazon", "--data", amazon, folder=tmp_path / "found")
    assert "does NOT make" not in printed["words"]
    assert len(lines_of(tmp_path / "found" / "amazon-lisa" / "table.tex")) == 10
    assert (tmp_path / "found" / "amazon-lisa" / "risk-coverage.pdf").exists()
    assembled = without_figures("paper", tmp_path / "found")
    assert "From 1 of 8 runs: table-4.tex, figure-5" in assembled.words
    assert "Not run yet: imagenet eva, iwildcam flyp" in assembled.words


def test_appendix_c_is_one_command(imagenet, tmp_path, monkeypatch):
    tiny_timm(IMAGENET.cards, imagenet, monkeypatch)
    (imagenet / "openimage_o").rename(imagenet / "imagenet-o")
    findings = without_figures("imagenet-o", tmp_path / "found", data=imagenet, limit=8)
    assert set(findings.numbers["vim"]) == {"AUROC", "AUPR", "FPR@TPR=0.95"}
    (table,) = findings.tables
    assert table.rows[0][0] == "AUROC (↑)"
    assert table.rows[0][3:] == ("0.765", "**0.944**")  # the paper's
    assert table.rows[2][3:] == ("0.816", "**0.279**")  # the lower is the better
    assert len(findings.figures["figure-7"]().axes) == 3


def test_nothing_to_assemble_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must hold a run of a model of the paper \(imagenet-eva, .* got none"):
        without_figures("paper", tmp_path)
