"""A score and a fitted score: what every confidence score is, ours or a user's own."""

from abc import ABC, abstractmethod
from dataclasses import Field, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.scores.confidences import confidences
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array

Family = Literal["softmax", "logit", "margin", "feature", "hybrid", "given", "own"]
Need = Literal["logits", "features", "head", "fitting", "labels"]
Sizes = dict[Literal["features", "classes"], int]


class CannotFitError(InvalidInputError):
    """The fitting sample lacks what a score needs."""


@dataclass(frozen=True, kw_only=True)
class About:
    """What is known of a score before it is fitted.

    Attributes
    ----------
    name : str
        The name people type.
    symbol : str
        How the literature writes it.
    family : Family
        What its confidence is made of.
    for_ood : bool
        Whether it was made to detect samples out of distribution, rather than to select.
    is_well_known : bool
        Whether readers look for it in every figure, however it ranks.
    needs : tuple of Need
        Arrays that outputs must have, ``fitting`` if it is fitted on a sample, ``labels`` if that must have labels.
    reference : str
        Where it was published.
    summary : str
        One sentence.
    """

    name: str
    symbol: str = ""
    family: Family = "own"
    for_ood: bool = False
    is_well_known: bool = False
    needs: tuple[Need, ...] = ("logits",)
    reference: str = ""
    summary: str = ""


class Stored:
    """A dataclass that a selector file can hold: its fields are all there is to store."""

    kinds: ClassVar[dict[str, type["Stored"]]] = {}
    """Every such class by its stored name; a file can name these and no others."""
    is_stored: ClassVar[bool] = True
    """Whether its fields can be stored; of one that is not, the file holds the name alone."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kinds[cls.stored_name()] = cls

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def stored_name(cls) -> str:
        """The name of the class, with its module where it is not one of abstain."""
        return cls.__name__ if cls.__module__.startswith("abstain.") else f"{cls.__module__}:{cls.__qualname__}"


class FittedScore(Stored, ABC):
    """A function from outputs to confidence, higher = more trusted, with all its constants.

    `Score.fit` makes it. ``formula`` is written once, on arrays of any library; calling the score on outputs leaves out
    non-finite rows, checks sizes and bounds the memory.
    """

    uses_head: ClassVar[bool] = False
    """Whether the formula looks at ``inputs.head``."""

    changes_predictions: ClassVar[bool] = False
    """Whether the answer it judges may be another than the classifier's own."""
    is_formula: ClassVar[bool] = True
    """Whether it is a formula in arrays, which other libraries and a file can hold."""

    @property
    def singles(self) -> "dict[str, FittedScore]":
        """Of a combination, the single scores by name to compare it with."""
        return {}

    def __call__(self, outputs: Outputs, /) -> Floats:
        """Confidence (n,) of every row, NaN, which no threshold accepts, where a row is non-finite."""
        expect_outputs(outputs)
        return confidences(outputs, {"score": self})["score"]

    @abstractmethod
    def formula(self, inputs: Inputs, /) -> Array:
        """Confidence (n,) of finite rows, each by itself."""

    def predictions(self, inputs: Inputs, /) -> Array:
        """The answer (n,) that is accepted or not: the classifier's own."""
        return inputs.predictions

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Array]:  # noqa: ARG002
        """(n,) how much each family of scores lowers the confidence, in any unit; none where it has no parts."""
        return {}

    def note(self, confidence: Floats, /) -> str | None:  # noqa: ARG002
        """What a reader of results should know of the score, given the confidence of all rows, or None."""
        return None

    def expects(self) -> Sizes:
        """The number of features or classes that outputs must have, as the fitting sample had.

        They are the lengths of axes in the types of fields, ``means: Annotated[Floats, "classes", "features"]``, of it
        and of fitted scores among its fields.
        """
        sizes: Sizes = {}
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for field in own:
            value = getattr(self, field.name)
            axes = getattr(field.type, "__metadata__", ())
            sizes |= {what: size for what, size in zip(axes, value.shape, strict=True) if what} if axes else {}
            for part in value if isinstance(value, tuple) else (value,):
                sizes |= part.expects() if isinstance(part, FittedScore) else {}
        return sizes


