"""Parquet and CSV tables: a column of text, or of paths of images, and one of labels."""

from os import PathLike
from pathlib import Path

import numpy as np

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain.collect.data import Data
from abstain.collect.image_folder import ENDINGS, ImageFiles
from abstain.outputs.parquet import read_parquet


def table(
    file: str | PathLike[str], /, *, inputs: str | None = None, labels: str | None = None, ids: str | None = None
) -> Data:
    """The rows of a Parquet, CSV or TSV table, of texts or of paths of images.

    Parameters
    ----------
    file : path
        Ends in .parquet, .csv or .tsv.
    inputs : str, optional
        The column of inputs; by default text, path or file. If all end like image files, they are paths of images,
        relative to the table's folder; otherwise texts.
    labels, ids : str, optional
        The columns of labels, by default label, and of ids.

    Returns
    -------
    Data
        Texts, or images that are read when they are used.
    """
    polars = require("polars", extra="scale", feature="Reading tables")
    path = Path(file)
    if path.suffix not in (".parquet", ".csv", ".tsv"):
        raise InvalidInputError(f"`file` must end in .parquet, .csv or .tsv, got {path.name}.")
    if path.suffix == ".parquet":
        frame = read_parquet(path)
    else:
        with foreign(f"`{path}` must be a table"), open(path, "rb") as stream:
            frame = polars.read_csv(stream, separator="\t" if path.suffix == ".tsv" else ",")
    inputs = inputs or next((name for name in ("text", "path", "file") if name in frame.columns), None)
    labels = labels or ("label" if "label" in frame.columns else None)
    for name in (inputs, labels, ids):
        if name is not None and name not in frame.columns:
            raise InvalidInputError(f"`file` must have a column {name!r}, got {', '.join(frame.columns)}.")
    if inputs is None:
        raise InvalidInputError(
            f"`inputs` must name a column, got none and no text, path or file among {', '.join(frame.columns)}."
        )
    values = [str(value) for value in frame[inputs].to_list()]
    are_images = bool(values) and all(value.lower().endswith(ENDINGS) for value in values)
    return Data(
        ImageFiles(tuple(path.parent / value for value in values)) if are_images else values,
        labels=None if labels is None else np.asarray(frame[labels].to_list()),
        ids=None if ids is None else np.asarray(frame[ids].to_list()),
        domain=path.stem,
    )
