"""Images on disk: a folder a class."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np

from abstain.collect.data import Data, Inputs
from abstain.extras import require
from abstain.fingerprint import files_digest

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")


@final
@dataclass(frozen=True)
class ImageFiles(Inputs):
    """Image files, opened as RGB when asked for."""

    files: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, row: int, /) -> Any:
        """A Pillow image in RGB, read whole, so that a cut-off file fails here."""
        image_module = require("PIL.Image", extra="images", feature="Reading images")
        with image_module.open(self.files[row]) as image:
            return image.convert("RGB")

    def fingerprint(self) -> str:
        """By name, size and time of change."""
        return files_digest(self.files)


def image_folder(folder: str | PathLike[str], /, *, unknown: bool = False) -> Data:
    """The images below ``folder``, labelled by the name of their subfolder, or all of ``unknown`` classes."""
    root = Path(folder)
    if not root.is_dir():
        raise FileNotFoundError(f"`folder` must be a folder of images, got {root}.")
    files = sorted(file for file in root.rglob("*") if file.suffix.lower() in ENDINGS)
    if not files:
        raise ValueError(f"`folder` must hold images ({', '.join(ENDINGS)}), got none below {root}.")
    empty = [
        child.name
        for child in sorted(root.iterdir())
        if child.is_dir() and not any(child in file.parents for file in files)
    ]
    if empty:
        raise ValueError(
            f"`folder` must have images in every class, got none in {empty[0]!r}. Remove or fill that folder."
        )
    labels = np.array([file.relative_to(root).parts[0] if file.parent != root else "" for file in files])
    ids = np.array([str(file.relative_to(root)) for file in files])
    if unknown:
        return Data(ImageFiles(tuple(files)), ids=ids, domain=root.name, shift="label")
    return Data(ImageFiles(tuple(files)), labels=labels if labels.all() else None, ids=ids, domain=root.name)
