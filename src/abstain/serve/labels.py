"""Labels of earlier decisions, as a service takes them."""

import json
from typing import Any

from abstain._errors import InvalidInputError
from abstain.decision_log import DecisionLog
from abstain.decision_log.record import AUDITED
from abstain.serve.limits import check_row_name

RULE = '{"labels": [{"id": "…", "error": true}, …]}'
MOST = 100_000


def read_labels(body: bytes, log: DecisionLog | None, /, *, audit: bool = False) -> dict[str, list[Any]]:
    """The columns id and error of a body ``{"labels": [{"id": "…", "error": true}, …]}``.

    An id that names several decisions is refused, since the label could be of any of them. Where decisions have an
    ``audit``, the column review marks the labels that it asked for: monitors count no others.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    labels = document.get("labels") if isinstance(document, dict) else None
    if not isinstance(labels, list) or not 0 < len(labels) <= MOST:
        raise InvalidInputError(f"The body must be {RULE}, with 1 to {MOST:,} labels.")
    columns: dict[str, list[Any]] = {"id": [], "error": []}
    for label in labels:
        known = label if isinstance(label, dict) else {}
        name, error = known.get("id"), known.get("error")
        if not isinstance(name, str) or not isinstance(error, bool) or len(known) > 2:
            raise InvalidInputError(f"A label must have `id`, a string, and `error`, true or false: {RULE}.")
        check_row_name(name, "id")
        if log is not None and log.recent.decisions(name) > 1:
            raise InvalidInputError(f"`id` must name one decision, got several of {name!r:.60}.")
        columns["id"].append(name)
        columns["error"].append(error)
    if audit and log is not None:
        columns["review"] = [AUDITED if log.recent.is_drawn(name) else "" for name in columns["id"]]
    return columns
