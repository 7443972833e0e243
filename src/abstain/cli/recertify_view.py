"""What `abstain recertify` prints: the rows to label, or what their labels certify."""

from pathlib import Path
from typing import TYPE_CHECKING

from abstain.cli.printing import print_json, say

if TYPE_CHECKING:
    from abstain.selector.group_recertification import GroupRecertification
    from abstain.selector.recertify import Recertification

    Searched = Recertification | GroupRecertification


def print_asked(asked: "Searched", output: Path, column: str, then: str, *, json: bool) -> None:
    """Which rows to label, and what to do then."""
    if json:
        print_json({"pending": list(asked.pending), "labels": len(asked.ids)})
        return
    fills = {"loss": "its loss in the column loss", "error": "1 in the column error where the answer is wrong, else 0"}
    say(f"Label the {len(asked.pending)} rows in {output}: {fills[column]}.")
    say(f"Then: {then}", whole=True)


def print_answered(answered: "Searched", written: Path | None, *, json: bool) -> None:
    """What the labels certify, and the file of the new selector if one was written."""
    from abstain.selector import GroupRecertification

    if isinstance(answered, GroupRecertification):
        _print_groups(answered, json=json)
    else:
        _print(answered, json=json)
    if written is not None and not json:
        say(f"New selector: {written}")


def _print(answered: "Recertification", *, json: bool) -> None:
    threshold, labels = answered.threshold, len(answered.ids)
    if json:
        value = None if threshold is None else threshold.value
        print_json({"labels": labels, "looks": answered.looks, "threshold": value})
    elif threshold is None:
        say(f"Nothing is certified after {labels} labels: {answered.outlook()}.")
        say(f"- The next test is at {answered.next_look} labels: {_next_step(answered)}")
        say(
            "- For a higher --risk start again with a new --state file and decisions on new rows: labels that led to "
            "a target cannot certify it."
        )
    else:
        say(f"Certified after {labels} labels: {threshold}")


def _print_groups(answered: "GroupRecertification", *, json: bool) -> None:
    """The same for each group."""
    certified, labels = answered.certified, len(answered.ids)
    if json:
        values = {name: group.certified for name, group in answered.groups.items()}
        print_json({"labels": labels, "thresholds": values})
        return
    if certified:
        say(f"Certified after {labels} labels: {len(certified)} of {len(answered.groups)} groups ({answered.per}).")
    else:
        say(f"Nothing is certified after {labels} labels, in {len(answered.groups)} groups ({answered.per}).")
    for name, group in answered.groups.items():
        if group.certified is not None:
            say(f"- {name}: accept iff confidence > {group.certified:.6g}, by {len(group.ids)} labels.")
        else:
            none = f"nothing after {len(group.ids)} labels; the next test is at {group.next_look}"
            say(f"- {name}: {none}. It needs {_more(group)}")
    ready = [_missing(group) for group in answered.groups.values() if group.certified is None and _has_left(group)]
    if ready:
        say(f"Next: --ask {len(ready) * max(ready)}, since labels are drawn evenly from groups not certified yet.")
    if certified:
        say(
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
