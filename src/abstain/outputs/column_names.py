"""Names of columns that a table of outputs may have, and what of a table is not looked at."""

from collections import Counter
from collections.abc import Iterable

PLAIN = ("confidence", "correct", "error", "label", "prediction", "id", "group", "domain", "shift")
WIDE = {"logits": "logit_", "probabilities": "proba_", "features": "feature_"}
"""Arguments of `Outputs` that have a column of lists under their name, or a column for each class or feature."""
PREFIXES = (*WIDE.values(), "confidence_")
NO_GROUPS = ("correct", "error", "label", "loss", "id", "confidence", "logits", "probabilities")
SHOWN = 9


def spelled(names: Iterable[str], /, *, also: tuple[str, ...] = ()) -> dict[str, str]:
    """Columns that are looked at, by name, and how we spell each: capitals do not matter where no two differ by them.

    ``also`` are further names that are looked at.

    >>> spelled(["Confidence", "CORRECT", "Logit_Cat", "town"])
    {'Confidence': 'confidence', 'CORRECT': 'correct', 'Logit_Cat': 'logit_Cat'}
    """
    ours = {name: _spelling(name, also) for name in names}
    often = Counter(ours.values())
    return {name: one for name, one in ours.items() if one is not None and (name == one or often[one] == 1)}


def is_outcome_or_confidence(name: str, /) -> bool:
    """Whether a column tells what came of a row, how sure the classifier was, or which row it is: so it is no group.

    >>> [is_outcome_or_confidence(name) for name in ("Correct", "confidence_a", "prediction", "town")]
    [True, True, False, False]
    """
    small = name.lower()
    return small in NO_GROUPS or small.startswith(tuple(prefix for prefix in PREFIXES if prefix != WIDE["features"]))


def unused_words(names: Iterable[str], /, *, group: str | None = None) -> str | None:
    """In words, which columns are not looked at, and how rows would be known that belong together; None if all are.

    ``group`` is the column that names groups, if that is not called group.
    """
    names = [name for name in names if name != group]
    known = spelled(names)
    left = [name for name in names if name not in known]
    if not left:
        return None
    listed = ", ".join(left[:SHOWN]) + (f" and {len(left) - SHOWN} more" if len(left) > SHOWN else "")
    rows = "" if "id" in known.values() else " Rows count as independent: a column `id` names what may repeat."
    return f"Columns that are not used: {listed}.{rows}"


def _spelling(name: str, also: tuple[str, ...]) -> str | None:
    """Ours, or None where it is no name that we look at."""
    small = name.lower()
    if small in (*PLAIN, *WIDE, *also):
        return small
    prefix = next((prefix for prefix in PREFIXES if small.startswith(prefix)), None)
    return None if prefix is None else prefix + name[len(prefix) :]
