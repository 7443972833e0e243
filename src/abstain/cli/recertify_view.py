"""What `abstain recertify` prints: the rows to label, or what their labels certify."""

from pathlib import Path
from typing import TYPE_CHECKING

from abstain.cli.printing import print_json, say

if TYPE_CHECKING:
    from abstain.selector import Recertification
    from abstain.selector.threshold_search import ThresholdSearch


def print_asked(asked: "Recertification", output: Path, column: str, then: str, *, json: bool) -> None:
    """Which rows to label, and what to do then."""
    if json:
        print_json({"pending": list(asked.pending), "labels": len(asked.ids)})
        return
    fills = {"loss": "its loss in the column loss", "error": "1 in the column error where the answer is wrong, else 0"}
    say(f"Label the {len(asked.pending)} rows in {output}: {fills[column]}.")
    say(f"Then: {then}", whole=True)


def print_answered(answered: "Recertification", written: Path | None, *, json: bool) -> None:
    """What the labels certify, and the file of the new selector if one was written."""
    if answered.per is None:
        _print(answered, json=json)
    else:
        _print_groups(answered, json=json)
    if written is not None and not json:
        say(f"New selector: {written}")


def _print(answered: "Recertification", *, json: bool) -> None:
    threshold, labels, (search,) = answered.threshold, len(answered.ids), answered.searches.values()
    if json:
        print_json({"labels": labels, "looks": search.looks, "threshold": search.certified})
    elif threshold is None:
        say(f"Nothing is certified after {labels} labels: {search.outlook()}.")
        say(f"- The next test is at {_next_look(search)} labels: {_next_step(search)}")
        say(
            "- For a higher --risk start again with a new --state file and decisions on new rows: labels that led to "
            "a target cannot certify it."
        )
    else:
        say(f"Certified after {labels} labels: {threshold}")


def _print_groups(answered: "Recertification", *, json: bool) -> None:
    """The same for each group."""
    certified, labels = answered.certified, len(answered.ids)
    if json:
        values = {name: search.certified for name, search in answered.searches.items()}
        print_json({"labels": labels, "thresholds": values})
        return
    if certified:
        say(f"Certified after {labels} labels: {len(certified)} of {len(answered.searches)} groups ({answered.per}).")
    else:
        say(f"Nothing is certified after {labels} labels, in {len(answered.searches)} groups ({answered.per}).")
    for name, search in answered.searches.items():
        if search.certified is not None:
            say(f"- {name}: accept iff confidence > {search.certified:.6g}, by {len(search.ids)} labels.")
        else:
            none = f"nothing after {len(search.ids)} labels; the next test is at {_next_look(search)}"
            say(f"- {name}: {none}. It needs {_more(search)}")
    uncertified = (search for search in answered.searches.values() if search.certified is None)
    ready = [search.labels_to_next_look for search in uncertified if _has_left(search)]
    if ready:
        say(f"Next: --ask {len(ready) * max(ready)}, since labels are drawn evenly from groups not certified yet.")
    if certified:
        say(
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
