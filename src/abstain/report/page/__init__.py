"""Self-contained HTML pages: the shell that any page has, and the page of an evaluation."""

from abstain.report.page.document import asset, document
from abstain.report.page.section import Section
from abstain.report.page.table import Cell, Column, table
from abstain.report.page.text import name, passage, shortened, text
from abstain.report.page.tiles import tiles

__all__ = ["Cell", "Column", "Section", "asset", "document", "name", "passage", "shortened", "table", "text", "tiles"]
