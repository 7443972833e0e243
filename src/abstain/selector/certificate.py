"""`Certificate`: a selector's promise, the data behind it, and what fresh labelled rows say of it."""

import json
from dataclasses import asdict, dataclass
from math import isfinite
from os import PathLike
from typing import Any, Literal, Self, final, get_args

from abstain.jsonable import jsonable
from abstain.pages import page_of
from abstain.records import built, parsed
from abstain.selector.calibration_data import CalibrationData, SliceCounts
from abstain.thresholds.promise import Promise
from abstain.thresholds.refutation import Refutation

FORMAT, VERSION = "abstain.certificate", 2
DIGITS = 6  # significant ones, which no platform or library rounds otherwise
Verdict = Literal["refuted", "not tested", "too little data", "consistent", "confirmed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # from the worst to the best
Event = Literal["wrong", "rejected"]


@final
@dataclass(frozen=True, kw_only=True)
class SelectorFacts:
    """The selector that is certified."""

    digest: str
    """SHA-256, as its file tells it."""
    score: str
    method: str
    threshold: float
    """+inf where there is one for each group."""
    group_thresholds: dict[str, float]
    per: str | None
    n_classes: int
    calibrated_rows: int
    """Rows that certify the threshold."""
    accepted: int
    errors: float | None


@final
@dataclass(frozen=True, kw_only=True)
class PromiseTest:
    """A promise on the fresh rows."""

    about: str
    """What is tested, in words."""
    event: Event
    """What may be of few rows only: a mistake among the accepted, or a rejection."""
    result: Refutation | None
    """None where it cannot be tested."""
    reason: str
    """Why not; nothing where it is."""
    left_out: int
    """Rows of clusters larger than those that the promise is about, which do not test it."""


@final
@dataclass(frozen=True, kw_only=True)
class SliceTest:
    """The fresh rows of one name, and whether their risk is significantly above what is promised for all."""

    counts: SliceCounts
    above: bool


@final
@dataclass(frozen=True, kw_only=True)
class FreshData:
    """Labelled rows that the selector has not seen, and what they say."""

    digest: str
    compared: tuple[str, ...]
    """By what none of them is known to have calibrated it, ids or contents; nothing where that cannot be told."""
    rows: int
    samples: int
    unusable: int
    accepted: int
    errors: int
    """Among the accepted."""
    level: float
    """The probability with which a kept promise may be called refuted, all tests together."""
    tests: tuple[PromiseTest, ...]
    classes: tuple[SliceTest, ...]
    domains: tuple[SliceTest, ...]
    unseen: tuple[str, ...]
    """Groups that calibration did not have, and that are rejected."""
    verdict: Verdict


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    """What is promised of a selector, on what data it rests, and whether fresh rows agree."""

    selector: SelectorFacts
    promises: tuple[Promise, ...]
    calibration: CalibrationData | None
    fresh: FreshData | None
    software: dict[str, str]
    """Versions of what computed it."""
    sources: dict[str, str]
    """Where the selector and the fresh rows were, as they were named."""

    def __repr__(self) -> str:
        one = self.selector
        rule = f"> {one.threshold:.6g}" if one.per is None else f"for each {one.per}"
        return f"<Certificate: {self.verdict}; {one.score} {rule}; print(certificate.summary()) tells its promise>"

    def summary(self) -> str:
        """What is promised, and what the fresh rows say of it, a sentence or two in each line."""
        from abstain.selector.certificate_words import summary_lines  # whose words are of certificates

        return "\n".join(summary_lines(self))

    @property
    def verdict(self) -> Verdict:
        """What the fresh rows say; "not tested" without any."""
        return "not tested" if self.fresh is None else self.fresh.verdict

    def is_at_least(self, verdict: Verdict, /) -> bool:
        """Whether the fresh rows say as much as this verdict, or more."""
        return VERDICTS.index(self.verdict) >= VERDICTS.index(verdict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers rounded to six digits."""
        found: dict[str, Any] = _rounded(jsonable(asdict(self)))
        return {"format": FORMAT, "version": VERSION, "verdict": self.verdict} | found

    def to_json(self) -> str:
        """A text that is the same for the same certificate and differs line by line for others: keys are sorted."""
        return json.dumps(self.to_dict(), sort_keys=True, indent=1, allow_nan=False) + "\n"

    def to_html(self, file: str | PathLike[str], /) -> None:
        """Write one self-contained page."""
        page_of("Certificate").write_page(self, file)

    @classmethod
    def from_json(cls, text: str, /, *, place: str = "text") -> Self:
        """The certificate that `to_json` wrote."""
        try:
            found = parsed(text)
            if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
                raise ValueError("another kind of document")
            if (version := found.pop("version", None)) != VERSION:
                raise ValueError(f"version {version!r}, not {VERSION}")
            verdict, certificate = found.pop("verdict", None), built(found, cls)
            if certificate.verdict != verdict:
                raise ValueError(f"the verdict {verdict!r} where its test says {certificate.verdict!r}")
        except (ValueError, RecursionError) as error:
            raise ValueError(f"`{place}` must be a certificate as .json, got {str(error).rstrip('.')}.") from None
        return certificate


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) and isfinite(value) else value
