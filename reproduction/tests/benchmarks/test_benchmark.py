"""The harness of the paper's tables end to end, on small data in the published layouts."""

import json
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import save_file
from typer.testing import CliRunner

from abstain._extras import repair_torchvision
from abstain.cli.app import app
from abstain.outputs import Outputs
from abstain.scores import GeometricMargin, as_score
from abstain_reproduction.benchmarks.tasks import AMAZON, CIFAR_10, IMAGENET, IWILDCAM
from abstain_reproduction.experiment import Setting
from abstain_reproduction.paper.score_claims import BY_THE_PAPER, PAPER_SCORES

MIXES = ["in", "in+cov", "in+label", "all"]


def graph(file, classes, *, side=32):
    """A small ONNX classifier of images of a fixed side, as an export of FLYP would be."""
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(3, classes)).astype(np.float32)
    nodes = [
        helper.make_node("GlobalAveragePool", ["pixels"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["features"]),
        helper.make_node("Gemm", ["features", "weight", "bias"], ["logits"]),
    ]
    made = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, side, side])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", classes])],
        [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(np.zeros(classes, np.float32), "bias")],
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), file)


@pytest.mark.usefixtures("networks")
def test_imagenet_with_a_model_of_ones_own(imagenet_c, tmp_path):
    setting = Setting(folder=tmp_path / "found", data=imagenet_c, model="torch:small_networks:three", limit=8)
    findings = IMAGENET.run(setting)
    assert findings.evaluation.mixes == MIXES
    assert set(findings.evaluation.scores) == {as_score(score).name for score in BY_THE_PAPER}
    assert GeometricMargin("top_two").name in findings.evaluation.scores  # the paper's eq. 11
    table, samples = findings.tables
    assert table.columns[:2] == ("score", "in α=0.1")
    assert len(table.rows) == 10
    assert sum(row[-1].startswith("**") for row in table.rows) >= 1
    assert [row[:1] + row[2:3] for row in samples.rows] == [("none", "8"), ("covariate", "152"), ("label", "8")]
    assert r"\toprule" in (tmp_path / "found" / "table.tex").read_text()
    assert {verdict.claim for verdict in findings.verdicts} >= {"label-shift-spike", "margins-best-all"}


@pytest.mark.filterwarnings("ignore")
def test_a_card_takes_its_weights_from_the_models_folder(imagenet_c, tmp_path, monkeypatch):
    repair_torchvision()
    import timm
    import torch

    torch.manual_seed(0)
    network = timm.create_model("test_resnet", pretrained=False)
    (imagenet_c / "models").mkdir()
    save_file(network.state_dict(), imagenet_c / "models" / "eva.safetensors")
    monkeypatch.setitem(IMAGENET.cards, "eva", type(IMAGENET.cards["eva"])("EVA", 88.76, "test_resnet"))
    findings = IMAGENET.run(Setting(folder=tmp_path / "found", data=imagenet_c, limit=2))
    _, paper_comparison, samples = findings.tables
    assert paper_comparison.rows[0][1].split(" / ")[1].startswith("0.16 (")  # RL_conf-M of EVA, in, α = 0.1
    assert samples.rows[0][-1] == "88.76"
    assert "At most 2 samples of each part: not comparable" in findings.words
    paper = IMAGENET.run(Setting(folder=tmp_path / "found", data=imagenet_c, limit=2, paper_code=True))
    assert "by the conventions of the authors' code" in paper.tables[0].title
    runs = {folder.name for folder in (tmp_path / "found").iterdir() if folder.is_dir()}
    assert runs == {"outputs-eva-2", "outputs-eva-2-paper-code"}
    ours, theirs = (Outputs.load(tmp_path / "found" / name).logits for name in sorted(runs))
    assert ours.shape == theirs.shape == (2 * 21, 1000)
    assert not np.allclose(ours, theirs)  # another preparation of the images


def test_iwildcam_with_an_exported_graph(iwildcam, tmp_path):
    graph(iwildcam / "models" / "flyp.onnx", 3)
    findings = IWILDCAM.run(Setting(folder=tmp_path / "found", data=iwildcam))
    assert findings.evaluation.mixes == ["in", "in+cov"]
    assert findings.tables[1].title.startswith("Ours / the paper's")
    assert findings.tables[1].columns[-1] == "in+cov α=1"
    assert "label-shift-spike" not in {verdict.claim for verdict in findings.verdicts}


@pytest.mark.usefixtures("networks")
def test_amazon_with_a_model_of_texts(amazon, tmp_path):
    findings = AMAZON.run(Setting(folder=tmp_path / "found", data=amazon, model="torch:small_networks:stars"))
    assert findings.evaluation.mixes == ["in", "in+cov"]
    assert len(findings.tables) == 2  # the paper has no such model to stand beside


