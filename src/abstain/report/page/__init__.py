"""Self-contained HTML pages from templates: the shell and the parts that any page has."""

from abstain.report.page.document import Section, document, render
from abstain.report.page.parts import TableCell, name, table
from abstain.report.page.text import Html, shortened, text

__all__ = [
    "Html",
    "Section",
    "TableCell",
    "document",
    "name",
    "render",
    "shortened",
    "table",
    "text",
]
