"""Images on disk: a folder per class."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np

from abstain._errors import InvalidInputError, MissingFileError
from abstain._extras import require
from abstain._io.fingerprint import files_digest
from abstain.collect.data import Data, SampleInputs

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")


@final
@dataclass(frozen=True)
class ImageFiles(SampleInputs):
    """Image files, opened as RGB on access."""

    files: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, row: int, /) -> Any:
        """A Pillow image in RGB, read completely, so that a truncated file fails here."""
        image_module = require("PIL.Image", extra="images", feature="Reading images")
        with image_module.open(self.files[row]) as image:
            return image.convert("RGB")

    def fingerprint(self) -> str:
        """A digest of names, sizes and modification times."""
        return files_digest(self.files)


def image_folder(folder: str | PathLike[str], /) -> Data:
    """Images on disk, labelled by the name of their subfolder.

    Parameters
    ----------
    folder : path
        With a subfolder per class; images in the folder itself make a data set without labels.

    Returns
    -------
    Data
        Its ids are the paths below ``folder``, its domain the name of ``folder``.
    """
    root = Path(folder)
    if not root.is_dir():
        raise MissingFileError(f"`folder` must be a folder of images, got {root}.")
    files = sorted(file for file in root.rglob("*") if file.suffix.lower() in ENDINGS)
    if not files:
        raise InvalidInputError(f"`folder` must hold images ({', '.join(ENDINGS)}), got none below {root}.")
    empty = [
        child.name
        for child in sorted(root.iterdir())
        if child.is_dir() and not any(child in file.parents for file in files)
    ]
    if empty:
        raise InvalidInputError(
            f"`folder` must have images in every class, got none in {empty[0]!r}. Remove or fill that folder."
        )
    labels = np.array([file.relative_to(root).parts[0] if file.parent != root else "" for file in files])
    ids = np.array([str(file.relative_to(root)) for file in files])
    return Data(ImageFiles(tuple(files)), labels=labels if labels.all() else None, ids=ids, domain=root.name)
