"""CIFAR-10, CIFAR-10-C and CIFAR-100 as their authors publish them, but for the pickled form, which is never read."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, MissingFileError
from abstain._io.files import reading
from abstain.collect import Data, image_folder
from abstain.outputs.arrays import read_npy, read_npz
from abstain_reproduction.benchmarks.local_folders import first_existing, limited, needed
from abstain_reproduction.corruptions import SEVERITY, corrupted, published_name
from abstain_reproduction.real_models.cifar10_data import CLASSES

SIDE = 32
KNOWN = ("cifar-10-batches-bin", "cifar-10.npz", "cifar-10/test")
UNKNOWN = ("cifar-100-binary", "cifar-100.npz", "cifar-100/test")
CORRUPTED = ("CIFAR-10-C", "cifar-10-c")
PICKLED = ("cifar-10-batches-py", "cifar-100-python")
Bytes = NDArray[np.uint8]


def parts(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """Test images of CIFAR-10, the same corrupted, and test images of CIFAR-100 as unknown classes."""
    known, unknown = _existing(root, KNOWN, "CIFAR-10"), _existing(root, UNKNOWN, "CIFAR-100")
    clean = limited(_test_set(known, "cifar10", extra=0), limit, seed)
    folder = first_existing(root, CORRUPTED)
    shifted = corrupted(clean, seed) if folder is None else _on_disk(folder, clean)
    others = _test_set(unknown, "cifar100", extra=1)
    strangers = Data(others.inputs, ids=others.ids, domain="cifar100", shift="label")
    return [clean, *shifted, limited(strangers, limit, seed)]


def _existing(root: Path, names: tuple[str, ...], what: str) -> Path:
    pickled = first_existing(root, PICKLED)
    if first_existing(root, names) is None and pickled is not None:
        raise MissingFileError(
            f"`--data` must hold {what} in {' or '.join(names)}, got {pickled.name}, which is pickled and never read. "
            "Get the binary version, or save its images (n, 32, 32, 3) and classes as inputs and labels in an .npz."
        )
    return needed(root, names, what=f"{what} (test images)")


def _test_set(path: Path, name: str, *, extra: int) -> Data:
    """Images and classes; in the binary files ``extra`` bytes, such as a coarser class, precede the class."""
    if path.suffix == ".npz":
        arrays = read_npz(path)
        if not {"inputs", "labels"} <= arrays.keys():
            raise InvalidInputError(f"`{path}` must hold arrays named inputs and labels, got {', '.join(arrays)}.")
        images, labels = arrays["inputs"], arrays["labels"].astype(np.int64)
    elif (path / "test_batch.bin").exists() or path.name.endswith(("-bin", "-binary")):
        images, labels = _binary(path / ("test.bin" if extra else "test_batch.bin"), extra)
    else:
        return _folder(path, name)
    if images.ndim != 4 or images.shape[1:] != (SIDE, SIDE, 3) or images.dtype != np.uint8:
        raise InvalidInputError(
            f"`{path}` must hold bytes of shape (n, 32, 32, 3), got {images.dtype} of {images.shape}."
        )
    return Data(images, labels=labels, ids=_ids(name, np.arange(len(images))), domain=name)


def _binary(file: Path, extra: int) -> tuple[Bytes, NDArray[np.int64]]:
    """Rows of the class, after ``extra`` bytes, and 3 × 1024 bytes of red, green and blue."""
    width = extra + 1 + 3 * SIDE * SIDE
    with reading(file, "the test images of the binary version"):
        contents = np.fromfile(file, dtype=np.uint8)
    if not contents.size or contents.size % width:
        raise InvalidInputError(f"`{file}` must be rows of {width} bytes, got {contents.size} bytes.")
    rows = contents.reshape(-1, width)
    images = rows[:, extra + 1 :].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), rows[:, extra].astype(np.int64)


def _folder(folder: Path, name: str) -> Data:
    data = image_folder(folder)
    numbers = {known: number for number, known in enumerate(CLASSES)}
    labels = None
    if name == "cifar10" and data.labels is not None:
        labels = np.array([numbers.get(str(label), -1) for label in data.labels])
    if name == "cifar10" and (labels is None or (labels < 0).any()):
        raise InvalidInputError(f"`{folder}` must have a folder for each of {', '.join(CLASSES)}, got other folders.")
    return Data(data.inputs, labels=labels, ids=_ids(name, np.arange(len(data))), domain=name)


def _on_disk(folder: Path, clean: Data) -> list[Data]:
    """CIFAR-10-C: NAME.npy with the test images at the five severities, one after the other."""
    from abstain.shifts import CORRUPTIONS

    assert clean.ids is not None
    chosen = np.array([int(str(name).rpartition("-")[2]) for name in clean.ids])
    truth = read_npy(folder / "labels.npy").astype(np.int64)
    n = len(truth) // 5
    wanted = slice((SEVERITY - 1) * n, SEVERITY * n)
    if chosen.max() >= n or (clean.labels is not None and (truth[wanted][chosen] != clean.labels).any()):
        raise InvalidInputError(f"`{folder}` must be of the same test images as CIFAR-10, got other labels.")
    found_parts = []
    for corruption in CORRUPTIONS:
        images = read_npy(folder / f"{published_name(corruption)}.npy")
        if images.shape != (5 * n, SIDE, SIDE, 3):
            raise InvalidInputError(
                f"`{folder}` must hold arrays of shape {(5 * n, SIDE, SIDE, 3)}, got {images.shape}."
            )
        domain = f"{corruption}-{SEVERITY}"
        data = Data(
            images[wanted], labels=truth[wanted], ids=_ids("cifar10", np.arange(n)), domain=domain, shift="covariate"
        )
        found_parts.append(data.select(chosen))
    return found_parts


def _ids(name: str, rows: NDArray[np.int64]) -> NDArray[np.str_]:
    return np.array([f"{name}-{row}" for row in rows])