@pytest.mark.filterwarnings("ignore")
def test_amazon_with_the_folder_of_a_transformer(amazon, tmp_path):
    repair_torchvision()
    import torch
    import transformers

    model_folder = amazon / "models" / "lisa"
    model_folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "it", "is", "good", "bad", "really"]
    (model_folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(str(model_folder / "vocab.txt"), model_max_length=16).save_pretrained(model_folder)
    torch.manual_seed(0)
    config = transformers.DistilBertConfig(vocab_size=10, dim=8, n_layers=1, n_heads=2, hidden_dim=8, num_labels=5)
    transformers.DistilBertForSequenceClassification(config).save_pretrained(model_folder)
    findings = AMAZON.run(Setting(folder=tmp_path / "found", data=amazon))
    assert findings.evaluation.outputs.n_classes == 5
    assert findings.tables[1].rows[0][1].split(" / ")[1].startswith("1.11 (")  # RL_conf-M of LISA, in, α = 0.1


@pytest.mark.usefixtures("networks")
def test_cifar_from_the_command(cifar, tmp_path):
    line = ["reproduce", "cifar", "--data", str(cifar), "--model", "torch:small_networks:ten", "--limit", "9", "--json"]
    run = CliRunner().invoke(app, [*line, "--folder", str(tmp_path / "found")])
    assert run.exit_code == 0
    document = json.loads(run.stdout)
    assert {row["score"] for row in document["table"]} == set(PAPER_SCORES)
    assert (tmp_path / "found" / "cifar-torch-small_networks-ten-9" / "risk-coverage.png").exists()


def test_outputs_that_were_collected_before_need_no_data(digits, tmp_path):
    digits.save(tmp_path / "eva")
    setting = Setting(folder=tmp_path / "found", model=str(tmp_path / "eva"), paper_code=True)
    findings = IMAGENET.run(setting)
    assert findings.evaluation.mixes == MIXES
    assert "The table has the conventions of the authors' code" in findings.words
    assert findings.tables[1].title.startswith("Ours / the paper's")  # a folder named like the paper's model
    with pytest.raises(ValueError, match="`--limit` must be left out for saved outputs, got 3"):
        IMAGENET.run(replace(setting, limit=3))


@pytest.mark.usefixtures("networks")
def test_corruptions_made_here_are_said_to_be(cifar, tmp_path):
    (cifar / "CIFAR-10-C").rename(cifar / "other")
    setting = Setting(folder=tmp_path / "found", data=cifar, model="torch:small_networks:ten", limit=4)
    assert "Corruptions were made here, as there is no CIFAR-10-C." in CIFAR_10.run(setting).words


@pytest.mark.parametrize(
    ("benchmark", "model", "words"),
    [
        (IMAGENET, None, r"`--data` must be a folder with val \(ILSVRC-2012\), openimage_o or imagenet-o, .*got none"),
        (IWILDCAM, "flyp", r"`--data` must be a folder with iwildcam_v2.0"),
        (AMAZON, "nothing", r"`--model` must be lisa, a model as collect takes it or a folder of outputs, got nothing"),
    ],
)
def test_what_is_missing_is_told_in_one_line(benchmark, model, words, tmp_path):
    with pytest.raises(FileNotFoundError, match=words):
        benchmark.run(Setting(folder=tmp_path, model=model))


def test_a_missing_export_says_where_it_is_expected(iwildcam, tmp_path):
    with pytest.raises(
        FileNotFoundError,
        match=r"must hold FLYP, a fine-tuned CLIP as models/flyp, got none .* scripts/export-flyp makes it",
    ):
        IWILDCAM.run(Setting(folder=tmp_path, data=iwildcam))


def test_data_are_looked_for_before_a_model_is_made(iwildcam, tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold ILSVRC-2012 validation images in val"):
        IMAGENET.run(Setting(folder=tmp_path, data=iwildcam, model="torch:no_such_module:net"))


def test_weights_that_timm_cannot_fetch_can_be_put_into_the_data(imagenet, tmp_path):
    with pytest.raises(ValueError, match=r"weights that can be found, here 'none', .* data as models/none.safetensors"):
        IMAGENET.run(Setting(folder=tmp_path, data=imagenet, model="timm:none"))


def test_every_model_card_is_known_to_timm():
    repair_torchvision()
    import timm

    known = timm.list_models(pretrained=True)
    assert {card.timm for card in IMAGENET.cards.values() if not card.trained} <= set(known)


def test_features_that_do_not_make_the_logits_are_told_with_what_follows(digits, tmp_path):
    fields = ("labels", "weight", "bias", "shift", "domain", "ids")
    kept = {field: getattr(digits, field) for field in fields}
    Outputs(logits=digits.logits, features=2 * digits.features, **kept).save(tmp_path / "other")
    words = IMAGENET.run(Setting(folder=tmp_path / "found", model=str(tmp_path / "other"))).words
    assert "the head does NOT make the logits" in words
    assert "these four rows are not the paper's" in words
    Outputs(logits=digits.logits, **{name: kept[name] for name in ("labels", "shift", "ids")}).save(tmp_path / "bare")
    words = IMAGENET.run(Setting(folder=tmp_path / "found", model=str(tmp_path / "bare"))).words
    assert "There is no linear last layer with its input" in words


@pytest.mark.usefixtures("networks")
def test_parts_of_an_experiment_end_with_its_findings(imagenet_c, tmp_path):
    options = [
        "reproduce", "imagenet", "--folder", str(tmp_path), "--data", str(imagenet_c), "--limit", "8", "--json",
        "--model", "torch:small_networks:three", "--workers", "1", "--batch-size", "4", "--device", "cpu", "--part",
    ]  # fmt: skip
    first, last = (CliRunner().invoke(app, [*options, part]) for part in ("2/2", "1/2"))
    assert json.loads(first.stdout) == {"part": "2/2", "files": []}
    assert json.loads(last.stdout)["table"]
    with pytest.raises(ValueError, match="`--part` must be left out for saved outputs"):
        IMAGENET.run(Setting(folder=tmp_path, model=str(next(tmp_path.glob("imagenet*/outputs-*"))), part="1/2"))
