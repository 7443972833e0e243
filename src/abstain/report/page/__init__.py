"""Self-contained HTML pages: the shell that any page has, and the page of an evaluation."""

from abstain.report.page.document import document
from abstain.report.page.section import Section
from abstain.report.page.table import Cell, Column, table
from abstain.report.page.text import name, shortened, text

__all__ = ["Cell", "Column", "Section", "document", "name", "shortened", "table", "text"]
