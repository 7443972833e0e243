"""`Outputs`: what one classifier said about n samples, checked once and never changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import as_path, check_list, check_number
from abstain.cached_property import cached_property
from abstain.draws import generator
from abstain.kernels.blocks import row_blocks
from abstain.kernels.distinct import numbered
from abstain.outputs import validation as check
from abstain.outputs.checked import arguments_of, checked_fields
from abstain.outputs.draw import draw_rows
from abstain.outputs.fields import FIELDS, HEAD_FIELDS, ROW_FIELDS
from abstain.outputs.head import HeadCheck, check_head
from abstain.outputs.join import check_parts
from abstain.outputs.load import load
from abstain.outputs.places import as_places
from abstain.outputs.probabilities import are_log_probabilities
from abstain.outputs.save import save
from abstain.outputs.table import SUFFIXES, read_table
from abstain.outputs.taken import Source, Taken, taken
from abstain.outputs.unlabelled import unlabelled


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Outputs:
    """The logits of one classifier on n samples, and what else is known of them.

    Labels are class numbers, the columns of the logits from 0 on, or names among ``class_names`` such as scikit-learn's
    ``classes_``. If ``class_names`` are integers other than 0 to K − 1 in order, so that a number could be either,
    integer labels are names too: of the classes [−1, 1], −1 is the first column. Names that are strings leave integer
    labels class numbers, also "2". Labels that are names without ``class_names`` are taken in sorted order. A negative
    label that is no name, or a string that is none, means a class the classifier does not know: ``shift`` is then
    ``label``, and any prediction is an error. Rows are ``none`` elsewhere unless ``shift`` says so. Rows with the same
    ``ids`` show the same original sample and stay one cluster in splits and standard errors. With
    ``nonfinite="reject"`` rows that hold NaN or infinity are kept, predict −1 and count as errors that
    are never accepted; by default they are refused. Arrays are viewed, not copied.

    Of a classifier that shows none, such as a forest, ``probabilities`` (n, K) are kept as their logs; scores that look
    at the size of the logits are then left out. Without either, ``given`` holds confidences that others computed,
    by name, and ``errors`` whether each answer was wrong: each name is then a score.

    >>> outputs = Outputs(logits=[[2.0, 0.0], [0.5, 1.0], [0.0, 3.0]], labels=[0, 0, -1])
    >>> outputs.errors
    array([False,  True,  True])
    >>> outputs.shift
    array(['none', 'none', 'label'], dtype='<U9')
    """

    logits: NDArray[np.floating]
    """(n, K) float16, float32 or float64; −inf masks a class; K = 0 where only confidences were given."""
    labels: NDArray[np.int64] | None
    """(n,) class numbers, negative = a class the classifier does not know."""
    features: NDArray[np.floating] | None
    """(n, d) input of the last layer."""
    weight: NDArray[np.floating] | None
    """(K, d) weight of the last layer."""
    bias: NDArray[np.floating] | None
    """(K,) bias of the last layer."""
    shift: NDArray[np.str_]
    """(n,) ``none``, ``covariate`` or ``label``."""
    domain: NDArray[np.str_] | None
    """(n,) free names such as ``fog-3`` or ``hospital-B``."""
    ids: NDArray[Any] | None
    """(n,) names or numbers of the original samples."""
    given: NDArray[np.float64] | None
    """(n, g) confidences that were given, a column for each of ``given_names``."""
    wrong: NDArray[np.bool_] | None
    """(n,) the errors that were given."""
    given_names: tuple[str, ...]
    class_names: tuple[str, ...] | None
    usable: NDArray[np.bool_]
    """(n,) False where a row is kept under ``nonfinite="reject"``."""
    is_masked: bool
    """Whether a class is masked in some row, by a logit of −inf."""

    def __init__(
        self,
        *,
        logits: ArrayLike | None = None,
        probabilities: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        features: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        shift: ArrayLike | str | None = None,
        domain: ArrayLike | str | None = None,
        ids: ArrayLike | None = None,
        given: Mapping[str, ArrayLike] | None = None,
        errors: ArrayLike | None = None,
        class_names: Sequence[str] | Sequence[int] | NDArray[Any] | None = None,
        nonfinite: check.Nonfinite = "error",
    ) -> None:
        fields = checked_fields(
            logits=logits,
            probabilities=probabilities,
            labels=labels,
            features=features,
            weight=weight,
            bias=bias,
            shift=shift,
            domain=domain,
            ids=ids,
            given=given,
            errors=errors,
            class_names=class_names,
            nonfinite=nonfinite,
        )
        self._set(fields)

    def _set(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, f"_{name}" if isinstance(value, Taken) else name, value)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """All rows of an array that was to be taken later."""
            later = self.__dict__.get(f"_{name}")
            if later is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._set({name: later[:]})
            return self.__dict__[name]

    def source(self, name: Literal["logits", "features"], /) -> "Source | None":
        """What rows of the logits or features can be read from, block by block, where reading all would copy them."""
        found: Source | None = self.__dict__.get(name, self.__dict__.get(f"_{name}"))
        return found

    @property
    def _logit_rows(self) -> "Source":
        found = self.source("logits")
        assert found is not None
        return found

    def __len__(self) -> int:
        return len(self._logit_rows)

    def __repr__(self) -> str:
        hidden = {"shift", "given", "wrong"} | (set() if self.n_classes else {"logits"})
        have = [name for name, _ in self._sources(FIELDS) if name not in hidden]
        have += [*self.given_names, *(["errors"] if self.wrong is not None else [])]
        counts = {kind: np.count_nonzero(self.shift == kind) for kind in sorted(check.SHIFTS)}
        shifts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        return f"Outputs(n={len(self)}, classes={self.n_classes}, with {', '.join(have)}; shift: {shifts})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"

    def __getitem__(self, rows: Any) -> Self:
        """The rows of a mask, of numbers or of a slice: ``outputs[outputs.shift == "none"]``."""
        return self.select(np.atleast_1d(np.arange(len(self))[rows] if isinstance(rows, slice) else rows))

    @property
    def n_classes(self) -> int:
        """K, the number of classes the classifier knows."""
        return int(self._logit_rows.shape[1])

    @cached_property
    def are_log_probabilities(self) -> bool:
        """Whether the logits are logs of probabilities, which say nothing of the size that logits had before."""
        return bool(self.n_classes) and are_log_probabilities(self._logit_rows)

    @cached_property
    def predictions(self) -> NDArray[np.int64]:
        """(n,) the classifier's own argmax, lowest index on ties; −1 where a row is not usable."""
        if not self.n_classes:
            raise ValueError("`logits` must be given to know the predictions, got confidences alone.")
        logits = self._logit_rows
        parts = [np.argmax(logits[block], axis=1) for block in row_blocks(*logits.shape)]
        predictions = np.where(self.usable, np.concatenate(parts), -1)
        predictions.flags.writeable = False
        return predictions

    def remember_predictions(self, predictions: NDArray[np.int64], /) -> None:
        """Predictions that a pass over the logits found on its way, so that no further one is needed."""
        predictions.flags.writeable = False
        self.__dict__.setdefault("predictions", predictions)

    @cached_property
    def errors(self) -> NDArray[np.bool_]:
        """(n,) where the prediction is wrong; always on an unknown class and on a row that is not usable."""
        if self.wrong is not None:
            errors = self.wrong | ~self.usable
        elif self.labels is not None:
            errors = (self.predictions != self.labels) | (self.labels < 0)
        else:
            raise unlabelled("outputs", "for their errors to be known")
        errors.flags.writeable = False
        return errors

    @property
    def is_labelled(self) -> bool:
        """Whether the errors are known, by labels or because they were given."""
        return self.labels is not None or self.wrong is not None

    @cached_property
    def samples(self) -> tuple[NDArray[np.int64], int]:
        """(n,) a number for the original sample of each row, and how many samples there are."""
        return (np.arange(len(self)), len(self)) if self.ids is None else numbered(self.ids)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """(n,) the number of the sample that each row shows, None where every row shows its own."""
        number, size = self.samples
        return number if size < len(self) else None

    def given_confidence(self, name: str, /) -> NDArray[np.float64]:
        """(n,) the confidence given under this name."""
        if self.given is None or name not in self.given_names:
            known = ", ".join(self.given_names) or "none"
            raise ValueError(f"`outputs` must have the confidence {name!r} that was calibrated, got {known}.")
        return self.given[:, self.given_names.index(name)]

    def check_head(self) -> HeadCheck:
        """How far features·Wᵀ + b is from the logits; scores that use the head assume that it makes them."""
        if self.features is None or self.weight is None:
            lacking = " and ".join(name for name in ("features", "weight") if getattr(self, name) is None)
            raise ValueError(f"`{lacking}` must be given to check the head, got none.")
        return check_head(self.logits, self.features, self.weight, self.bias)

    def select(self, rows: ArrayLike, /) -> Self:
        """The rows of a boolean mask, or of indices in their order."""
        places = as_places(rows, len(self))
        return self._with({name: taken(value, places) for name, value in self._sources((*ROW_FIELDS, "usable"))})

    def split(self, fraction: float, /, *, seed: int = 0) -> tuple[Self, Self]:
        """Two disjoint parts in the order of the rows, the first of about ``fraction`` of them, drawn by ``seed``.

        Rows with the same ids go to the same side.
        """
        check_number("fraction", fraction)
        if not 0 < fraction < 1:
            raise ValueError(f"`fraction` must be between 0 and 1, got {fraction}.")
        rng = self.generator("split of outputs", seed)
        first = draw_rows(len(self), self.ids, size=fraction * len(self), rng=rng)
        return self.select(first), self.select(~first)

    def generator(self, purpose: str, seed: int, /) -> np.random.Generator:
        """A generator for draws of these rows that knows them, as `abstain.draws` tells why."""
        return generator(purpose, seed, self._logit_rows, self.labels, self.given, self.wrong, self.ids)

    @classmethod
    def concat(cls, parts: Iterable["Outputs"], /) -> "Outputs":
        """All rows of several outputs of the same classifier; each must have the same arrays and the same head."""
        check_list("parts", parts, "Outputs")
        parts = list(parts)
        check_parts(parts, (*FIELDS, "class_names", "given_names"), ROW_FIELDS)
        first = parts[0]
        names = [name for name, _ in first._arrays((*ROW_FIELDS, "usable"))]
        return first._with({name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def save(self, folder: str | PathLike[str], /, *, beside: dict[str, bytes] | None = None) -> None:
        """Write a folder of .npy files and outputs.json; a crash leaves the old contents or the new, never half.

        Further files ``beside`` them, by name, come into being with a new folder.
        """
        arrays = dict(self._arrays(FIELDS))
        save(as_path("folder", folder), arrays, self.class_names, self.given_names, beside=beside)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        /,
        *,
        nonfinite: check.Nonfinite = "error",
        verify: bool | None = None,
        group: str | None = None,
    ) -> Self:
        """Read a folder written by `save` or by the paper authors' script (memory-mapped), an .npz file, or a table.

        A table, .csv or .parquet, has logits, probabilities or confidences: see `abstain.outputs.table`; ``group`` is
        the column of it that becomes the domain, if that is not called group. Nothing is ever unpickled. Arrays of a
        saved folder are checked against their checksums up to 64 MB each, or all of them with ``verify=True``, none
        with ``verify=False``.
        """
        place = as_path("path", path)
        if place.suffix.lower() in SUFFIXES and not place.is_dir():
            return cls(**read_table(place, group=group), nonfinite=nonfinite)
        if group is not None:
            raise ValueError(f"`group` must be a column of a .csv or .parquet table, got {group!r} for {place}.")
        return cls(**arguments_of(load(place, verify=verify)), nonfinite=nonfinite)

    def _sources(self, names: tuple[str, ...]) -> list[tuple[str, Source]]:
        found = [(name, self.__dict__.get(name, self.__dict__.get(f"_{name}"))) for name in names]
        return [(name, value) for name, value in found if value is not None]

    def _arrays(self, names: tuple[str, ...]) -> list[tuple[str, NDArray[Any]]]:
        return [(name, getattr(self, name)) for name in names if getattr(self, name) is not None]

    def _with(self, rows: Mapping[str, Source]) -> Self:
        """The same classifier on other rows, which were checked when they came in."""
        new = object.__new__(type(self))
        same = {name: getattr(self, name) for name in (*HEAD_FIELDS, "given_names", "class_names")}
        possible = self.is_masked or len(rows["logits"]) > len(self)  # a part of what is not masked is not masked
        masked = possible and check.is_masked(rows["logits"], rows["usable"])
        new._set(dict.fromkeys(self.__dataclass_fields__) | same | dict(rows) | {"is_masked": masked})
        return new
