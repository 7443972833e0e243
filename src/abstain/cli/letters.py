"""Terminals that cannot show every letter, such as those of ASCII alone: words stand for signs, nothing fails."""

import codecs
import sys

WORDS = {
    "●": "*", "○": "o", "α": "alpha", "δ": "delta", "Δ": "Delta", "λ": "lambda", "γ": "gamma", "β": "beta",
    "σ": "sigma", "μ": "mu", "→": "->", "∞": "inf", "×": "x", "–": "-", "—": "-", "−": "-", "≤": "<=", "≥": ">=",
    "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "‖": "||", "²": "^2", "Σ": "sum ", "ŷ": "y",
    "₁": "_1", "ü": "ue",
}  # fmt: skip
HANDLER = "abstain.words"


def set_up_streams() -> None:
    """Let standard output and error write what they cannot encode in words, or, of a user's own names, as escapes."""
    codecs.register_error(HANDLER, _in_words)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)


def shown(text: str, /) -> str:
    """The text as standard output will show it, so that a table can tell its width."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    codecs.register_error(HANDLER, _in_words)
    return text.encode(encoding, HANDLER).decode(encoding)


def _in_words(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    words = [WORDS.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in letters]
    return "".join(words), error.end
