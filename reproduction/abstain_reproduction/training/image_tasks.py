"""Images to train on and to be tested on: unchanged, corrupted, and of unknown classes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain_reproduction.corruptions import SEVERITY
from abstain_reproduction.draws import generator
from abstain_reproduction.real_models import cifar10_data
from abstain_reproduction.real_models.cifar10_data import CIFAR10, cifar10
from abstain_reproduction.real_models.mnist_data import FASHION, MNIST, in_colour, read_idx

Bytes = NDArray[np.uint8]
Pair = tuple[Bytes, NDArray[np.int64]]
PACKAGES = (FASHION, MNIST, CIFAR10)
SHIFTED = 5000  # corrupted images, and images of unknown classes


@dataclass(frozen=True, eq=False)
class ImageTask:
    """Training images and the three kinds of test images."""

    words: str
    images: Bytes
    labels: NDArray[np.int64]
    clean: Bytes
    truth: NDArray[np.int64]
    corrupted: Bytes
    """Each of the first clean images under one corruption of the 19, drawn at random."""
    corruptions: NDArray[np.str_]
    unknown: Bytes
    unknown_name: str

    def outputs(self, network: Any, /) -> Outputs:
        """Outputs of a network on all three kinds; a corrupted image and its original are one cluster."""
        from abstain_reproduction.train.predict import predict

        ids = np.arange(len(self.clean))
        first = slice(len(self.corrupted))
        new = len(ids) + np.arange(len(self.unknown))
        return Outputs.concat(
            [
                predict(network, self.clean, self.truth, ids=ids),
                predict(
                    network,
                    self.corrupted,
                    self.truth[first],
                    shift="covariate",
                    domain=self.corruptions,
                    ids=ids[first],
                ),
                predict(network, self.unknown, np.full(len(new), -1), shift="label", domain=self.unknown_name, ids=new),
            ]
        )


def fashion_task(*, train: int | None = None, limit: int | None = None, seed: int = 0) -> ImageTask:
    """Fashion-MNIST, with handwritten digits as unknown classes; ``train`` of the 60,000 images are learned from."""
    learned, tested = _idx(FASHION.file("."))
    return _task("Fashion-MNIST", tuple(part[:train] for part in learned), tested, _digits(), limit, seed=seed)


def cifar_task(*, limit: int | None = None, seed: int = 0) -> ImageTask:
    """CIFAR-10, with handwritten digits as unknown classes, since no package contains CIFAR-100."""
    return _task("CIFAR-10", cifar10("train"), cifar10("test"), in_colour(_digits()), limit, seed=seed)


CLASSES = len(cifar10_data.CLASSES)  # of either
SOURCES: dict[str, Callable[[], tuple[Pair, Pair]]] = {
    "fashion": lambda: _idx(FASHION.file(".")),
    "mnist": lambda: _idx(MNIST.file("data")),
    "cifar": lambda: (cifar10("train"), cifar10("test")),
}


def known_classes_task(source: str, /, *, known: int, train: int, limit: int | None = None) -> ImageTask:
    """The classes below ``known``, with the others of the same data as unknown ones, which are near to them."""
    (images, labels), (clean, truth) = SOURCES[source]()
    learned, tested = labels < known, truth < known
    rest = f"its classes from {known} on"
    return _task(
        source,
        (images[learned][:train], labels[learned][:train]),
        (clean[tested], truth[tested]),
        clean[~tested],
        limit,
        unknown_name=rest,
        unknown_words=f"images of {rest}",
    )


def _idx(folder: Path) -> tuple[Pair, Pair]:
    """Images and labels to train on and to test on."""
    first, second = (
        (read_idx(folder, f"{part}-images-idx3"), read_idx(folder, f"{part}-labels-idx1").astype(np.int64))
        for part in ("train", "t10k")
    )
    return first, second


def _digits() -> Bytes:
    return read_idx(MNIST.file("data"), "t10k-images-idx3")


def _task(
    name: str,
    train: tuple[Any, ...],
    test: tuple[Any, ...],
    unknown: Bytes,
    limit: int | None,
    *,
    seed: int = 0,
    unknown_name: str = "mnist",
    unknown_words: str = "handwritten digits",
) -> ImageTask:
    images, labels, clean, truth = (part[:limit] for part in (*train, *test))
    few = min(SHIFTED, len(clean))
    unknown = unknown[:few]
    corrupted, corruptions = _corrupt(clean[:few], seed)
    words = (
        f"{name}: trained on {len(images):,} images; tested on {len(clean):,} clean ones, {few:,} of them also under a "
        f"random one of 19 corruptions (severity {SEVERITY}), and {len(unknown):,} {unknown_words} as unknown classes"
    )
    return ImageTask(words, images, labels, clean, truth, corrupted, corruptions, unknown, unknown_name)


def _corrupt(images: Bytes, seed: int) -> tuple[Bytes, NDArray[np.str_]]:
    from abstain.shifts import CORRUPTIONS, corrupt

    drawn = generator("corruption", seed).choice(list(CORRUPTIONS), size=len(images))
    made = [
        corrupt(image, str(name), severity=SEVERITY, seed=row)
        for row, (image, name) in enumerate(zip(images, drawn, strict=True))
    ]
    return np.stack(made), drawn
