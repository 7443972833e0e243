"""`changes`: what breaks a certificate that was made again, and what does not."""

from dataclasses import dataclass
from typing import Any, final

from abstain.selector.certificate import VERDICTS, Certificate

NOTICED = ("software", "sources")
FRESH = ("fresh", "verdict")
MAIN = ("calibration.digest", "guarantees[0].target", "selector.score", "selector.threshold", "verdict")
Difference = tuple[str, Any, Any]


@final
@dataclass(frozen=True)
class Changes:
    """What breaks a certificate, and what is only noticed, in words."""

    breaks: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether the certificate still holds."""
        return not self.breaks


def changes(old: Certificate, new: Certificate, /) -> Changes:
    """Compare a certificate with one made again from the same selector and rows, or with fresh rows from elsewhere.

    It is broken by a refuted guarantee, by another selector, other guarantees or calibration rows; by other fresh rows,
    or other decisions on them, where they should be the same; and by a weaker verdict on fresh rows from elsewhere.
    Other versions of software, and the same verdict on fresh rows from elsewhere, are noticed.
    """
    breaks, notices = [], []
    replaced = old.selector.digest != new.selector.digest
    if replaced:
        breaks.append(f"another selector (digest {new.selector.digest[:12]}…, certified {old.selector.digest[:12]}…)")
    elsewhere = old.sources.get("on") != new.sources.get("on")
    if new.verdict == "refuted":
        breaks.append("The guarantee is refuted by the fresh rows.")
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
        differences, left = _main(differences)
        breaks += [f"{left} more numbers differ, as they do under another selector"] if left else []
    for path, before, after in differences:
        words = f"{path}: {_short(before)} → {_short(after)}"
        (notices if path.split(".")[0] in NOTICED else breaks).append(words)
    return Changes(tuple(breaks), tuple(notices))


def _main(differences: list[Difference]) -> tuple[list[Difference], int]:
    """The differences in score, threshold, target, calibration rows and verdict; and how many others there are."""
    main = [each for each in differences if each[0].split(".")[0] in NOTICED or each[0].startswith(MAIN)]
    return main, len(differences) - len(main) - 1  # its digest is named already


def _differences(old: Any, new: Any, path: str) -> list[Difference]:
    """Where two documents differ, by the path to it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for key in sorted({*old, *new})
            for difference in _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [each for number, pair in pairs for each in _differences(*pair, f"{path}[{number}]")]
    return [] if old == new else [(path, old, new)]


def _short(value: Any) -> str:
    words = f"{len(value)} items" if isinstance(value, dict | list) else str(value)
    return words if len(words) <= 24 else f"{words[:20]}…"
