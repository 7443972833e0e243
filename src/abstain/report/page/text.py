"""Text that others wrote, as HTML that shows it and does nothing else."""

import re
from html import escape

SHOWN = 60  # letters of a name
ENDS = 300  # letters at either end of a long passage
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # the direction of all that follows


def text(words: object, /) -> str:
    """Words for the inside of an element or of an attribute in quotation marks.

    >>> text('<b> & "quotes"')
    '&lt;b&gt; &amp; &quot;quotes&quot;'
    """
    return escape(_TURNING.sub("\ufffd", plain(words)))


def plain(words: object, /) -> str:
    """Words without what no page can hold: control characters and halves of letters are shown as �."""
    return _UNSHOWABLE.sub("\ufffd", str(words))


def shortened(words: object, /) -> str:
    """At most 60 letters, with … where some are left out."""
    whole = plain(words)
    return whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 1]}…"


def name(words: object, /) -> str:
    """The name of a class, sample or domain, in whatever script; a long one is cut and opens to the whole.

    >>> name("hospital <B>")
    '<bdi>hospital &lt;B&gt;</bdi>'
    """
    whole = plain(words)
    if len(whole) <= SHOWN:
        return f"<bdi>{escape(whole)}</bdi>"
    return (
        f'<details class="long"><summary><bdi>{escape(shortened(whole))}</bdi></summary>'
        f"<bdi>{escape(whole)}</bdi></details>"
    )


def passage(words: object, /) -> str:
    """Sentences that may hold names of any length: of a very long one both ends are shown, and it opens to the whole.

    >>> passage("a & b"), len(passage("x" * 10_000)) < 11_000
    ('a &amp; b', True)
    """
    whole = plain(words)
    if len(whole) <= 3 * ENDS:
        return text(whole)
    cut = f"{whole[:ENDS]} … {whole[-ENDS:]}"
    return f'<details class="long"><summary>{text(cut)}</summary>{text(whole)}</details>'
