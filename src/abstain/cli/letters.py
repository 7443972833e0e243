"""What a terminal is sent: words where it cannot show a sign, and no control characters from names and files."""

import codecs
import sys

WORDS = {
    "●": "*", "○": "o", "α": "alpha", "δ": "delta", "Δ": "Delta", "λ": "lambda", "γ": "gamma", "β": "beta",
    "σ": "sigma", "μ": "mu", "→": "->", "∞": "inf", "×": "x", "–": "-", "—": "-", "−": "-", "≤": "<=", "≥": ">=",
    "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "‖": "||", "²": "^2", "Σ": "sum ", "ŷ": "y",
    "₁": "_1", "ü": "ue",
}  # fmt: skip
HANDLER = "abstain.words"
REVERSING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # change the order in which text is shown
CONTROLS = (*range(9), *range(11, 32), *range(127, 160), *REVERSING)
ESCAPED = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in CONTROLS}
"""What would move the cursor, colour or hide text, as it is shown instead."""


def set_up_streams() -> None:
    """Let standard output and error write what they cannot encode in words, or, of a user's own names, as escapes."""
    codecs.register_error(HANDLER, _in_words)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)


def shown(text: str, /) -> str:
    r"""The text as standard output will show it, so that a table can tell its width; control characters are escaped.

    >>> shown("red \x1b[31m fish")
    'red \\x1b[31m fish'
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    codecs.register_error(HANDLER, _in_words)
    return text.translate(ESCAPED).encode(encoding, HANDLER).decode(encoding)


def _in_words(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    words = [WORDS.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in letters]
    return "".join(words), error.end
