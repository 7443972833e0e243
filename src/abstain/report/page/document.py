"""A self-contained page: nothing is fetched, nothing in the data can become markup or a script."""

import json
import zlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from abstain.extras import require
from abstain.report.page.section import Section
from abstain.report.page.text import text

ALWAYS = ("page.js",)
CHARTS = ("charts.js",)


def document(title: str, sections: Sequence[Section], /, *, subtitle: str = "") -> str:
    """The HTML of a page of sections, with a style, scripts and data of its own; the same bytes for the same sections.

    The browser is told to run the scripts named here by their digests and no other, and to fetch nothing.
    """
    named = dict.fromkeys(script for section in sections for script in section.scripts)
    draws = any(section.draws for section in sections)
    own = [asset(__package__, name) for name in (*ALWAYS, *(CHARTS if draws else ()))]
    scripts = [*([vega()] if draws else []), *own, *named]
    style = asset(__package__, "page.css")
    links = "".join(f'<a href="#{section.name}">{text(section.title)}</a>' for section in sections)
    head = f'<p class="subtitle">{text(subtitle)}</p>' if subtitle else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{text(title)}</title><style>{style}</style>'
        '</head><body><a class="skip" href="#main">Skip to the content</a>'
        f"<header><h1>{text(title)}</h1>{head}"
        f'<nav aria-label="Sections">{links}</nav></header><main id="main">'
        + "".join(map(_section, sections))
        + "</main>"
        + "".join(map(_data, sections))
        + "".join(f"<script>{script}</script>" for script in scripts)
        + "</body></html>\n"
    )


def policy(scripts: Sequence[str], /) -> str:
    """The content security policy: these scripts, the page's own style, pictures inside it, and nothing else."""
    digests = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def packed(data: Any, /) -> str:
    """JSON, deflated, in letters that mean nothing to HTML; `abstain.data(name)` unpacks it in the browser."""
    words = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return b64encode(zlib.compress(words.encode("ascii"))).decode()


@cache
def asset(package: str, name: str, /) -> str:
    """A style or a script beside the modules of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, from the installed package."""
    bundle: str = require("vl_convert", extra="report", feature="The page").javascript_bundle()
    bundle = bundle.replace("</script", r"<\/script")
    return f"(()=>{{{bundle}}})()"


def _section(section: Section) -> str:
    title = f'<h2 id="{section.name}-title">{text(section.title)}</h2>'
    return f'<section id="{section.name}" aria-labelledby="{section.name}-title">{title}{section.html}</section>'


def _data(section: Section) -> str:
    if section.data is None:
        return ""
    return f'<script type="text/plain" id="data-{section.name}">{packed(section.data)}</script>'