class Score(Stored, ABC):
    """The options of a confidence score: what it is called, what it needs, and how it is fitted.

    A confidence is the form that loses no order to rounding; rankings and thresholds use it alone. ``literal`` maps a
    confidence, or a threshold on it, to the value the literature prints. To write a score of your own, derive from it
    and from `FittedScore`, or from `PlainScore` if there is nothing to fit.

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> from abstain.scores import SIRC
    >>> outputs = digits()
    >>> SIRC().fit(outputs[outputs.shift == "none"])(outputs).shape
    (4684,)
    """

    named_by: ClassVar[tuple[str, ...]] = ()
    """Options that the name already shows."""
    needs_size: ClassVar[bool] = False
    """Whether it needs the size of the logits, which log-probabilities have lost."""
    fits_on_shifted: ClassVar[bool] = False
    """Whether it is fitted on rows of every kind, drawn like deployment, instead of in-distribution ones."""
    on_request: ClassVar[bool] = False
    """Whether "all" leaves it out, since it takes long to fit."""
    fitting_share: ClassVar[float] = 0.2
    """Of the rows that `calibrate` is given, to fit it on."""

    @property
    @abstractmethod
    def about(self) -> About:
        """Its names and needs."""

    @property
    def name(self) -> str:
        """The name people type, with the options that are not the usual ones: ``knn(k=5)``."""
        options = [
            f"{field.name}={_shown(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.name not in self.named_by and not _same(getattr(self, field.name), field.default)
        ]
        return self.about.name + (f"({', '.join(options)})" if options else "")

    @property
    def symbol(self) -> str:
        """How the literature writes it."""
        return self.about.symbol or self.name

    @property
    def label(self) -> str:
        """Both: the name people type, and the symbol in brackets where that is another."""
        return self.name if self.symbol == self.name else f"{self.name} ({self.symbol})"

    @property
    def needs(self) -> tuple[Need, ...]:
        """What it needs."""
        return self.about.needs

    @property
    def needs_fitting(self) -> bool:
        """Whether it is fitted on a sample."""
        return "fitting" in self.about.needs

    @property
    def effort(self) -> tuple[bool, bool]:
        """What it takes to use: whether it must be fitted, then whether it needs features; less is simpler."""
        return self.needs_fitting, "features" in self.needs

    def needs_of(self, fitted: Any, /) -> tuple[Need, ...]:  # noqa: ARG002
        """What it needs once fitted, where fitting decides that."""
        return self.needs

    def literal(self, confidence: Array, /) -> Array:
        """The value the literature prints, a strictly increasing function of confidence."""
        return confidence

    def literal_value(self, threshold: float, /) -> float:
        """A threshold as the literature prints it."""
        return float(np.asarray(self.literal(np.array([threshold])))[0])

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Why the score is undefined although the outputs have all that it needs, or None."""
        return no_size(outputs) if self.needs_size else None

    def objection(self, outputs: Outputs, /) -> str | None:
        """Why the score cannot be computed from these outputs, or None."""
        have = {
            "logits": outputs.n_classes > 0,
            "features": outputs.source("features") is not None,
            "head": outputs.weight is not None,
        }
        if lacking := [need for need in self.needs if not have.get(need, True)]:
            return f"no {' and no '.join(lacking)}"
        return self.flaw(outputs)

    def fit(self, sample: Outputs, /) -> Any:
        """The fitted score; `CannotFitError` where the sample does not determine it. Non-finite rows are left out."""
        expect_outputs(sample, name="sample")
        has_truth = sample.labels is not None if sample.n_classes else sample.is_labelled
        if "labels" in self.needs and not has_truth:
            raise CannotFitError("the fitting sample has no labels")
        if not sample.usable.any():
            raise CannotFitError("the fitting sample has no finite row")
        return self._fit(sample if sample.usable.all() else sample.select(sample.usable))

    @abstractmethod
    def _fit(self, sample: Outputs, /) -> FittedScore:
        """The fitted score of finite rows."""


class PlainScore(Score, FittedScore, ABC):
    """A score with nothing to fit, which is therefore its own fitted score."""

    def fit(self, sample: Outputs | None = None, /) -> Self:  # noqa: ARG002
        """The score itself."""
        return self

    def _fit(self, sample: Outputs, /) -> Self:  # noqa: ARG002
        return self


def _shown(value: Any) -> str:
    return value.name if isinstance(value, Score) else repr(value)


def _same(value: Any, default: Any) -> bool:
    return value is default or bool(np.all(np.asarray(value == default)))


def no_size(outputs: Outputs, /) -> str | None:
    """Why the score is not defined for log-probabilities, whose log Σ exp is 0 in every row; None for logits."""
    if not outputs.are_log_probabilities:
        return None
    return "log-probabilities for logits, which have lost the size that this score looks at"
