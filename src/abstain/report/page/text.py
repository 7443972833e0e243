"""Text that others wrote, as HTML that shows it and does nothing else."""

import re
from html import escape

SHOWN = 60  # letters of a name
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def text(words: object, /) -> str:
    """Words for the inside of an element or of an attribute in quotation marks.

    >>> text('<b> & "quotes"')
    '&lt;b&gt; &amp; &quot;quotes&quot;'
    """
    return escape(plain(words))


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
