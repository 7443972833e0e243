"""What has changed since a certificate was written: what breaks it, and what is only worth a notice."""

from dataclasses import dataclass
from typing import Any, final

from abstain.selector.certificate import VERDICTS, Certificate

NOTICED = ("software", "sources")
FRESH = ("fresh", "verdict")
TELLING = ("calibration.digest", "promises[0].target", "selector.score", "selector.threshold", "verdict")
Difference = tuple[str, Any, Any]


@final
@dataclass(frozen=True)
class Changes:
    """In words, what breaks a certificate and what does not."""

    breaks: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether the certificate still holds."""
        return not self.breaks


def changes(old: Certificate, new: Certificate, /) -> Changes:
    """Compare a certificate with one made again from the same selector and rows, or with fresh rows of another place.

    It is broken by a promise that is refuted, by another selector, other promises or calibration rows; by other fresh
    rows, or other decisions on them, where they are said to be the same; and by fresh rows from elsewhere that say less
    than it does. Versions of software, and fresh rows from elsewhere that say as much, are noticed.
    """
    breaks, notices = [], []
    replaced = old.selector.digest != new.selector.digest
    if replaced:
        breaks.append(f"another selector (digest {new.selector.digest[:12]}…, certified {old.selector.digest[:12]}…)")
    elsewhere = old.sources.get("on") != new.sources.get("on")
    if new.verdict == "refuted":
        breaks.append("The promise is refuted by the fresh rows.")
    before, after = old.to_dict(), new.to_dict()
    if new.fresh is not None and elsewhere:
        known = "none" if old.fresh is None else f"{old.fresh.rows:,}"
        notices.append(f"The fresh rows are others: {new.fresh.rows:,} rows for {known}.")
        says_less = VERDICTS.index(new.verdict) < VERDICTS.index(old.verdict)
        if old.fresh is not None and says_less and new.verdict != "refuted":
            breaks.append(f"The fresh rows say {new.verdict!r} where the certificate says {old.verdict!r}.")
        before, after = ({key: value for key, value in each.items() if key not in FRESH} for each in (before, after))
    differences = _differences(before, after, "")
    if replaced:
        differences, left = _telling(differences)
        breaks += [f"{left} more numbers differ, as they do under another selector"] if left else []
    for place, one, other in differences:
        words = f"{place}: {_short(one)} → {_short(other)}"
        (notices if place.split(".")[0] in NOTICED else breaks).append(words)
    return Changes(tuple(breaks), tuple(notices))


def _telling(differences: list[Difference]) -> tuple[list[Difference], int]:
    """Those that say what another selector is, what it promises and rests on; and how many others there are."""
    told = [each for each in differences if each[0].split(".")[0] in NOTICED or each[0].startswith(TELLING)]
    return told, len(differences) - len(told) - 1  # its digest is told


def _differences(old: Any, new: Any, place: str) -> list[Difference]:
    """Where two documents differ, by the path to it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            found
            for key in sorted({*old, *new})
            for found in _differences(old.get(key), new.get(key), f"{place}.{key}" if place else key)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [found for number, pair in pairs for found in _differences(*pair, f"{place}[{number}]")]
    return [] if old == new else [(place, old, new)]


def _short(value: Any) -> str:
    words = f"{len(value)} items" if isinstance(value, dict | list) else str(value)
    return words if len(words) <= 24 else f"{words[:20]}…"
