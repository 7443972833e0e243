"""What a terminal is sent: ASCII where it cannot show a character, and no control characters from names and files."""

import codecs
import os
import shutil
import sys
from pathlib import Path
from shlex import quote

NAME = "abstain"
ASCII = {
    "●": "*", "○": "o", "α": "alpha", "δ": "delta", "Δ": "Delta", "λ": "lambda", "γ": "gamma", "β": "beta",
    "σ": "sigma", "μ": "mu", "→": "->", "∞": "inf", "×": "x", "–": "-", "—": "-", "−": "-", "≤": "<=", "≥": ">=",
    "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "‖": "||", "²": "^2", "Σ": "sum ", "ŷ": "y",
    "₁": "_1", "ü": "ue",
}  # fmt: skip
HANDLER = "abstain._text"
REVERSING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # change the order in which text is shown
CONTROLS = (*range(9), *range(11, 32), *range(127, 160), *REVERSING)
ESCAPED = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in CONTROLS}
"""Escapes shown in place of control characters, which would move the cursor, colour or hide text."""


def set_up_streams() -> None:
    """Let standard output and error replace what they cannot encode: by ASCII, or, in a user's names, by escapes."""
    codecs.register_error(HANDLER, _as_ascii)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)


def shown(text: str, /) -> str:
    r"""The text as standard output will show it, so that a table knows its width; control characters are escaped.

    >>> shown("red \x1b[31m fish")
    'red \\x1b[31m fish'
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    codecs.register_error(HANDLER, _as_ascii)
    return text.translate(ESCAPED).encode(encoding, HANDLER).decode(encoding)


def program() -> str:
    """How this installation is called from a shell: ``abstain`` if that finds it, else its path."""
    here = Path(sys.executable).with_name(NAME)
    in_path = shutil.which(NAME)
    if not here.exists():
        return NAME if in_path else f"{quote(sys.executable)} -m {NAME}"
    if in_path and Path(in_path).samefile(here):
        return NAME
    near = os.path.relpath(here)
    return quote(str(here) if near.startswith("..") else near)


def _as_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    replaced = [ASCII.get(each) or each.encode("ascii", "backslashreplace").decode() for each in characters]
    return "".join(replaced), error.end
