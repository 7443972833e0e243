"""The 600 values of AURC-α × 100 that the paper printed (Tables 3, 4 and 8), as numbers known to their last digit."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import final

from abstain.experiments.paper.areas import Areas, Contrast, Term

PLACES = {  # task and model: where the paper has its numbers, and what it calls it
    ("imagenet", "eva"): ("Table 3", "EVA on ImageNet"),
    ("imagenet", "convnext"): ("Table 8", "ConvNeXt on ImageNet"),
    ("imagenet", "resnext"): ("Table 8", "ResNeXt on ImageNet"),
    ("imagenet", "volo"): ("Table 8", "VOLO on ImageNet"),
    ("iwildcam", "flyp"): ("Table 4", "FLYP on iWildCam"),
    ("amazon", "lisa"): ("Table 4", "LISA on Amazon"),
}


@dataclass(frozen=True)
class Doubt:
    """A printed value that others contradict."""

    task: str
    model: str
    mix: str
    score: str
    alphas: tuple[float, ...]
    reason: str


DOUBTS = (
    Doubt(
        "imagenet", "eva", "in+cov", "max_softmax", (0.5,),
        "3.66, where SR_doctor has 3.40: in the 59 other columns the two are within 1.6% of each other",
    ),
    Doubt(
        "amazon", "lisa", "in+cov", "energy", (0.5, 1.0),
        "6.88 and 14.4, those of RL_max to the last digit, though on in-distribution samples they differ: copied?",
    ),
)  # fmt: skip


@cache
def paper_tables() -> Mapping[tuple[str, str, str, str, float], float]:
    """AURC-α × 100 as printed, by task, model, mix, score and α."""
    text = (files("abstain.experiments.paper") / "paper_tables.csv").read_text(encoding="utf-8")
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

    certainty = "as printed, with what rounding leaves open, {} comparisons"

    def __init__(self, task: str, model: str) -> None:
        self.printed = {key[2:]: value for key, value in paper_tables().items() if key[:2] == (task, model)}
        self.mixes = tuple(dict.fromkeys(mix for mix, _, _ in self.printed))
        self.scores = frozenset(score for _, score, _ in self.printed)
        self.doubtful = frozenset(
            (doubt.score, doubt.mix, alpha)
            for doubt in DOUBTS
            if (doubt.task, doubt.model) == (task, model)
            for alpha in doubt.alphas
        )

    def area(self, score: str, mix: str, alpha: float, /) -> float:
        """AURC-α as a fraction."""
        return self.printed[mix, score, alpha] / 100

    def contrast(self, terms: Sequence[Term], mix: str, /, *, outside: float) -> Contrast:  # noqa: ARG002
        """The sum of printed values, with the sum of half their last digits on both sides."""
        values = [self.printed[mix, term.score, term.alpha] for term in terms]
        value = sum(term.sign * one for term, one in zip(terms, values, strict=True)) / 100
        open_ = sum(map(half_digit, values)) / 100
        return Contrast(round(value, 9), round(value - open_, 9), round(value + open_, 9))  # printed in decimals
