"""`Certificate`: a selector's guarantee, the data behind it, and its test on fresh rows."""

import json
from dataclasses import asdict, dataclass
from math import isfinite
from os import PathLike
from typing import Any, Literal, Self, final, get_args

from abstain._arguments import as_path
from abstain._errors import InvalidInputError, reason_of
from abstain._io.files import write_text
from abstain._io.records import built, jsonable, parsed
from abstain.selector.calibration_data import CalibrationData, SliceCounts
from abstain.selector.certificate_words import summary_lines
from abstain.thresholds.guarantee import Event, Guarantee
from abstain.thresholds.refutation import Refutation

FORMAT, VERSION = "abstain.certificate", 5
DIGITS = 6  # significant ones, which no platform or library rounds otherwise
Verdict = Literal["refuted", "not tested", "too little data", "consistent", "confirmed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # from the worst to the best


@final
@dataclass(frozen=True, kw_only=True)
class SelectorFacts:
    """The selector that is certified."""

    digest: str
    """SHA-256, as in its file."""
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
class GuaranteeTest:
    """A guarantee on the fresh rows."""

    about: str
    """What is tested, in words."""
    event: Event
    """What may be of few rows only: a mistake among the accepted, or a rejection."""
    result: Refutation | None
    """None where it cannot be tested."""
    reason: str
    """Why not; nothing where it is."""
    left_out: int
    """Rows of clusters larger than those that the guarantee is about, which do not test it."""


@final
@dataclass(frozen=True, kw_only=True)
class SliceTest:
    """The fresh rows of one name, and whether their risk is significantly above what is guaranteed for all."""

    counts: SliceCounts
    above: bool


@final
@dataclass(frozen=True, kw_only=True)
class FreshData:
    """Labelled rows that did not calibrate the selector, and the result of testing its guarantees on them."""

    digest: str
    compared: tuple[str, ...]
    """By what none of them is known to have calibrated it, ids or contents; empty where that is not known."""
    rows: int
    samples: int
    unusable: int
    accepted: int
    audited: int | None
    """Accepted rows that were drawn and have a label, where not all have one."""
    errors: int | float
    """Among the accepted, or those of them that have a label: their number, or the total of graded losses."""
    level: float
    """The probability with which any guarantee that holds may be called refuted."""
    tests: tuple[GuaranteeTest, ...]
    classes: tuple[SliceTest, ...]
    domains: tuple[SliceTest, ...]
    missed: tuple[SliceTest, ...]
    """By group and true class whose miss rate is guaranteed: its rows, those accepted, and those of them missed."""
    unseen: tuple[str, ...]
    """Groups that calibration did not have, and that are rejected."""
    verdict: Verdict


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    """What is guaranteed of a selector, on what data it rests, and whether fresh rows agree.

    Attributes
    ----------
    selector : SelectorFacts
        What the selector is.
    guarantees : tuple of Guarantee
        What is guaranteed of it.
    calibration : CalibrationData or None
        The rows it was calibrated on, if they are known.
    fresh : FreshData or None
        The fresh rows and what was observed on them, if there are some.
    software : dict of str
        Versions of what computed it.
    sources : dict of str
        Where the selector and the fresh rows were, as they were named.
    """

    selector: SelectorFacts
    guarantees: tuple[Guarantee, ...]
    calibration: CalibrationData | None
    fresh: FreshData | None
    software: dict[str, str]
    sources: dict[str, str]

    def __repr__(self) -> str:
        facts = self.selector
        rule = f"> {facts.threshold:.6g}" if facts.per is None else f"for each {facts.per}"
        return f"<Certificate: {self.verdict}; {facts.score} {rule}; print(certificate.summary()) shows its guarantee>"

    def summary(self) -> str:
        """The guarantees, the verdict and the tests on the fresh rows, a line each."""
        return "\n".join(summary_lines(self))

    def to_html(self, file: str | PathLike[str], /) -> None:
        """Write one self-contained page to an .html file."""
        from abstain.selector.certificate_page import certificate_page

        write_text(as_path("file", file), certificate_page(self))

    @property
    def verdict(self) -> Verdict:
        """The result on the fresh rows; "not tested" without any."""
        return "not tested" if self.fresh is None else self.fresh.verdict

    def is_at_least(self, verdict: Verdict, /) -> bool:
        """Whether the verdict on the fresh rows is this one or a stronger one."""
        return VERDICTS.index(self.verdict) >= VERDICTS.index(verdict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers rounded to six digits."""
        plain: dict[str, Any] = _rounded(jsonable(asdict(self)))
        return {"format": FORMAT, "version": VERSION, "verdict": self.verdict} | plain

    def to_json(self) -> str:
        """A text that is the same for the same certificate and differs line by line for others: keys are sorted."""
        return json.dumps(self.to_dict(), sort_keys=True, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, /, *, location: str = "text") -> Self:
        """The certificate that `to_json` wrote."""
        try:
            plain = parsed(text)
            if not isinstance(plain, dict) or plain.pop("format", None) != FORMAT:
                raise InvalidInputError("another kind of document")
            if (version := plain.pop("version", None)) != VERSION:
                raise InvalidInputError(f"version {version!r}, not {VERSION}")
            verdict, certificate = plain.pop("verdict", None), built(plain, cls)
            if certificate.verdict != verdict:
                raise InvalidInputError(f"the verdict {verdict!r} where its test says {certificate.verdict!r}")
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"`{location}` must be a certificate as .json, got {reason_of(error)}.") from None
        return certificate


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) and isfinite(value) else value
