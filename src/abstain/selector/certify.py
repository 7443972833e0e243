"""`certify`: write down what a selector guarantees, test it on fresh labelled rows, and compare two certificates."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, final
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain.metrics.checks import rejected_last
from abstain.metrics.slices import rows_of_parts
from abstain.outputs import Outputs
from abstain.outputs.hashes import outputs_digest
from abstain.outputs.outputs import expect_outputs
from abstain.outputs.validation import unlabelled
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.calibration_data import class_names_of, slice_counts
from abstain.selector.cascades.cascade import Cascade
from abstain.selector.certificate import (
    VERDICTS,
    Certificate,
    FreshData,
    GuaranteeTest,
    SelectorFacts,
    SliceTest,
    Verdict,
)
from abstain.selector.selector import Selector
from abstain.thresholds.evidence import Evidence
from abstain.thresholds.guarantee import Event, Guarantee
from abstain.thresholds.refutation import VACUOUS, Refutation, p_above, refutation, untestable
from abstain.thresholds.sample import check_chance

Mask = NDArray[np.bool_]
NO_GROUPS = "the fresh rows do not name their groups"
NOTICED = ("software", "sources")
FRESH = ("fresh", "verdict")
MAIN = ("calibration.digest", "guarantees[0].target", "selector.score", "selector.threshold", "verdict")
Difference = tuple[str, Any, Any]


def certify(
    selector: Selector | Cascade,
    fresh: Outputs | Sequence[Outputs] | AuditedDecisions | None = None,
    /,
    *,
    level: float = 0.05,
    sources: dict[str, str] | None = None,
) -> Certificate:
    """The certificate of a selector; with ``fresh`` labelled rows, whether its guarantee is consistent with them.

    The fresh rows must be drawn as those to come are, and none of them may have calibrated it. A guarantee that is kept
    is called refuted with probability at most ``level``, which all guarantees tested share. The test follows the
    guarantee, not the fresh rows: for clusters of at most M rows by bets, on the fresh clusters of at most M rows, and
    exact for independent rows and for one row of each cluster. Of decisions with an audit, the audited rows test what
    is guaranteed of the accepted, and all rows what is guaranteed of the share accepted.

    Parameters
    ----------
    selector
        A selector or cascade, whose guarantees are certified.
    fresh
        Labelled outputs, or decisions with an audit, to test them on; for a cascade the outputs of each stage in a
        list.
    level
        The probability of refuting a guarantee that holds.
    sources
        Names of the files, which the certificate records.

    Returns
    -------
    Certificate
        With the verdict on the fresh rows, if there are any.
    """
    check_chance("level", level)
    if isinstance(selector, Cascade):
        rows = fresh if fresh is None or isinstance(fresh, AuditedDecisions) else selector.combined(_list(fresh))
        made = _certificate(selector.selector, rows, level, sources)
        return replace(made, selector=replace(made.selector, digest=selector.digest))
    if not isinstance(selector, Selector):
        raise InvalidTypeError(f"`selector` must be a Selector or a Cascade, got {type(selector).__name__}.")
    return _certificate(selector, fresh, level, sources)


def _list(fresh: Outputs | Sequence[Outputs]) -> Sequence[Outputs]:
    if isinstance(fresh, Outputs):
        raise InvalidTypeError("`fresh` must be a list with the outputs of each stage for a cascade, got Outputs.")
    return fresh


def _certificate(selector: Selector, fresh: Any, level: float, sources: dict[str, str] | None) -> Certificate:
    threshold, groups = selector.threshold, selector.groups
    return Certificate(
        selector=SelectorFacts(
            digest=selector.digest,
            score=selector.score,
            method=threshold.method,
            threshold=threshold.value,
            group_thresholds={} if groups is None else {name: group.value for name, group in groups.thresholds.items()},
            per=None if groups is None else groups.per,
            n_classes=selector.n_classes,
            calibrated_rows=threshold.n,
            accepted=threshold.accepted,
            errors=threshold.errors,
        ),
        guarantees=(threshold.guarantee, *threshold.further),
        calibration=selector.calibration,
        fresh=None if fresh is None else _fresh(selector, fresh, level).data(),
        software={"abstain": version("abstain"), "python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy")},
        sources=dict(sources or {}),
    )


def _fresh(selector: Selector, fresh: Outputs | AuditedDecisions, level: float) -> "_Fresh":
    if isinstance(fresh, AuditedDecisions):
        if selector.groups is not None:
            raise InvalidInputError("`selector` must have one threshold to be certified by decisions, got several.")
        confidences, graded = {selector.score: fresh.confidence}, fresh.errors.dtype != bool
        rows = Outputs(
            confidences=confidences,
            errors=None if graded else fresh.errors,
            losses=fresh.errors if graded else None,
            ids=fresh.ids,
        )
        return _Fresh(
            selector, rows, level, rejected_last(fresh.confidence), fresh.accepted, fresh.errors, fresh.audited
        )
    expect_outputs(fresh, name="fresh")
    if not fresh.is_labelled:
        raise unlabelled("fresh")
    guarantees = (selector.threshold.guarantee, *selector.threshold.further)
    if fresh.is_graded and any(guarantee.quantity.event == "wrong" for guarantee in guarantees):
        raise InvalidInputError(
            "`fresh` must say which answers are right or wrong, as the guarantee is about errors, got graded losses. "
            "Calibrate on graded losses, or pass errors=(losses > limit) to Outputs."
        )
    confidence = rejected_last(selector.confidence(fresh))
    return _Fresh(selector, fresh, level, confidence, selector.accepted(fresh, confidence), selector.outcomes(fresh))


@dataclass(frozen=True, eq=False)
class _Fresh:
    """Fresh rows under a selector, and its decisions on them."""

    selector: Selector
    outputs: Outputs
    level: float
    confidence: NDArray[np.float64]
    accepted: Mask
    outcomes: NDArray[Any]
    """(n,) errors, or losses of graded answers."""
    audited: Mask | None = None
    """(n,) the accepted rows that have a label; None where all rows have one."""

    @property
    def labelled(self) -> Mask:
        """(n,) the accepted rows that have a label."""
        return self.accepted if self.audited is None else self.audited

    @property
    def total(self) -> int | float:
        """How many of these are wrong, an integer, or their total loss."""
        total = self.outcomes[self.labelled].sum()
        return int(total) if self.outcomes.dtype == bool else float(total)

    @property
    def ids(self) -> NDArray[np.int64] | None:
        """(n,) the number of each row's cluster."""
        return None if self.outputs.ids is None else self.outputs.samples[0]

    def data(self) -> FreshData:
        digest = outputs_digest(self.outputs)
        _check_unseen(self.selector, self.outputs, digest)
        tests, (classes, domains) = tuple(self.tests()), self.slices()
        return FreshData(
            digest=digest,
            compared=() if self.selector.seen is None else self.selector.seen.compared(self.outputs),
            rows=len(self.outputs),
            samples=self.outputs.samples[1],
            unusable=int(np.count_nonzero(~self.outputs.usable)),
            accepted=int(np.count_nonzero(self.accepted)),
            audited=None if self.audited is None else int(np.count_nonzero(self.audited)),
            errors=self.total,
            level=self.level,
            tests=tests,
            classes=classes,
            domains=domains,
            missed=tuple(self.missed()),
            unseen=tuple(sorted(self.selector.unseen(self.outputs))),
            verdict=_overall(tests),
        )

    def tests(self) -> Iterator[GuaranteeTest]:
        """Each guarantee, those of groups after those of all rows; the level is shared by those that can be tested."""
        asked = list(self.guarantees())
        testable = sum(inside is not None and not untestable(guarantee) for _, guarantee, inside in asked)
        share = self.level / max(1, testable)
        for about, guarantee, inside in asked:
            reason = untestable(guarantee) or (NO_GROUPS if inside is None else "")
            event: Event = guarantee.quantity.event or "rejected"
            result, left_out = None, 0
            if inside is not None and not reason:
                evidence = self.evidence(guarantee, inside)
                result, left_out = self.tested(guarantee, evidence, share), evidence.left_out
            yield GuaranteeTest(about=about, event=event, result=result, reason=reason, left_out=left_out)

    def guarantees(self) -> Iterator[tuple[str, Guarantee, Mask | None]]:
        """What is guaranteed, in words, and of which rows; None where these are not known."""
        every = np.ones(len(self.outputs), dtype=bool)
        threshold, groups = self.selector.threshold, self.selector.groups
        of_all = (threshold.guarantee, *threshold.further)
        for guarantee in of_all:
            if each := guarantee.of_each():
                names = self.classes() if guarantee.per == "class" else self.outputs.domain
                for name, alone in each.items():
                    yield f"{alone.about} in the group {name}", alone, None if names is None else names == name
                continue
            yield (
                guarantee.about,
                guarantee,
                self.of_class(guarantee) if guarantee.quantity.event == "missed" else every,
            )
        if groups is None:
            return
        names = self.selector.group_names(self.outputs)
        for name, threshold in groups.thresholds.items():
            if threshold.value < np.inf and threshold.guarantee not in of_all:
                yield f"{threshold.guarantee.about} in the group {name}", threshold.guarantee, names == name

    def of_class(self, guarantee: Guarantee) -> Mask:
        """The rows of the true class that a guarantee is about; none where true classes are not known."""
        none = np.zeros(len(self.outputs), dtype=bool)
        return self.selector.limited_classes(self.outputs).get(guarantee.groups[0], none)

    def evidence(self, guarantee: Guarantee, inside: Mask) -> Evidence:
        """The rows that test a guarantee, of those in its group."""
        return Evidence.of(guarantee, inside, self.ids, self.confidence, self.outcomes)

    def tested(self, guarantee: Guarantee, evidence: Evidence, level: float) -> Refutation:
        """What may be of few rows only is of no more than is guaranteed."""
        events, trials = {
            "wrong": (self.outcomes, evidence.rows & self.labelled),
            "loss": (self.outcomes, evidence.rows & self.labelled),
            "rejected": (~self.accepted, evidence.rows),
            "missed": (self.accepted * self.outcomes, evidence.rows),
        }[guarantee.quantity.event or "rejected"]
        return refutation(
            events,
            trials,
            evidence.clusters,
            limit=guarantee.limit,
            level=level,
            delta=1 - (guarantee.probability or 0.0),
            largest=evidence.largest,
        )

    def classes(self) -> NDArray[np.str_] | None:
        if not self.outputs.n_classes:
            return None
        return class_names_of(self.selector.predictions(self.outputs), self.selector.class_names)

    def slices(self) -> tuple[tuple[SliceTest, ...], tuple[SliceTest, ...]]:
        """Every class and every domain, all tested together against the guaranteed risk; no part of the verdict."""
        if self.audited is not None:
            return (), ()
        named = (self.classes(), self.outputs.domain)
        classes, domains = (slice_counts(names, self.accepted, self.outcomes) for names in named)
        parts = [*_rows_of(named[0], len(classes)), *_rows_of(named[1], len(domains))]
        tests = [
            SliceTest(counts=counts, above=above)
            for counts, above in zip((*classes, *domains), self.are_above(parts), strict=True)
        ]
        return tuple(tests[: len(classes)]), tuple(tests[len(classes) :])

    def missed(self) -> Iterator[SliceTest]:
        """Of every domain the rows of each true class whose miss rate is guaranteed; no part of the verdict."""
        limited = self.selector.limited_classes(self.outputs)
        if self.audited is not None or self.outputs.domain is None:
            return
        for guarantee in (self.selector.threshold.guarantee, *self.selector.threshold.further):
            inside = limited.get(guarantee.groups[0]) if guarantee.quantity.event == "missed" else None
            if inside is None:
                continue
            rows, evidence = np.flatnonzero(inside), self.evidence(guarantee, inside)
            names = self.outputs.domain[rows]
            counts = slice_counts(names, self.accepted[rows], self.outcomes[rows])
            p_values = p_above(
                [rows[part] for part in _rows_of(names, len(counts))],
                self.accepted * self.outcomes,
                evidence.rows,
                evidence.clusters,
                limit=guarantee.limit,
                level=self.level / len(limited),
                largest=evidence.largest,
            )
            for each, p in zip(counts, p_values, strict=True):
                named = replace(each, name=f"{each.name}, true class {guarantee.groups[0]}")
                yield SliceTest(counts=named, above=p <= self.level / len(limited))

    def are_above(self, parts: list[NDArray[np.int64]]) -> list[bool]:
        """Whether the risk of each of these parts of the rows is significantly above what is guaranteed of all."""
        guarantee = self.selector.threshold.guarantee
        if guarantee.quantity.event not in ("wrong", "loss") or untestable(guarantee):
            return [False] * len(parts)
        evidence = self.evidence(guarantee, np.ones(len(self.outputs), dtype=bool))
        p_values = p_above(
            parts,
            self.outcomes,
            self.accepted & evidence.rows,
            evidence.clusters,
            limit=guarantee.limit,
            level=self.level,
            largest=evidence.largest,
        )
        return [p <= self.level for p in p_values]


