"""Figures on disk: whole or not at all, and the same bytes for the same figure."""

from io import BytesIO
from pathlib import Path
from typing import Any

from abstain._errors import FileConflictError
from abstain._extras import require
from abstain._io.files import check_output_path, check_parent, check_suffix, write_whole

# What Matplotlib would write of the time and of itself, by ending.
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def check_figure(file: Path | None, /) -> None:
    """What would stop a figure from being drawn and written, before anything is computed for it."""
    if file is None:
        return
    require("matplotlib", extra="report", feature="A figure")
    check_suffix("--figure", file, METADATA)
    check_output_path(file)


def check_figures(folder: Path | None, /) -> None:
    """What would stop a folder of figures from being written."""
    if folder is None:
        return
    require("matplotlib", extra="report", feature="A figure")
    if folder.exists() and not folder.is_dir():
        raise FileConflictError(f"`--figures` must be a folder, got the file {folder}. Choose another name.")
    check_parent(folder)


def save_figure(figure: Any, file: Path, /) -> None:
    """Write a Matplotlib figure as a .png, .svg or .pdf."""
    check_figure(file)
    contents = picture_bytes(figure, file.suffix.lower())
    write_whole(file, lambda partial: partial.write_bytes(contents))


def picture_bytes(figure: Any, ending: str, /) -> bytes:
    """A Matplotlib figure as the contents of a file with this ending."""
    matplotlib = require("matplotlib", extra="report", feature="A figure")
    stream = BytesIO()
    settings = {"svg.hashsalt": "abstain", "pdf.fonttype": 42}  # no random ids, and fonts that journals take
    with matplotlib.rc_context(settings):
        figure.savefig(stream, format=ending.removeprefix("."), metadata=METADATA[ending])
    return stream.getvalue()
