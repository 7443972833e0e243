"""A few images to learn, where the experiments look for their packages."""

from dataclasses import replace

import numpy as np
import pytest


@pytest.fixture
def image_packages(tmp_path, monkeypatch):
    """Folders like those of the packages of Fashion-MNIST, MNIST and CIFAR-10, with a few images to learn."""
    image = pytest.importorskip("PIL.Image")
    from abstain_reproduction.real_models import cifar10_data
    from abstain_reproduction.training import image_tasks

    rng = np.random.default_rng(0)

    def drawn(n, *shape):
        labels = rng.integers(10, size=n)
        images = rng.integers(90, size=(n, *shape), dtype=np.uint8)
        for row, label in enumerate(labels):
            images[row, 2 * label + 2 : 2 * label + 6] += np.uint8(150)
        return images, labels

    def write_idx(folder, stem, array):
        header = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
        (folder / f"{stem}-ubyte").write_bytes(header + array.astype(np.uint8).tobytes())

    for part, n in (("train", 300), ("t10k", 120)):
        images, labels = drawn(n, 28, 28)
        write_idx(tmp_path, f"{part}-images-idx3", images)
        write_idx(tmp_path, f"{part}-labels-idx1", labels)
    for sheets, named in cifar10_data.PARTS.values():
        parts = [drawn(60, 32, 32, 3) for _ in sheets]
        for sheet, (images, _) in zip(sheets, parts, strict=True):
            image.fromarray(images.reshape(60, 1024, 3)).save(tmp_path / sheet)
        (tmp_path / named).write_text(str([int(label) for _, labels in parts for label in labels]))
    (tmp_path / "data").symlink_to(tmp_path)
    monkeypatch.setattr(image_tasks, "FASHION", replace(image_tasks.FASHION, folder=tmp_path))
    monkeypatch.setattr(image_tasks, "MNIST", replace(image_tasks.MNIST, folder=tmp_path))
    monkeypatch.setattr(cifar10_data, "CIFAR10", replace(cifar10_data.CIFAR10, folder=tmp_path))
