"""`FreshRows`: labelled rows that a selector has not seen, and the tests of its guarantees on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.metrics.checks import rejected_last
from abstain.metrics.slices import rows_of_parts
from abstain.outputs import Outputs
from abstain.outputs.hashes import outputs_digest
from abstain.outputs.outputs import expect_outputs
from abstain.outputs.validation import unlabelled
from abstain.selector.audited_decisions import AuditedDecisions
from abstain.selector.calibration_data import class_names_of, slice_counts
from abstain.selector.certificate import VERDICTS, FreshData, GuaranteeTest, SliceTest, Verdict
from abstain.selector.selector import Selector
from abstain.thresholds.evidence import Evidence
from abstain.thresholds.guarantee import Event, Guarantee
from abstain.thresholds.refutation import VACUOUS, p_above, refutation, untestable

Mask = NDArray[np.bool_]
Parts = list[NDArray[np.int64]]
NO_GROUPS = "the fresh rows do not name their groups"
OTHERS = "Take rows that neither chose the score nor its threshold."


@final
@dataclass(frozen=True, eq=False)
class FreshRows:
    """Labelled rows that did not calibrate a selector, and its decisions on them."""

    selector: Selector
    outputs: Outputs
    level: float
    confidence: NDArray[np.float64]
    accepted: Mask
    outcomes: NDArray[Any]
    """(n,) errors, or losses of graded answers."""
    audited: Mask | None = None
    """(n,) the accepted rows that have a label; None where all rows have one."""

    @classmethod
    def of(cls, selector: Selector, fresh: Outputs | AuditedDecisions, level: float, /) -> Self:
        """From outputs, or from decisions with an audit."""
        if isinstance(fresh, AuditedDecisions):
            return cls._audited(selector, fresh, level)
        expect_outputs(fresh, name="fresh")
        if not fresh.is_labelled:
            raise unlabelled("fresh")
        if fresh.is_graded and any(each.quantity.event == "wrong" for each in selector.threshold.guarantees):
            raise InvalidInputError(
                "`fresh` must say which answers are right or wrong, as the guarantee is about errors, got graded "
                "losses. Calibrate on graded losses, or pass errors=(losses > limit) to Outputs."
            )
        confidence = rejected_last(selector.confidence(fresh))
        return cls(selector, fresh, level, confidence, selector.accepted(fresh, confidence), selector.outcomes(fresh))

    @classmethod
    def _audited(cls, selector: Selector, fresh: AuditedDecisions, level: float) -> Self:
        if selector.groups is not None:
            raise InvalidInputError(
                "`selector` must have one threshold to be certified by decisions, got several. Give labelled outputs."
            )
        errors, losses = (fresh.errors, None) if fresh.errors.dtype == bool else (None, fresh.errors)
        rows = Outputs(confidences={selector.score: fresh.confidence}, errors=errors, losses=losses, ids=fresh.ids)
        confidence = rejected_last(fresh.confidence)
        return cls(selector, rows, level, confidence, fresh.accepted, fresh.errors, fresh.audited)

    @property
    def labelled(self) -> Mask:
        """(n,) the accepted rows that have a label."""
        return self.accepted if self.audited is None else self.audited

    @property
    def total(self) -> int | float:
        """How many of these are wrong, an integer, or their total loss."""
        total = self.outcomes[self.labelled].sum()
        return int(total) if self.outcomes.dtype == bool else float(total)

    def data(self) -> FreshData:
        """What they show."""
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
                left_out = evidence.left_out
                result = refutation(
                    *self.events(guarantee, evidence),
                    evidence.clusters,
                    limit=guarantee.limit,
                    level=share,
                    delta=1 - (guarantee.probability or 0.0),
                    largest=evidence.largest,
                )
            yield GuaranteeTest(about=about, event=event, result=result, reason=reason, left_out=left_out)

    def guarantees(self) -> Iterator[tuple[str, Guarantee, Mask | None]]:
        """What is guaranteed, in words, and of which rows; None where these are not known."""
        every = np.ones(len(self.outputs), dtype=bool)
        of_all, groups = self.selector.threshold.guarantees, self.selector.groups
        for guarantee in of_all:
            if each := guarantee.of_each():
                names = self.classes() if guarantee.per == "class" else self.outputs.domain
                for name, alone in each.items():
                    yield f"{alone.about} in the group {name}", alone, None if names is None else names == name
                continue
            if guarantee.quantity.event == "missed":  # no rows where true classes are not known
                inside = self.selector.limited_classes(self.outputs).get(guarantee.groups[0], ~every)
            else:
                inside = every
            yield guarantee.about, guarantee, inside
        if groups is None:
            return
        names = self.selector.group_names(self.outputs)
        for name, threshold in groups.thresholds.items():
            if threshold.value < np.inf and threshold.guarantee not in of_all:
                yield f"{threshold.guarantee.about} in the group {name}", threshold.guarantee, names == name

    def evidence(self, guarantee: Guarantee, inside: Mask) -> Evidence:
        """The rows that test a guarantee, of those in its group."""
        clusters = None if self.outputs.ids is None else self.outputs.samples[0]
        return Evidence.of(guarantee, inside, clusters, self.confidence, self.outcomes)

    def events(self, guarantee: Guarantee, evidence: Evidence) -> tuple[NDArray[Any], Mask]:
        """(n,) what may be of few rows only, and the rows that test it."""
        if guarantee.quantity.event in ("wrong", "loss"):
            return self.outcomes, evidence.rows & self.labelled
        if guarantee.quantity.event == "missed":
            return self.accepted * self.outcomes, evidence.rows
        return ~self.accepted, evidence.rows

    def classes(self) -> NDArray[np.str_] | None:
        """(n,) the name of each predicted class; None where classes are unknown."""
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
        guarantee, are_above = self.selector.threshold.guarantee, [False] * len(parts)
        if guarantee.quantity.event in ("wrong", "loss") and not untestable(guarantee):
            are_above = self.are_above(guarantee, np.ones(len(self.outputs), dtype=bool), parts, self.level)
        pairs = zip((*classes, *domains), are_above, strict=True)
        tests = [SliceTest(counts=counts, above=above) for counts, above in pairs]
        return tuple(tests[: len(classes)]), tuple(tests[len(classes) :])

    def missed(self) -> Iterator[SliceTest]:
        """Of every domain the rows of each true class whose miss rate is guaranteed; no part of the verdict."""
        limited = self.selector.limited_classes(self.outputs)
        if self.audited is not None or self.outputs.domain is None:
            return
        for guarantee in self.selector.threshold.guarantees:
            inside = limited.get(guarantee.groups[0]) if guarantee.quantity.event == "missed" else None
            if inside is None:
                continue
            rows = np.flatnonzero(inside)
            names = self.outputs.domain[rows]
            counts = slice_counts(names, self.accepted[rows], self.outcomes[rows])
            parts = [rows[part] for part in _rows_of(names, len(counts))]
            are_above = self.are_above(guarantee, inside, parts, self.level / len(limited))
            for each, above in zip(counts, are_above, strict=True):
                named = replace(each, name=f"{each.name}, true class {guarantee.groups[0]}")
                yield SliceTest(counts=named, above=above)

    def are_above(self, guarantee: Guarantee, inside: Mask, parts: Parts, level: float) -> list[bool]:
        """Whether each of these parts of the rows has significantly more than is guaranteed of all inside."""
        evidence = self.evidence(guarantee, inside)
        events, trials = self.events(guarantee, evidence)
        p_values = p_above(
            parts, events, trials, evidence.clusters, limit=guarantee.limit, level=level, largest=evidence.largest
        )
        return [p <= level for p in p_values]


def _check_unseen(selector: Selector, fresh: Outputs, digest: str) -> None:
    """Refuse rows that calibrated the selector, and warn of those that have the ids of some."""
    if selector.calibration is not None and digest == selector.calibration.digest:
        raise InvalidInputError(
            f"`fresh` must be rows that the selector has not seen, got those it was calibrated on. {OTHERS}"
        )
    if selector.seen is None:
        return
    selector.seen.check_unseen(fresh, name="fresh", advice=OTHERS)
    if share := selector.seen.namesakes(fresh):
        warn(
            f"About {max(1, round(share * len(fresh))):,} of {len(fresh):,} fresh rows have ids of rows that "
            "calibrated the selector, but other logits or confidences: they are taken for other samples. If they "
            "are the same samples, answered again, they are not fresh: use others.",
            stacklevel=4,  # whoever calls `certify`
        )


def _rows_of(names: NDArray[np.str_] | None, parts: int) -> Parts:
    """The rows of each name, in the order of the names."""
    return rows_of_parts(np.unique(names, return_inverse=True)[1], parts) if names is not None and parts else []


def _overall(tests: Sequence[GuaranteeTest]) -> Verdict:
    """The worst of them; all guarantees must be tested and confirmed for "confirmed", but for vacuous ones."""
    verdicts: list[Verdict] = [test.result.verdict for test in tests if test.result]
    if verdicts and any(test.reason not in ("", VACUOUS) for test in tests):
        verdicts.append("consistent")
    return min(verdicts, key=VERDICTS.index, default="not tested")
