"""Names of columns that a table of outputs may have, and which columns of a table are not used."""

from collections import Counter
from collections.abc import Iterable

from abstain.outputs.answer_columns import ANSWERS, foreign_names

PLAIN = ("confidence", "correct", "error", "loss", "label", "prediction", "id", "group", "domain", "shift")
WIDE = {"logits": "logit_", "probabilities": "proba_", "features": "feature_"}
"""Arguments of `Outputs` that have a column of lists under their name, or a column for each class or feature."""
PREFIXES = (*WIDE.values(), "confidence_", "uncertainty_")
NO_GROUPS = ("correct", "error", "label", "loss", "id", "confidence", "logits", "probabilities", *ANSWERS)
SHOWN = 9


def spelled(names: Iterable[str], /, *, also: tuple[str, ...] = ()) -> dict[str, str]:
    """The columns that are used, with their usual spelling: case does not matter unless two names differ by it alone.

    ``also`` are further names that are used. Columns of uqlm and lm-polygraph get the names that they have here.

    >>> spelled(["Confidence", "CORRECT", "Logit_Cat", "town"])
    {'Confidence': 'confidence', 'CORRECT': 'correct', 'Logit_Cat': 'logit_Cat'}
    """
    names = list(names)
    others = foreign_names(names)
    spellings = {name: others.get(name) or _spelling(name, also) for name in names}
    often = Counter(spellings.values())
    return {name: ours for name, ours in spellings.items() if ours is not None and (name == ours or often[ours] == 1)}


def is_outcome_or_confidence(name: str, /) -> bool:
    """Whether a column holds outcomes, confidences or ids, and so cannot name groups.

    >>> [is_outcome_or_confidence(name) for name in ("Correct", "confidence_a", "prediction", "town")]
    [True, True, False, False]
    """
    small = name.lower()
    return small in NO_GROUPS or small.startswith(tuple(prefix for prefix in PREFIXES if prefix != WIDE["features"]))


def unused_words(names: Iterable[str], /, *, group: str | None = None) -> str | None:
    """A sentence about columns that are not used, and about a missing `id`; None if all are used.

    ``group`` is the column that names groups, if that is not called group.
    """
    names = [name for name in names if name != group]
    known = spelled(names)
    unused = [name for name in names if name not in known]
    if not unused:
        return None
    listed = ", ".join(unused[:SHOWN]) + (f" and {len(unused) - SHOWN} more" if len(unused) > SHOWN else "")
    rows = "" if "id" in known.values() else " Rows count as independent: a column `id` names what may repeat."
    return f"Columns that are not used: {listed}.{rows}"


def _spelling(name: str, also: tuple[str, ...]) -> str | None:
    """The usual spelling, or None for a column that is not used."""
    small = name.lower()
    if small in (*PLAIN, *ANSWERS, *WIDE, *also):
        return small
    prefix = next((prefix for prefix in PREFIXES if small.startswith(prefix)), None)
    return None if prefix is None else prefix + name[len(prefix) :]
