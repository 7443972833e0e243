"""iWildCam and Amazon as WILDS lays them out in its root: in-distribution test samples, and those of other places."""

import csv
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from abstain.collect import Data
from abstain.collect.image_folder import ImageFiles
from abstain.experiments.benchmarks.local_folders import limited, needed
from abstain.files import reading
from abstain.foreign import foreign

Rows = list[dict[str, str]]
SPLITS = {"id_test": "none", "test": "covariate"}
AMAZON_NUMBERS = {"4": "id_test", "3": "test"}


def iwildcam(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """Images of cameras seen in training, and of others; those of one burst are one cluster."""
    place = needed(root, ("iwildcam_v2.0",), what="iWildCam of WILDS (metadata.csv and train/)")
    table = list(_rows(place / "metadata.csv", ("split", "filename", "y", "sequence_remapped")))
    found = []
    for split, shift in SPLITS.items():
        rows = _in_split(table, split, place / "metadata.csv")
        files = tuple(place / "train" / row["filename"] for row in rows)
        if not files[0].exists():
            raise FileNotFoundError(
                f"`--data` must hold the images of iWildCam in {place / 'train'}, got no {files[0]}."
            )
        with foreign(f"`{place / 'metadata.csv'}` must have a class number in every row"):
            labels = np.array([int(row["y"]) for row in rows])
        ids = np.array([f"sequence {row['sequence_remapped']}" for row in rows])
        data = Data(ImageFiles(files), labels=labels, ids=ids, domain=split, shift=shift)
        found.append(limited(data, limit, seed))
    return found


def amazon(root: Path, limit: int | None, seed: int, /) -> list[Data]:
    """Reviews by people seen in training, and by others; those of one person are one cluster."""
    place = needed(root, ("amazon_v2.1", "amazon_v2.0"), what="Amazon of WILDS (reviews.csv and splits/user.csv)")
    splits = _rows(place / "splits" / "user.csv", ("split",))
    reviews = _rows(place / "reviews.csv", ("reviewerID", "overall", "reviewText"))
    table: Rows = []
    for split, review in zip_longest(splits, reviews):
        if split is None or review is None:
            raise ValueError(f"`{place}` must have a split for every review, got tables of different lengths.")
        if (name := AMAZON_NUMBERS.get(split["split"].removesuffix(".0"))) is not None:
            table.append({"split": name} | {key: review[key] for key in ("reviewerID", "overall", "reviewText")})
    found = []
    for name, shift in SPLITS.items():
        rows = _in_split(table, name, place / "splits" / "user.csv")
        with foreign(f"`{place / 'reviews.csv'}` must have a number of stars in every row"):
            labels = np.array([int(float(row["overall"])) - 1 for row in rows])
        ids = np.array([f"user {row['reviewerID']}" for row in rows])
        data = Data([row["reviewText"] for row in rows], labels=labels, ids=ids, domain=name, shift=shift)
        found.append(limited(data, limit, seed))
    return found


def _in_split(table: Rows, split: str, file: Path) -> Rows:
    rows = [row for row in table if row["split"] == split]
    if not rows:
        raise ValueError(f"`{file}` must have samples of the split {split!r}, got none.")
    return rows


def _rows(file: Path, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of a table, one by one, as the whole of it may not fit into memory."""
    rule = f"`{file}` must be a table of WILDS"
    with foreign(rule), reading(file, "a table of WILDS"), open(file, encoding="utf-8", newline="") as stream:
        table = csv.DictReader(stream)
        if lacking := [name for name in columns if name not in (table.fieldnames or ())]:
            raise ValueError(f"`{file}` must have a column {lacking[0]!r}, got {', '.join(table.fieldnames or ())}.")
        yield from table
