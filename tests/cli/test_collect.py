"""`abstain collect` and `abstain reproduce` as a user meets them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from abstain import Outputs
from abstain.collect.torchvision import mend_torchvision

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
save_file = pytest.importorskip("safetensors.torch").save_file

FILES = Path(__file__).parent


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    root = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    for split, names in (("known", ("cat", "dog")), ("strange", ("yeti",))):
        for name in names:
            (root / split / name).mkdir(parents=True)
            for number in range(3):
                Image.fromarray(rng.integers(256, size=(40, 50, 3), dtype=np.uint8)).save(
                    root / split / name / f"{number}.png"
                )
    return root


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    mend_torchvision()
    import timm

    torch.manual_seed(0)
    file = tmp_path_factory.mktemp("weights") / "resnet.safetensors"
    save_file(timm.create_model("resnet10t", pretrained=False).state_dict(), file)
    return file


def test_a_timm_model_on_an_image_folder_with_corruptions_and_unknown_classes(run, images, checkpoint, tmp_path):
    names = [f"class {k}" for k in range(998)] + ["cat", "dog"]
    (tmp_path / "names.txt").write_text("\n".join(names))
    done = run(
        "collect", "timm:resnet10t", images / "known", "-o", tmp_path / "run", "--checkpoint", checkpoint,
        "--class-names", tmp_path / "names.txt", "--corrupt", "fog:3", "--unknown", images / "strange",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the head agrees with the logits" in done.stdout
    outputs = Outputs.load(tmp_path / "run")
    assert outputs.domain.tolist() == ["known"] * 6 + ["fog-3"] * 6 + ["strange"] * 3
    assert outputs.shift.tolist() == ["none"] * 6 + ["covariate"] * 6 + ["label"] * 3
    assert outputs.labels.tolist() == [998] * 3 + [999] * 3 + [998] * 3 + [999] * 3 + [-1] * 3
    assert (outputs.logits[:6] != outputs.logits[6:12]).any(axis=1).all()


def test_magika_on_a_folder_of_files(run, tmp_path):
    (tmp_path / "files").mkdir()
    for name, text in (
        ("a.py", "import os\nprint(os.getcwd())\n"),
        ("b.json", '{"a": [1, 2, 3]}\n'),
        ("c.pxd", "cdef int x\n"),
    ):
        (tmp_path / "files" / name).write_text(text * 20)
    done = run("collect", "magika", tmp_path / "files", "-o", tmp_path / "run", "--corrupt", "truncate", "--json")
    assert json.loads(done.stdout)["n"] == 5
    outputs = Outputs.load(tmp_path / "run")
    assert outputs.shift.tolist() == ["none", "none", "label", "covariate", "covariate"]
    assert outputs.class_names[outputs.predictions[0]] == "python"


def test_an_onnx_model_on_arrays(run, tmp_path):
    from magika import __file__ as place  # any real graph will do

    (graph,) = Path(place).parent.glob("models/*/model.onnx")
    shutil.copy(graph, tmp_path / "net.onnx")
    np.savez(tmp_path / "inputs.npz", inputs=np.zeros((2, 2048), dtype=np.int32))
    done = run("collect", f"onnx:{tmp_path / 'net.onnx'}", tmp_path / "inputs.npz", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert len(Outputs.load(tmp_path / "run")) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["collect", "nothing:x", ".", "-o", "run"], "`model` must be one of timm:NAME"),
        (["collect", "magika", "no-such-folder", "-o", "run"], "`data` must exist"),
        (["collect", "magika", FILES, "-o", "run", "--corrupt", "fog"], "`--corrupt` must be NAME:SEVERITY"),
        (["reproduce", "fashon"], "Did you mean fashion?"),
    ],
)
def test_errors_are_one_line(run, arguments, message):
    done = run(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_reproduce_lists_and_runs_experiments(run, tmp_path):
    assert "magika" in run("reproduce").stdout
    done = run("reproduce", "digits", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ranks best" in done.stdout
    assert (tmp_path / "digits" / "risk-coverage.png").exists()


def test_the_long_version_of_an_experiment_leaves_the_short_one_in_place(tmp_path, monkeypatch, capsys):
    from abstain.cli.reproduce import reproduce
    from abstain.experiments.experiment import Experiment
    from abstain.experiments.findings import Findings
    from abstain.experiments.registry import EXPERIMENTS

    told = Experiment("told", "A title", lambda setting: Findings(words=f"long: {setting.long}"), frozenset({"long"}))
    monkeypatch.setitem(EXPERIMENTS, "told", told)
    for long in (False, True):
        reproduce("told", folder=tmp_path, long=long)
    assert "long: False" in (tmp_path / "told" / "findings.md").read_text()
    assert "long: True" in (tmp_path / "told-long" / "findings.md").read_text()
    assert "told-long" in capsys.readouterr().out


def test_workers_and_parts_give_the_bytes_of_one_process(run, images, checkpoint, tmp_path):
    options = (
        "collect", "timm:resnet10t", images / "known", "--checkpoint", checkpoint, "--unknown", images / "strange",
        "--corrupt", "fog:3", "--class-names", tmp_path / "names.txt", "--batch-size", "4", "-o",
    )  # fmt: skip
    (tmp_path / "names.txt").write_text("\n".join([*(f"class {k}" for k in range(998)), "cat", "dog"]))
    assert run(*options, tmp_path / "whole").returncode == 0
    done = [
        run(*options, tmp_path / "run", "--workers", "2", "--part", part, "--json", "--device", "cpu")
        for part in ("2/2", "1/2")
    ]
    assert [json.loads(one.stdout) for one in done] == [
        {"part": "2/2", "outputs": None},
        {"n": 15, "classes": 1000, "outputs": str(tmp_path / "run")},
    ]
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "run" / file.name).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--part", "3/2"), "`part` must be NUMBER/OF with a number from 1 to OF, such as 2/4, got '3/2'."),
        (("--device", "cuda"), "`device` must be one that PyTorch has here, got 'cuda'"),
        (("--device", "tpu"), "`device` must be one that PyTorch has here, got 'tpu'"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line(run, images, checkpoint, options, message, tmp_path):
    done = run(
        "collect", "timm:resnet10t", images / "strange", "--checkpoint", checkpoint, "-o", tmp_path / "run", *options
    )
    if torch.cuda.is_available():
        pytest.skip("there is a graphics card")
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_half_precision_is_of_pytorch_alone(run, tmp_path):
    (tmp_path / "a.py").write_text("print()\n" * 20)
    done = run("collect", "magika", tmp_path, "-o", tmp_path / "run", "--amp")
    assert "`amp` must be left out for a model that PyTorch does not run, got it with 'magika'." in done.stderr


def test_claims_run_what_is_missing_and_write_the_pages(tmp_path, monkeypatch, capsys):
    pytest.importorskip("PIL")
    from abstain.cli.reproduce import reproduce
    from abstain.experiments import every
    from abstain.experiments.claims import Verdict
    from abstain.experiments.experiment import Experiment
    from abstain.experiments.findings import Findings

    found = Findings(words="Done.", verdicts=(Verdict("scale-limit", "held", "so", "this"),))
    monkeypatch.setattr(every, "EXPERIMENTS", {"one": Experiment("one", "One", lambda _: found)})
    (tmp_path / "docs").mkdir()
    for told in ("one: run", "one: as it was"):
        reproduce("claims", folder=tmp_path / "found", run=True, docs=tmp_path / "docs")
        captured = capsys.readouterr()
        assert captured.err == f"{told}\n"
        assert "1 times in all: 1 held" in captured.out
    assert "| held | one | this | so |" in (tmp_path / "docs" / "claims.md").read_text()
