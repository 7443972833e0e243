"""When two answers are the same text."""

import json
from typing import Any
from unicodedata import normalize

OUTER = " \t\r\n.,;:!?\"'`*“”‘’«»"


def normal_form(answer: str, /) -> str:
    """An answer without case, outer punctuation and repeated spaces, in Unicode's canonical form (NFC).

    Signs inside stay, so that 3.5 is not 35 and −5 is not 5; compatibility characters stay, so that 10² is not 102.

    Parameters
    ----------
    answer : str
        As the model wrote it.

    Returns
    -------
    str

    Examples
    --------
    >>> normal_form("  The  Hague.") == normal_form("the Hague")
    True
    """
    folded = normalize("NFC", normalize("NFC", answer).casefold())
    return " ".join(folded.split()).strip(OUTER)


def as_plain(value: Any, /) -> Any:
    """Values of Polars and of NumPy as Python's own."""
    convert = getattr(value, "to_list", getattr(value, "tolist", None))
    return value if convert is None else convert()


def as_text(answer: Any, /) -> str | None:
    """An answer of any kind as text, None where there is none: 3 and 3.0 are the same, and so are {a, b} and {b, a}.

    >>> [as_text(value) for value in ("Paris", 3.0, True, None, {"b": 1, "a": [2]})]
    ['Paris', '3', 'true', None, '{"a": [2], "b": 1}']
    """
    answer = as_plain(answer)
    if answer is None or answer != answer:
        return None
    if isinstance(answer, str):
        return answer
    if isinstance(answer, float) and answer.is_integer():
        answer = int(answer)
    return json.dumps(answer, sort_keys=True, ensure_ascii=False, default=str)
