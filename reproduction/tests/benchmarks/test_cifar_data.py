import shutil

import numpy as np
import pytest
from PIL import Image

from abstain_reproduction.benchmarks.cifar_data import CLASSES, parts


def test_binary_files_are_read_as_images_and_classes(cifar):
    clean, *corrupted, unknown = parts(cifar, None, 0)
    rows = np.fromfile(cifar / "cifar-10-batches-bin" / "test_batch.bin", dtype=np.uint8).reshape(20, 3073)
    assert clean.labels.tolist() == rows[:, 0].tolist()
    assert clean[3][5, 7].tolist() == [rows[3, 1 + c * 1024 + 5 * 32 + 7] for c in range(3)]
    assert (len(corrupted), len(unknown), unknown.shift) == (19, 12, "label")


def test_cifar_10_c_gives_its_third_severity(cifar):
    clean, first, *_ = parts(cifar, None, 0)
    assert (first[4] == clean[4] // 3).all()
    assert first.labels.tolist() == clean.labels.tolist()
    assert first.ids.tolist() == clean.ids.tolist()


def test_a_limit_takes_the_same_images_of_every_corruption(cifar):
    clean, *corrupted, unknown = parts(cifar, 6, 0)
    assert len(clean) == len(unknown) == 6
    assert all(part.ids.tolist() == clean.ids.tolist() and (part[2] == clean[2] // 3).all() for part in corrupted)


def test_corruptions_are_made_where_none_are_on_disk(cifar):
    shutil.rmtree(cifar / "CIFAR-10-C")
    clean, *corrupted, _ = parts(cifar, 3, 0)
    assert len(corrupted) == 19
    assert np.asarray(corrupted[0][1]).shape == clean[1].shape


def test_arrays_and_image_folders_are_read_too(cifar):
    before = parts(cifar, None, 0)[0]
    images, labels = np.stack([before[row] for row in range(20)]), before.labels
    shutil.rmtree(cifar / "cifar-10-batches-bin")
    np.savez(cifar / "cifar-10.npz", inputs=images, labels=labels)
    assert (parts(cifar, None, 0)[0][7] == images[7]).all()
    (cifar / "cifar-10.npz").unlink()
    shutil.rmtree(cifar / "CIFAR-10-C")
    for row, label in enumerate(labels):
        (cifar / "cifar-10" / "test" / CLASSES[label]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(images[row]).save(cifar / "cifar-10" / "test" / CLASSES[label] / f"{row}.png")
    assert sorted(parts(cifar, None, 0)[0].labels) == sorted(labels)


def test_the_pickled_version_is_never_read(cifar):
    (cifar / "cifar-10-batches-bin").rename(cifar / "cifar-10-batches-py")
    with pytest.raises(
        FileNotFoundError, match=r"got cifar-10-batches-py, which is pickled and never read. Get the bin"
    ):
        parts(cifar, None, 0)


def test_pickled_objects_in_an_array_are_never_read(cifar):
    np.save(cifar / "CIFAR-10-C" / "fog.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"fog.npy` must be a whole .npy array without pickled objects"):
        parts(cifar, None, 0)


def test_other_contents_are_refused(cifar):
    labels = cifar / "CIFAR-10-C" / "labels.npy"
    np.save(labels, np.load(labels)[::-1])
    with pytest.raises(ValueError, match="must be of the same test images as CIFAR-10, got other labels"):
        parts(cifar, None, 0)
    with open(cifar / "cifar-10-batches-bin" / "test_batch.bin", "ab") as stream:
        stream.write(b"x")
    with pytest.raises(ValueError, match=r"test_batch.bin` must be rows of 3073 bytes, got 61461 bytes"):
        parts(cifar, None, 0)


def test_missing_folders_say_what_is_expected_where(cifar):
    shutil.rmtree(cifar / "cifar-100-binary")
    with pytest.raises(
        FileNotFoundError, match=r"must hold CIFAR-100 \(test images\) in cifar-100-binary or cifar-100.npz"
    ):
        parts(cifar, None, 0)
