"""What `abstain recertify` prints: the rows to label, or what their labels certify."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.printing import Lines, Paragraph, Result, warn

if TYPE_CHECKING:
    from abstain.selector import Recertification
    from abstain.selector.threshold_search import ThresholdSearch

NOTHING = 1
"""The exit code where a new selector was asked for and nothing is certified."""


def asked_result(asked: "Recertification", output: Path, column: str, then: str) -> Result:
    """Which rows to label, and what to do then."""
    fills = {"loss": "its loss in the column loss", "error": "1 in the column error where the answer is wrong, else 0"}
    return Result(
        {"pending": asked.pending, "labels": len(asked.ids)},
        [
            f"Label the {len(asked.pending)} rows in {output}: {fills[column]}.",
            Paragraph(f"Then: {then}", whole=True),
        ],
    )


def answered_result(answered: "Recertification", output: Path | None) -> Result:
    """What the labels certify, and the file of the new selector, which is not written where that is nothing."""
    labels = len(answered.ids)
    if answered.per is None:
        (search,) = answered.searches.values()
        document: dict[str, Any] = {"labels": labels, "looks": search.looks, "threshold": search.certified}
        lines = _lines(answered, search)
    else:
        values = {name: search.certified for name, search in answered.searches.items()}
        document = {"labels": labels, "thresholds": values}
        lines = _group_lines(answered)
    if output is None:
        return Result(document, lines)
    if not answered.certified:
        warn(f"{output} is not written, since nothing is certified yet.")
        return Result(document, lines, NOTHING)
    return Result(document, [*lines, f"New selector: {output}"])


def _lines(answered: "Recertification", search: "ThresholdSearch") -> Lines:
    threshold, labels = answered.threshold, len(answered.ids)
    if threshold is not None:
        yield f"Certified after {labels} labels: {threshold}"
        return
    yield f"Nothing is certified after {labels} labels: {search.outlook()}."
    yield f"- The next test is at {_next_look(search)} labels: {_next_step(search)}"
    yield (
        "- For a higher --risk start again with a new --state file and decisions on new rows: labels that led to "
        "a target cannot certify it."
    )


def _group_lines(answered: "Recertification") -> Lines:
    """The same for each group."""
    certified, labels = answered.certified, len(answered.ids)
    if certified:
        yield f"Certified after {labels} labels: {len(certified)} of {len(answered.searches)} groups ({answered.per})."
    else:
        yield f"Nothing is certified after {labels} labels, in {len(answered.searches)} groups ({answered.per})."
    for name, search in answered.searches.items():
        if search.certified is not None:
            yield f"- {name}: accept iff confidence > {search.certified:.6g}, by {len(search.ids)} labels."
        else:
            none = f"nothing after {len(search.ids)} labels; the next test is at {_next_look(search)}"
            yield f"- {name}: {none}. It needs {_more(search)}"
    uncertified = (search for search in answered.searches.values() if search.certified is None)
    ready = [search.labels_to_next_look for search in uncertified if _has_left(search)]
    if ready:
        yield f"Next: --ask {len(ready) * max(ready)}, since labels are drawn evenly from groups not certified yet."
    if certified:
        yield (
            f"- In every certified group the risk is at most {answered.risk:g}, in all together with probability at "
            f"least {1 - answered.delta:g}. The new selector rejects groups of this list that are not certified."
        )


def _next_look(search: "ThresholdSearch") -> int:
    """The number of labels at the next test."""
    return len(search.ids) + search.labels_to_next_look


def _has_left(search: "ThresholdSearch") -> bool:
    """Whether the decisions given have enough rows left for the next test."""
    return search.left >= search.labels_to_next_look


def _next_step(search: "ThresholdSearch") -> str:
    """How to get the labels for the next test."""
    return f"--ask {search.labels_to_next_look}." if _has_left(search) else _more(search)


def _more(search: "ThresholdSearch") -> str:
    """How many labels the next test lacks, and where they come from if these decisions have too few."""
    more = search.labels_to_next_look
    if _has_left(search):
        return f"{more} more."
    return (
        f"{more} more, but these decisions have {search.left or 'none'} left above the old threshold. Make decisions "
        f"on new rows (`abstain select`), and --ask {more} of them."
    )
