"""Training images on disk, decoded batch by batch: those of ImageNet would take 250 GB of memory."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest
from abstain.collect.image_folder import ImageFiles, image_folder
from abstain_reproduction.square import square


@final
@dataclass(frozen=True)
class StreamedImages:
    """Bytes (n, side, side, 3) as `train` takes them; never more than one batch is in memory.

    Of each image the shorter side is resized to ``side`` and the middle is cut; ``threads`` decode side by side.
    """

    files: ImageFiles
    side: int = 256
    threads: int = 4
    dtype: ClassVar[type] = np.uint8
    ndim: ClassVar[int] = 4

    @classmethod
    def of_folder(cls, folder: str | PathLike[str], /, *, side: int = 256, threads: int = 4) -> tuple[Self, "Labels"]:
        """The images of a folder with a subfolder for each class, and their class numbers by the alphabet.

        `StreamedImages.of_folder("ILSVRC2012/train")` is what the paper's ImageNet recipe is trained on.
        """
        data = image_folder(folder)
        if data.labels is None or not isinstance(data.inputs, ImageFiles):
            raise InvalidInputError(
                f"`folder` must have a subfolder for each class, got images outside of subfolders in {folder}."
            )
        names = {name: number for number, name in enumerate(sorted(set(data.labels.tolist())))}
        labels = np.array([names[name] for name in data.labels.tolist()], dtype=np.int64)
        return cls(data.inputs, side, threads), labels

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The shape of the equivalent array."""
        return len(self.files), self.side, self.side, 3

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.uint8]:
        """The images of some rows, read from disk."""
        with ThreadPoolExecutor(self.threads) as pool:
            return np.stack(list(pool.map(self._image, np.asarray(rows).tolist())))

    def _image(self, row: int) -> NDArray[np.uint8]:
        return np.asarray(square(self.files[row], resize=self.side, crop=self.side), dtype=np.uint8)

    def fingerprint(self) -> str:
        """Of names, folders, sizes and times of change, and the side; reading all files would take hours."""
        return digest([str(Path(*file.parts[-2:])) for file in self.files.files], self.files.fingerprint(), self.side)


Labels = NDArray[np.int64]
