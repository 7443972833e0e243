"""Strings of others, as HTML that shows them and does nothing else."""

import re
from html import escape

SHOWN = 60  # characters of a name
ENDS = 300  # characters at either end of a long passage
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # the direction of all that follows


class Html(str):
    """HTML that is already escaped: templates insert it as it is."""

    def __html__(self) -> str:
        return str(self)


def text(words: object, /) -> Html:
    """Words for the inside of an element or of an attribute in quotation marks; HTML as it is.

    >>> text('<b> & "quotes"')
    '&lt;b&gt; &amp; &quot;quotes&quot;'
    """
    if hasattr(words, "__html__"):
        return Html(words.__html__())
    return Html(escape(_TURNING.sub("\ufffd", plain(words))))


def isolated(words: object, /) -> Html:
    """The same for the inside of a <bdi>, in which a change of direction ends."""
    return Html(escape(plain(words)))


def plain(words: object, /) -> str:
    """Words without what no page can hold: control characters and unpaired surrogates are shown as �."""
    return _UNSHOWABLE.sub("\ufffd", str(words))


def shortened(words: object, /) -> str:
    """At most 60 characters, with … where some are left out."""
    whole = plain(words)
    return whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 1]}…"


def ends(words: object, /) -> str:
    """Both ends of a very long passage, "" of others."""
    whole = plain(words)
    return "" if len(whole) <= 3 * ENDS else f"{whole[:ENDS]} … {whole[-ENDS:]}"
