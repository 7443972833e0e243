"""`abstain collect` as a user meets it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from abstain import Outputs
from abstain._extras import repair_torchvision

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
save_file = pytest.importorskip("safetensors.torch").save_file


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
    repair_torchvision()
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
        (["collect", "torch:torch.nn:Identity", "no-such-folder", "-o", "run"], "`data` must exist"),
    ],
)
def test_errors_are_one_line(run, arguments, message):
    done = run(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_corruption_without_severity_is_refused_in_one_line(run, images, tmp_path):
    done = run("collect", "torch:torch.nn:Identity", images / "known", "-o", tmp_path / "run", "--corrupt", "fog")
    assert done.returncode == 1
    assert "`--corrupt` must be NAME:SEVERITY, such as fog:3, got 'fog'." in done.stderr


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
    assert [json.loads(each.stdout) for each in done] == [
        {"part": "2/2", "outputs": None},
        {"n": 15, "classes": 1000, "outputs": str(tmp_path / "run")},
    ]
    for file in (tmp_path / "whole").iterdir():
        assert file.read_bytes() == (tmp_path / "run" / file.name).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--part", "3/2"), "`part` must be NUMBER/OF with a number from 1 to OF, such as 2/4, got '3/2'."),
        (("--device", "cuda"), "`device` must be one that PyTorch has here, not 'cuda'"),
        (("--device", "tpu"), "`device` must be one that PyTorch has here, not 'tpu'"),
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
    done = run("collect", "onnx:net.onnx", tmp_path, "-o", tmp_path / "run", "--amp")
    assert "`amp` must be left out for a model that PyTorch does not run, got it with 'onnx:net.onnx'." in done.stderr
