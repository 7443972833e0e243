"""Tables on disk, whole or not at all; the ending says in which format."""

import csv
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from abstain.evaluation import Evaluation, summarize
from abstain.extras import require
from abstain.files import check_goal, write_text, write_whole
from abstain.report.tables import latex_table, markdown_table

COLUMNS = (".csv", ".parquet")
ENDINGS = (".md", ".tex", *COLUMNS)


def check_table(file: Path, endings: Sequence[str] = ENDINGS, /) -> None:
    """What would stop a table from being written, before anything is computed for it."""
    if file.suffix.lower() not in endings:
        *most, last = endings
        raise ValueError(f"`--output` must end in {', '.join(most)} or {last}, got {file.name}.")
    if file.suffix.lower() == ".parquet":
        require("polars", extra="scale", feature="Writing Parquet")
    check_goal(file)


def write_evaluation(evaluation: Evaluation, file: Path, /) -> None:
    """All scores in all mixes: .md and .tex as people read them, .csv and .parquet with a row for each value."""
    check_table(file)
    ending = file.suffix.lower()
    if ending in COLUMNS:
        rows = evaluation.table()
        write_columns({name: [row[name] for row in rows] for name in rows[0]}, file)
        return
    whole = summarize(evaluation, mixes=evaluation.mixes, shown=None)
    write_text(file, markdown_table(whole) if ending == ".md" else latex_table(whole))


def write_columns(columns: Mapping[str, Sequence[Any]], file: Path, /) -> None:
    """Columns by name, as .csv or .parquet; None is an empty cell."""
    check_table(file, COLUMNS)
    if file.suffix.lower() == ".parquet":
        polars, stream = require("polars", extra="scale", feature="Writing Parquet"), BytesIO()
        polars.DataFrame(dict(columns)).write_parquet(stream)  # whose errors on a full disk have many forms
        write_whole(file, lambda partial: partial.write_bytes(stream.getbuffer()))
        return
    write_whole(file, lambda partial: _write_csv(partial, columns))


def _write_csv(file: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
