"""A certificate in Markdown."""

from abstain.report.certificate_tables import COLUMNS, certificate_facts, slice_tables
from abstain.report.markdown import inline, markdown_lines
from abstain.selector.certificate import Certificate
from abstain.selector.certificate_words import findings, promise_words, verdict_words


def certificate_markdown(certificate: Certificate, /) -> str:
    """The promise, what the fresh rows say, the data, slices and versions."""
    lines = ["# Certificate", "", *(f"> {inline(words)}\n" for words in promise_words(certificate))]
    lines += [f"**{inline(verdict_words(certificate))}**", ""]
    if found := findings(certificate):
        lines += [*(f"- {inline(words)}" for words in found), ""]
    for title, facts in certificate_facts(certificate).items():
        cells = [(inline(name), inline(value)) for name, value in facts]
        lines += [f"## {title}", "", *markdown_lines(["", ""], cells), ""]
    for title, rows in slice_tables(certificate).items():
        named = [(inline(name), *rest) for name, *rest in rows]
        lines += [f"## {title}", "", *markdown_lines(COLUMNS, named, numbers=len(COLUMNS) - 1), ""]
    return "\n".join(lines).rstrip() + "\n"
