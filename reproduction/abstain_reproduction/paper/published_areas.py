"""The 600 values of AURC-α × 100 that the paper printed (Tables 3, 4 and 8), as numbers known to their last digit."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import final

from abstain.metrics.intervals import ALPHAS
from abstain_reproduction.paper.areas import FULL, Areas, Contrast, Term

SOURCES = {  # task and model: where the paper has its numbers, and what it calls it
    ("imagenet", "eva"): ("Table 3", "EVA on ImageNet"),
    ("imagenet", "convnext"): ("Table 8", "ConvNeXt on ImageNet"),
    ("imagenet", "resnext"): ("Table 8", "ResNeXt on ImageNet"),
    ("imagenet", "volo"): ("Table 8", "VOLO on ImageNet"),
    ("iwildcam", "flyp"): ("Table 4", "FLYP on iWildCam"),
    ("amazon", "lisa"): ("Table 4", "LISA on Amazon"),
}


ACCURACIES: dict[str, tuple[float, ...]] = {  # in percent, on ImageNet
    "eva": (88.76,),
    "convnext": (86.25,),
    "volo": (85.56,),
    "resnext": (85.54, 85.94),  # Table 1 and Table 6
}
SAMPLES = {"in": 50_000, "label": 17_256}
"""Of ImageNet's validation set and of OpenImage-O, by Table 2."""


def full_risk(model: str, /) -> tuple[float, float]:
    """The risk × 100 at full coverage with unknown classes in the mix, as Tables 1, 2 and 6 give it: least and most.

    >>> [round(risk, 1) for risk in full_risk("resnext")]
    [36.1, 36.4]
    """
    known, unknown = SAMPLES["in"], SAMPLES["label"]
    risks = [(known * (100 - accuracy) + 100 * unknown) / (known + unknown) for accuracy in ACCURACIES[model]]
    return min(risks), max(risks)


@dataclass(frozen=True)
class DoubtfulValue:
    """A printed value that others contradict."""

    task: str
    model: str
    mix: str
    score: str
    alphas: tuple[float, ...]
    reason: str


DOUBTS = (
    DoubtfulValue(
        "imagenet", "eva", "in+cov", "max_softmax", (0.5,),
        "3.66, where SR_doctor has 3.40: in the 59 other columns the two are within 1.6% of each other",
    ),
    DoubtfulValue(
        "amazon", "lisa", "in+cov", "energy", (0.5, 1.0),
        "6.88 and 14.4, those of RL_max to the last digit, though on in-distribution samples they differ: copied?",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """A value whose mark (bold: best, underline: second or third best) is not the one its column gives it."""

    model: str
    mix: str
    alpha: float
    score: str
    printed: str
    due: str


MISPLACED = tuple(
    Mark(*mark)
    for mark in (
        ("eva", "all", 1.0, "sirc", "none", "underline"),
        ("eva", "all", 1.0, "max_softmax", "none", "underline"),
        ("eva", "all", 1.0, "knn", "underline", "none"),
        ("convnext", "in+label", 0.5, "sirc", "underline", "none"),
        ("convnext", "in+label", 0.5, "knn", "none", "underline"),
        ("resnext", "all", 0.1, "sirc", "underline", "none"),
        ("resnext", "all", 0.5, "sirc", "none", "underline"),
    )
)
"""All that do not follow from the printed values, equal values sharing a rank as they do in the paper."""


@cache
def paper_tables() -> Mapping[tuple[str, str, str, str, float], float]:
    """AURC-α × 100 as printed, by task, model, mix, score and α."""
    text = (files("abstain_reproduction.paper") / "paper_tables.csv").read_text(encoding="utf-8")
    return {
        (row["task"], row["model"], row["mix"], row["score"], float(row["alpha"])): float(row["aurc_x100"])
        for row in csv.DictReader(text.splitlines())
    }


def half_digit(printed: float, /) -> float:
    """Half a unit of the last of three digits, to which the paper rounds."""
    return 0.05 if printed >= 10 else 0.005


@final
class PublishedAreas(Areas):
    """The areas the paper printed for a model; an interval is what rounding leaves open."""

    alphas = ALPHAS
    certainty = "as printed, with what rounding leaves open, {} comparisons"

    def __init__(self, task: str, model: str) -> None:
        self.printed = {key[2:]: value for key, value in paper_tables().items() if key[:2] == (task, model)}
        self.mixes = tuple(dict.fromkeys(mix for mix, _, _ in self.printed))
        self.full = full_risk(model) if model in ACCURACIES else None
        self.scores = frozenset(score for _, score, _ in self.printed) | ({FULL} if self.full else frozenset())
        self.doubtful = frozenset(
            (doubt.score, doubt.mix, alpha)
            for doubt in DOUBTS
            if (doubt.task, doubt.model) == (task, model)
            for alpha in doubt.alphas
        )

    def has(self, mix: str, /, *terms: Term) -> bool:
        """Whether there are areas for all of these; the risk at full coverage only with unknown classes in the mix."""
        return super().has(mix, *terms) and (mix == "in+label" or all(term.score != FULL for term in terms))

    def area(self, score: str, mix: str, alpha: float, /) -> float:
        """AURC-α as a fraction."""
        low, high = self._printed(score, mix, alpha)
        return (low + high) / 200

    def contrast(self, terms: Sequence[Term], mix: str, /, *, outside: float) -> Contrast:  # noqa: ARG002
        """The sum of printed values, with what is left open of each on both sides."""
        printed = [(term.sign, *self._printed(term.score, mix, term.alpha)) for term in terms]
        value = sum(sign * (low + high) for sign, low, high in printed) / 200
        open_ = sum(high - low for _, low, high in printed) / 200
        return Contrast(round(value, 9), round(value - open_, 9), round(value + open_, 9))  # printed in decimals

    def _printed(self, score: str, mix: str, alpha: float) -> tuple[float, float]:
        """Between which numbers × 100 an area is."""
        if score == FULL and self.full is not None:
            return self.full[0] - 0.005, self.full[1] + 0.005  # accuracies have two decimals
        printed = self.printed[mix, score, alpha]
        return printed - half_digit(printed), printed + half_digit(printed)


@final
class PooledAreas(Areas):
    """The printed areas of several models, for what the paper says of its experiments together."""

    alphas = ALPHAS
    certainty = PublishedAreas.certainty

    def __init__(self, models: Mapping[str, PublishedAreas]) -> None:
        self.columns = {f"{mix} of {name}": (each, mix) for name, each in models.items() for mix in each.mixes}
        self.mixes = tuple(self.columns)
        self.scores = frozenset.intersection(*(each.scores for each in models.values()))

    def has(self, mix: str, /, *terms: Term) -> bool:
        """Whether the model has areas for all of these."""
        areas, own = self.columns[mix]
        return areas.has(own, *terms)

    def area(self, score: str, mix: str, alpha: float, /) -> float:
        """AURC-α as a fraction."""
        areas, own = self.columns[mix]
        return areas.area(score, own, alpha)

    def contrast(self, terms: Sequence[Term], mix: str, /, *, outside: float) -> Contrast:
        """That of the model."""
        areas, own = self.columns[mix]
        return areas.contrast(terms, own, outside=outside)