def _check_unseen(selector: Selector, fresh: Outputs, digest: str) -> None:
    """Refuse rows that calibrated the selector, and warn of those that have the ids of some."""
    if selector.calibration is not None and digest == selector.calibration.digest:
        raise InvalidInputError(
            "`fresh` must be rows that the selector has not seen, got those it was calibrated on. Take rows that "
            "neither chose the score nor its threshold."
        )
    if selector.seen is None:
        return
    if share := selector.seen.share(fresh):
        raise InvalidInputError(
            f"`fresh` must be rows that the selector has not seen, got about {max(1, round(share * len(fresh))):,} of "
            f"{len(fresh):,} that calibrated it. Take rows that neither chose the score nor its threshold."
        )
    if share := selector.seen.namesakes(fresh):
        warn(
            f"About {max(1, round(share * len(fresh))):,} of {len(fresh):,} fresh rows have ids of rows that "
            "calibrated the selector, but other logits or confidences: they are taken for other samples. If they "
            "are the same samples, answered again, they are not fresh: use others.",
            stacklevel=5,  # whoever calls `certify`
        )


def _rows_of(names: NDArray[np.str_] | None, parts: int) -> list[NDArray[np.int64]]:
    """The rows of each name, in the order of the names."""
    return rows_of_parts(np.unique(names, return_inverse=True)[1], parts) if names is not None and parts else []


def _overall(tests: Sequence[GuaranteeTest]) -> Verdict:
    """The worst of them; all must be confirmed for the whole to be, and none untested that says something."""
    verdicts: list[Verdict] = [test.result.verdict for test in tests if test.result]
    if verdicts and any(test.reason not in ("", VACUOUS) for test in tests):
        verdicts.append("consistent")
    return min(verdicts, key=VERDICTS.index, default="not tested")


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
    """Those that say what another selector is, what it guarantees and rests on; and how many others there are."""
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
