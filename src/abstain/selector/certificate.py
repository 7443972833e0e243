"""`Certificate`: a selector's guarantee, the data behind it, what fresh rows say of it, and all of it in words."""

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal, Self, final, get_args

from abstain._errors import InvalidInputError, reason_of
from abstain._io.records import built, jsonable, parsed
from abstain._text import counted, percent, sentence
from abstain.pages import WithPage
from abstain.selector.calibration_data import CalibrationData, SliceCounts
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
    """The probability with which a kept guarantee may be called refuted, all tests together."""
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
class Certificate(WithPage):
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
        """What is guaranteed, and what the fresh rows say of it, a sentence or two in each line."""
        return "\n".join(summary_lines(self))

    @property
    def verdict(self) -> Verdict:
        """What the fresh rows say; "not tested" without any."""
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


MEANING = {
    "confirmed": "the fresh rows alone prove {}",
    "consistent": "the fresh rows are consistent with {}",
    "refuted": "the fresh rows refute {}",
    "too little data": "the fresh rows are too few to say",
    "not tested": "{} was not tested on fresh rows",
}


def verdict_words(certificate: Certificate, /) -> str:
    """What the fresh rows say, in a sentence."""
    what = "the guarantee" if _is_guaranteed(certificate) else "what was aimed at"
    return f"{sentence(MEANING[certificate.verdict].format(what))}."


def _is_guaranteed(certificate: Certificate) -> bool:
    return all(guarantee.proved for guarantee in certificate.guarantees)


def guarantee_words(certificate: Certificate, /) -> list[str]:
    """Each guarantee, a sentence."""
    return [sentence(str(guarantee)) for guarantee in certificate.guarantees]


def summary_lines(certificate: Certificate, /) -> list[str]:
    """The guarantees, the verdict, and what it rests on."""
    return [*guarantee_words(certificate), verdict_words(certificate), *findings(certificate)]


def findings(certificate: Certificate, /) -> list[str]:
    """What the fresh rows say of each guarantee, then of classes and domains that stand out; nothing without any."""
    if (fresh := certificate.fresh) is None:
        return []
    unknown = [] if fresh.compared else [f"Which of the fresh rows calibrated it is {compared_words(fresh)}."]
    return [*all_test_words(certificate), *slice_words(fresh), *unknown]


def all_test_words(certificate: Certificate, /) -> list[str]:
    """What the fresh rows say of each guarantee, at the share of the level that it has; nothing without any."""
    word = "guaranteed" if _is_guaranteed(certificate) else "aimed at"
    return [words_of_test(test, word=word) for test in ([] if certificate.fresh is None else certificate.fresh.tests)]


def words_of_test(test: GuaranteeTest, /, *, word: str = "guaranteed") -> str:
    """What was tested, what was observed, and what follows."""
    about = sentence(test.about)
    if (result := test.result) is None:
        return f"{about}: not tested, as {test.reason}."
    mean, graded = result.events / result.trials if result.trials else 0.0, test.event == "loss"
    observed = (
        f"{mean:.4g} among {result.trials:,}"
        if graded
        else (f"{result.events:,} of {result.trials:,} are {test.event}" + (f" ({mean:.2%})" if result.trials else ""))
    )
    allowed = f"at most {result.limit if graded else percent(result.limit)} is {word}"
    exact = result.by == "binomial"
    clusters = f", clusters of at most {result.largest} rows" if result.largest > 1 else ""
    p = f"p = {result.p_value:.3g}{'' if exact else f' (by bets{clusters})'}"
    chance = f"probability {'' if exact else 'about '}{result.power:.0%}"
    what, other, high = "share", percent(result.alternative), f"{result.high:.2%}"
    if graded:
        what, other, high = "mean", f"{result.alternative:.4g}", f"{result.high:.4g}"
    noticed = f"A {what} of {other} would be noticed with {chance}"
    bound = f"the {what} itself is at most {high} with probability {100 * (1 - result.delta):.4g}%"
    return f"{about}: {observed}, {allowed}; {p}, {result.verdict}. {noticed}; {bound}.{_left_out(test)}"


def _left_out(test: GuaranteeTest) -> str:
    """That the fresh rows refute what the guarantee assumes of clusters, where they do."""
    if not test.left_out or test.result is None:
        return ""
    return (
        f" {counted(test.left_out, 'row')} left out: their clusters have more than "
        f"{counted(test.result.largest, 'row')}, which the guarantee does not cover. "
        "Calibrate again, on clusters like these or with `largest_cluster`."
    )


def slice_words(fresh: FreshData, /) -> list[str]:
    """The classes and domains whose risk is significantly above what is guaranteed for all rows."""
    kinds = (("class", fresh.classes), ("group", fresh.domains))
    return [
        f"In the {kind} {part.counts.name}, {_observed(part.counts)}, significantly more than is guaranteed for all "
        "rows together."
        for kind, slices in kinds
        for part in slices
        if part.above
    ] + [
        f"In the group {part.counts.name}, {part.counts.errors:,} of {part.counts.n:,} rows of this true class are "
        "accepted with another answer, significantly more than is guaranteed for all rows together."
        for part in fresh.missed
        if part.above
    ]


def _observed(counts: SliceCounts) -> str:
    if isinstance(counts.errors, int):
        return f"{counts.errors:,} of {counts.accepted:,} accepted rows are wrong"
    return f"the mean loss of {counts.accepted:,} accepted rows is {counts.errors / counts.accepted:.4g}"


def compared_words(fresh: FreshData, /) -> str:
    """Whether any of the fresh rows calibrated the selector, and how that is known."""
    if not fresh.compared:
        return "not known: the selector keeps no hashes of its rows, as one from a sketch"
    return f"none that is known by its {' or '.join(fresh.compared)}"


def in_percent(part: float, whole: int, /) -> str:
    """A share in percent, or a dash where there is nothing."""
    return f"{part / whole:.1%}" if whole else "–"


def mark(part: SliceTest, /) -> str:
    """The remark on a slice."""
    return "above the guarantee" if part.above else ""
