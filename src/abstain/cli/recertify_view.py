"""What `abstain recertify` prints: the rows to label, or what their labels certify."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.printing import Lines, Paragraph, Result, warn

if TYPE_CHECKING:
    from abstain.selector import GroupRecertification, Recertification

    Searched = Recertification | GroupRecertification

NOTHING = 1
"""The exit code where a new selector was asked for and nothing is certified."""


def asked_result(asked: "Searched", output: Path, column: str, then: str) -> Result:
    """Which rows to label, and what to do then."""
    fills = {"loss": "its loss in the column loss", "error": "1 in the column error where the answer is wrong, else 0"}
    return Result(
        {"pending": asked.pending, "labels": len(asked.ids)},
        [
            f"Label the {len(asked.pending)} rows in {output}: {fills[column]}.",
            Paragraph(f"Then: {then}", whole=True),
        ],
    )


def answered_result(answered: "Searched", output: Path | None) -> Result:
    """What the labels certify, and the file of the new selector, which is not written where that is nothing."""
    from abstain.selector import Recertification

    labels = len(answered.ids)
    if isinstance(answered, Recertification):
        value = None if answered.threshold is None else answered.threshold.value
        document: dict[str, Any] = {"labels": labels, "looks": answered.looks, "threshold": value}
        lines = _lines(answered)
    else:
        values = {name: group.certified for name, group in answered.groups.items()}
        document = {"labels": labels, "thresholds": values}
        lines = _group_lines(answered)
    if output is None:
        return Result(document, lines)
    if not is_certified(answered):
        warn(f"{output} is not written, since nothing is certified yet.")
        return Result(document, lines, NOTHING)
    return Result(document, [*lines, f"New selector: {output}"])


def is_certified(answered: "Searched", /) -> bool:
    """Whether there is a new threshold, for all rows or for a group."""
    return answered.certified not in (None, ())


def _lines(answered: "Recertification") -> Lines:
    threshold, labels = answered.threshold, len(answered.ids)
    if threshold is not None:
        yield f"Certified after {labels} labels: {threshold}"
        return
    yield f"Nothing is certified after {labels} labels: {answered.outlook()}."
    yield f"- The next test is at {answered.next_look} labels: {_next_step(answered)}"
    yield (
        "- For a higher --risk start again with a new --state file and decisions on new rows: labels that led to "
        "a target cannot certify it."
    )


def _group_lines(answered: "GroupRecertification") -> Lines:
    """The same for each group."""
    certified, labels = answered.certified, len(answered.ids)
    if certified:
        yield f"Certified after {labels} labels: {len(certified)} of {len(answered.groups)} groups ({answered.per})."
    else:
        yield f"Nothing is certified after {labels} labels, in {len(answered.groups)} groups ({answered.per})."
    for name, group in answered.groups.items():
        if group.certified is not None:
            yield f"- {name}: accept iff confidence > {group.certified:.6g}, by {len(group.ids)} labels."
        else:
            none = f"nothing after {len(group.ids)} labels; the next test is at {group.next_look}"
            yield f"- {name}: {none}. It needs {_more(group)}"
    ready = [_missing(group) for group in answered.groups.values() if group.certified is None and _has_left(group)]
    if ready:
        yield f"Next: --ask {len(ready) * max(ready)}, since labels are drawn evenly from groups not certified yet."
    if certified:
        yield (
            f"- In every certified group the risk is at most {answered.risk:g}, in all together with probability at "
            f"least {1 - answered.delta:g}. The new selector rejects groups of this list that are not certified."
        )


def _missing(answered: "Recertification") -> int:
    """How many labels the next test lacks."""
    return answered.next_look - len(answered.ids)


def _has_left(answered: "Recertification") -> bool:
    """Whether the decisions given have enough rows left for the next test."""
    return answered.left >= _missing(answered)


def _next_step(answered: "Recertification") -> str:
    """How to get the labels for the next test."""
    return f"--ask {_missing(answered)}." if _has_left(answered) else _more(answered)


def _more(answered: "Recertification") -> str:
    """How many labels the next test lacks, and where they come from if these decisions have too few."""
    more = _missing(answered)
    if _has_left(answered):
        return f"{more} more."
    return (
        f"{more} more, but these decisions have {answered.left or 'none'} left above the old threshold. Make decisions "
        f"on new rows (`abstain select`), and --ask {more} of them."
    )
