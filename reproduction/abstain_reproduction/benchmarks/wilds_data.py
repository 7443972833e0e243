"""iWildCam and Amazon in the layout of WILDS: test samples in distribution, and of other cameras or users."""

import csv
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from abstain._errors import InvalidInputError, MissingFileError, foreign
from abstain._io.files import reading
from abstain.collect import Data
from abstain.collect.image_folder import ImageFiles
from abstain_reproduction.benchmarks.local_folders import limited, needed

Rows = list[dict[str, str]]
SPLITS = {"id_test": "none", "test": "covariate"}
AMAZON_NUMBERS = {"4": "id_test", "3": "test"}


def iwildcam(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """Images of cameras seen in training, and of others; those of one burst are one cluster."""
    folder = needed(root, ("iwildcam_v2.0",), what="iWildCam of WILDS (metadata.csv and train/)")
    table = list(_rows(folder / "metadata.csv", ("split", "filename", "y", "sequence_remapped")))
    parts = []
    for split, shift in SPLITS.items():
        rows = _in_split(table, split, folder / "metadata.csv")
        files = tuple(folder / "train" / row["filename"] for row in rows)
        if not files[0].exists():
            raise MissingFileError(
                f"`--data` must hold the images of iWildCam in {folder / 'train'}, got no {files[0]}."
            )
        with foreign(f"`{folder / 'metadata.csv'}` must have a class number in every row"):
            labels = np.array([int(row["y"]) for row in rows])
        ids = np.array([f"sequence {row['sequence_remapped']}" for row in rows])
        data = Data(ImageFiles(files), labels=labels, ids=ids, domain=split, shift=shift)
        parts.append(limited(data, limit, seed))
    return parts


def amazon(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """Reviews by people seen in training, and by others; those of one person are one cluster."""
    folder = needed(root, ("amazon_v2.1", "amazon_v2.0"), what="Amazon of WILDS (reviews.csv and splits/user.csv)")
    splits = _rows(folder / "splits" / "user.csv", ("split",))
    reviews = _rows(folder / "reviews.csv", ("reviewerID", "overall", "reviewText"))
    table: Rows = []
    for split, review in zip_longest(splits, reviews):
        if split is None or review is None:
            raise InvalidInputError(f"`{folder}` must have a split for every review, got tables of different lengths.")
        if (name := AMAZON_NUMBERS.get(split["split"].removesuffix(".0"))) is not None:
            table.append({"split": name} | {key: review[key] for key in ("reviewerID", "overall", "reviewText")})
    parts = []
    for name, shift in SPLITS.items():
        rows = _in_split(table, name, folder / "splits" / "user.csv")
        with foreign(f"`{folder / 'reviews.csv'}` must have a number of stars in every row"):
            labels = np.array([int(float(row["overall"])) - 1 for row in rows])
        ids = np.array([f"user {row['reviewerID']}" for row in rows])
        data = Data([row["reviewText"] for row in rows], labels=labels, ids=ids, domain=name, shift=shift)
        parts.append(limited(data, limit, seed))
    return parts


def _in_split(table: Rows, split: str, file: Path) -> Rows:
    rows = [row for row in table if row["split"] == split]
    if not rows:
        raise InvalidInputError(f"`{file}` must have samples of the split {split!r}, got none.")
    return rows


def _rows(file: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of a table, read one by one, since the table may not fit into memory."""
    rule = f"`{file}` must be a table of WILDS"
    with foreign(rule), reading(file, "a table of WILDS"), open(file, encoding="utf-8", newline="") as stream:
        table = csv.DictReader(stream)
        if lacking := [name for name in columns if name not in (table.fieldnames or ())]:
            raise InvalidInputError(
                f"`{file}` must have a column {lacking[0]!r}, got {', '.join(table.fieldnames or ())}."
            )
        yield from table
