"""The site: built once, strictly, then read as a browser would."""

import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

import abstain

pytest.importorskip("pydata_sphinx_theme")
pytestmark = pytest.mark.timeout(900)  # the site is built
DOCS = Path(__file__).parent.parent / "docs"


class Page(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, file):
        super().__init__()
        self.anchors, self.links, self.loads = set(), set(), set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        result = dict(attrs)
        self.anchors |= {result[key] for key in ("id", "name") if result.get(key)}
        if tag == "a" and result.get("href"):
            self.links.add(result["href"])
        elif tag in ("img", "script", "source", "iframe") and result.get("src"):
            self.loads.add(result["src"])
        elif tag == "link" and result.get("rel") in ("stylesheet", "icon", "preload", "prefetch"):
            self.loads.add(result["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A proxy that refuses stands for a machine without a network."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", str(DOCS), str(folder)]
    offline = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | offline, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {file: Page(file) for file in site.rglob("*.html")}


def test_every_link_leads_to_a_page_and_an_anchor(site, pages):
    broken = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchor = unquote(parts.fragment)
            result = target.exists() and (not anchor or target not in pages or anchor in pages[target].anchors)
            broken += [] if result else [f"{file.relative_to(site)}: {link}"]
    assert not broken


def test_pages_load_nothing_from_elsewhere(pages):
    foreign = {load for page in pages.values() for load in page.loads if urlsplit(load).netloc}
    assert not foreign


def test_style_sheets_load_nothing_from_elsewhere(site):
    loaded = (
        url for file in site.rglob("*.css") for url in re.findall(r"(?:url\(|@import )['\"]?(\S+)", file.read_text())
    )
    assert not [url for url in loaded if url.startswith(("http", "//"))]


def test_every_public_name_is_in_the_reference(pages):
    documented = set().union(*(page.anchors for file, page in pages.items() if file.parent.name == "reference"))
    names = {f"{module}.{name}" for module in public_modules() for name in importlib.import_module(module).__all__}
    at_home = {f"abstain.errors.{name}" for name in abstain.errors.__all__}  # errors are on one page
    missing = {name for name in names - documented if f"abstain.errors.{name.rpartition('.')[2]}" not in at_home}
    assert not missing, "every public module must have a page in docs/reference, named in its index.md."


FIRST = {
    "choose a score": "howto/choose-a-score.html",
    "how to choose a score": "howto/choose-a-score.html",
    "LLM": "start/language-model.html",
    "federated": "howto/hospitals.html",
    "false negatives": "rejected.html",
    "delta": "concepts/guarantee.html",
    "nothing certifies": "howto/nothing-certifies.html",
    "unlabelled": "howto/shift-without-labels.html",
    "unlabelled shift": "howto/shift-without-labels.html",
    "no labels": "howto/shift-without-labels.html",
    "parameters of calibrate": "reference/selector.html",
    "install": "start/index.html",
}
"""What a newcomer types into the search of the site, and the page that must come first."""


@pytest.mark.parametrize("words", FIRST)
def test_the_search_of_the_site_puts_the_answer_first(site, chromium, words):
    page = chromium.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    page.wait_for_function("/found/.test(document.querySelector('#search-results .search-summary')?.innerText)")
    link = page.get_attribute("#search-results ul.search > li > a", "href")
    page.close()
    assert urlsplit(link).path == FIRST[words]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_figure_of_the_scale_follows_keyboard_and_mouse(site, chromium, theme):
    page = chromium.new_page(color_scheme=theme)
    page.goto((site / "concepts" / "scale.html").as_uri())
    captions = [page.inner_text("#scale-caption")]
    page.focus("#scale-slider")
    page.keyboard.press("ArrowRight")
    captions.append(page.inner_text("#scale-caption"))
    box = page.locator("#scale-slider").bounding_box()
    page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2)
    captions.append(page.inner_text("#scale-caption"))
    page.select_option("#scale-source", "digits")
    captions.append(page.inner_text("#scale-caption"))
    text, background = (
        page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{name}.match(/\\d+/g)")
        for selector, name in (("#scale-figure text", "fill"), ("body", "backgroundColor"))
    )
    page.close()
    assert len(set(captions)) == 4
    assert abs(sum(map(int, text[:3])) - sum(map(int, background[:3]))) > 300  # readable


@pytest.mark.parametrize(
    ("block", "idle"),
    [
        ("```python\n>>> 1 + 1\n2\n\n```", []),
        ("```console\n$ abstain --version\n```", []),
        ("```sh\n# not run here: needs a GPU\nabstain collect\n```", []),
        ("```\nabstain collect\n```", [3]),
        ("```python\nimport abstain\n```", [3]),
    ],
)
def test_a_block_that_is_not_run_says_why(block, idle):
    """The build of the site warns of the others, and a warning is an error."""
    spec = importlib.util.spec_from_file_location("examples", DOCS / "_ext" / "examples.py")
    examples = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(examples)
    assert examples.idle_blocks(f"# Page\n\n{block}\n") == idle


def public_modules():
    """Packages and modules without an underscore that list their names."""
    for result in pkgutil.walk_packages(abstain.__path__, "abstain."):
        if not re.search(
            r"\._|\.cli\b|\.report\b|evaluation\.page|selector\.(?:targets|cascades)|monitor\.estimates|outputs\.table",
            result.name,
        ) and _lists_names(result):
            yield result.name


def _lists_names(result):
    return "\n__all__ = " in Path(result.module_finder.find_spec(result.name).origin).read_text(encoding="utf-8")
