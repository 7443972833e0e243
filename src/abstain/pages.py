"""`WithPage`: results that have a page; drawing it is the report's work, which is above them."""

from os import PathLike
from typing import Any


class WithPage:
    """A result that `abstain.report.pages.write_page` draws."""

    def to_html(self, file: str | PathLike[str], /, **options: Any) -> None:
        """Write one self-contained HTML file.

        Parameters
        ----------
        file : path
            The .html file to write.
        **options
            For an evaluation ``selector``, ``risk``, ``delta`` and ``labels``: see
            `abstain.report.evaluation_page.write_page`.
        """
        raise NotImplementedError  # `abstain/__init__.py`, which is above the report, puts the writing of pages here
