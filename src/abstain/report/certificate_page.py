"""A certificate as one self-contained page."""

from os import PathLike

from abstain.arguments import as_path
from abstain.files import write_text
from abstain.report.certificate_tables import COLUMNS, certificate_facts, slice_tables
from abstain.report.page import Cell, Column, Section, document, name, passage, table, text
from abstain.selector.certificate import Certificate
from abstain.selector.certificate_words import findings, promise_words, verdict_words


def write_page(certificate: Certificate, file: str | PathLike[str], /) -> None:
    """Write the page."""
    write_text(as_path("file", file), certificate_page(certificate))


def certificate_page(certificate: Certificate, /) -> str:
    """The HTML of the page."""
    facts = certificate_facts(certificate)
    software = facts.pop("Software")
    sections = [
        Section(name="promise", title="The promise", html=_promise(certificate)),
        Section(
            name="data",
            title="What it rests on",
            html="".join(f"<h3>{text(t)}</h3>{_facts(f)}" for t, f in facts.items()),
        ),
        *_slices(certificate),
        Section(name="software", title="Software", html=_facts(software)),
    ]
    return document("Certificate of a selector", sections, subtitle=certificate.sources.get("selector", ""))


def _promise(certificate: Certificate) -> str:
    first, *rest = promise_words(certificate)
    colour = {"refuted": " bad", "too little data": " caution", "not tested": " caution"}.get(certificate.verdict, "")
    html = f'<p class="decision">{passage(first)}</p>' + "".join(
        f'<p class="lead">{passage(words)}</p>' for words in rest
    )
    found = findings(certificate)
    listed = f"<ul>{''.join(f'<li>{passage(words)}</li>' for words in found)}</ul>" if found else ""
    return f'{html}<div class="note{colour}"><p><strong>{text(verdict_words(certificate))}</strong></p>{listed}</div>'


def _facts(facts: list[tuple[str, str]]) -> str:
    listed = "".join(f"<dt>{text(title)}</dt><dd>{passage(value)}</dd>" for title, value in facts)
    return f'<dl class="facts">{listed}</dl>'


def _slices(certificate: Certificate) -> list[Section]:
    tables = slice_tables(certificate)
    if not tables:
        return []
    columns = [Column(title or "remark", number=0 < place < len(COLUMNS) - 1) for place, title in enumerate(COLUMNS)]
    html = "".join(
        table(
            columns, [[Cell(name(first)), *(Cell(text(cell)) for cell in rest)] for first, *rest in rows], caption=title
        )
        for title, rows in tables.items()
    )
    return [Section(name="slices", title="Classes and groups", html=html)]
