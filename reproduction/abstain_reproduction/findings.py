"""What an experiment found, as plain data: verdicts on claims, tables, numbers and figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from abstain.evaluation import Evaluation
from abstain_reproduction.claims import ClaimVerdict


@dataclass(frozen=True)
class ResultTable:
    """A table of text, its first row the names of the columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What an experiment found."""

    words: str
    """One or two sentences: what was done, and what came of it."""
    verdicts: tuple[ClaimVerdict, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)
    """Plain data that JSON can hold."""
    figures: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """By name, functions that draw a Matplotlib figure."""
    evaluation: Evaluation | None = None
    """The comparison of scores, where there is one."""
