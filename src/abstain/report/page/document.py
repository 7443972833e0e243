"""A self-contained page from templates: nothing is fetched, nothing in the data can become markup or a script."""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from abstain._extras import require
from abstain.report.page.text import Html, ends, isolated, plain, shortened, text


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading and what is below it; with scripts, the data they read."""

    name: str
    """Its anchor, and the name its scripts ask for its data by."""
    title: str
    html: Html
    """What is below the heading."""
    data: Any = None
    """What JSON can hold."""
    scripts: tuple[str, ...] = ()
    """Names of files among the templates, run after what every page has."""
    draws: bool = False
    """Whether it has charts, for which the page gets Vega."""


def document(title: str, sections: Sequence[Section], /, *, subtitle: str = "") -> str:
    """The HTML of a page of sections, with a style, scripts and data of its own; the same bytes for the same sections.

    The content security policy allows the scripts named here by their digests and no other, and no fetching.
    """
    named = dict.fromkeys(script for section in sections for script in section.scripts)
    draws = any(section.draws for section in sections)
    own = [asset(name) for name in ("page.js", *(["charts.js"] if draws else []), *named)]
    scripts = [*([vega()] if draws else []), *own]
    page = render(
        "page.html",
        title=title,
        subtitle=subtitle,
        sections=sections,
        policy=Html(policy(scripts)),
        style=Html(asset("page.css")),
        scripts=[Html(script) for script in scripts],
        packed={section.name: Html(packed(section.data)) for section in sections if section.data is not None},
    )
    return f"{page}\n"


def render(template: str, /, **values: Any) -> Html:
    """A template filled in; every value that is not HTML is escaped."""
    return Html(environment().get_template(template).render(**values))


@cache
def environment() -> Any:
    """Jinja2 for the templates of this package: line breaks in them are no text, and an unknown name is an error."""
    jinja2 = require("jinja2", extra="report", feature="The page")
    templates = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _joined(asset(name))),
        autoescape=True,
        finalize=text,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {"plain": plain, "shortened": shortened, "isolated": isolated, "ends": ends}
    return templates


def _joined(template: str) -> str:
    """A template on one line, as a break between two elements would show as a space."""
    return re.sub(r"\n\s*", "", template)


def policy(scripts: Sequence[str], /) -> str:
    """The content security policy: these scripts, the page's own style, pictures inside it, and nothing else."""
    digests = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def packed(data: Any, /) -> str:
    """JSON, deflated, in characters that mean nothing to HTML; `abstain.data(name)` unpacks it in the browser."""
    words = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return b64encode(zlib.compress(words.encode("ascii"))).decode()


@cache
def asset(name: str, /) -> str:
    """A template, style or script of the package."""
    return files("abstain.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, from the installed package."""
    bundle: str = require("vl_convert", extra="report", feature="The page").javascript_bundle()
    bundle = bundle.replace("</script", r"<\/script")
    return f"(()=>{{{bundle}}})()"
