"""`Outputs`: what a classifier returned for n samples, checked once and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_path, check_fraction, check_list, check_number
from abstain._cached_property import cached_property
from abstain._draws import generator, leading_digits
from abstain._errors import InvalidInputError, InvalidTypeError, RowError
from abstain._kernels.blocks import row_blocks
from abstain._kernels.counts import numbered
from abstain.outputs import validation as check
from abstain.outputs.construction import checked_fields
from abstain.outputs.head import HeadCheck, check_head
from abstain.outputs.header import FIELDS, HEAD_FIELDS, ROW_FIELDS
from abstain.outputs.load import is_table, load
from abstain.outputs.named_labels import ClassNames
from abstain.outputs.outcomes import check_outcomes, not_right_or_wrong
from abstain.outputs.probabilities import are_log_probabilities
from abstain.outputs.rows import RowView, Source, as_indices, check_parts, draw_rows, take_rows
from abstain.outputs.save import save


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Outputs:
    """What a classifier returned for n samples, such as logits or probabilities, and what else is known of them.

    Everything in abstain starts here. Arrays are checked once, then read-only, and viewed, not copied. Give logits, or
    probabilities, or confidences that something else computed.

    Parameters
    ----------
    logits : (n, K) array_like, optional
        In float16, float32 or float64; −inf masks a class.
    probabilities : (n, K) array_like, optional
        For a classifier without logits, such as a forest. Their logs are stored; scores that use the size of
        the logits are then left out.
    labels : (n,) array_like, optional
        Class numbers, the columns of the logits from 0 on, or names among ``class_names``. A negative number or
        another string is a class that the classifier does not know: ``shift`` is then ``label``, and any prediction is
        an error. Without ``class_names``, string labels name the columns in sorted order.
    features : (n, d) array_like, optional
        Input of the last layer.
    weight : (K, d) array_like, optional
        Of the last layer.
    bias : (K,) array_like, optional
        Of the last layer.
    shift : (n,) array_like or str, optional
        ``none``, ``covariate`` or ``label``; by default ``label`` where the label is negative, else ``none``.
    domain : (n,) array_like or str, optional
        Free names such as ``fog-3`` or ``hospital-B``; a string stands for all rows.
    ids : (n,) array_like, optional
        Names or numbers of the original samples. Rows with the same id show the same sample and stay one cluster
        in splits and standard errors.
    confidences : dict of str to (n,) array_like, optional
        Confidences by name, where logits are not known or besides them; each name is then a score. Without logits some
        of several may be missing, as NaN: the score ``learned`` takes such rows, a single one refuses them.
    errors : (n,) array_like, optional
        Whether each answer was wrong, where only confidences are known.
    losses : (n,) array_like, optional
        How bad each answer is, from 0 to 1, where it is graded and not right or wrong. Instead of ``errors``:
        where only right and wrong occur, ``errors`` certify more.
    class_names : sequence of str or int, optional
        K names, such as scikit-learn's ``classes_``. Integers other than 0 to K − 1 in order make integer labels names
        too: of the classes [−1, 1], the label −1 is the first column.
    nonfinite : {"error", "reject"}
        ``"error"`` refuses rows with NaN or infinity; ``"reject"`` keeps them: they predict −1 and count as errors
        that are never accepted.
    unlabelled : {"error", "keep"}
        ``"error"`` refuses rows without an error or loss, as NaN; ``"keep"`` keeps them, for ``calibrate`` with
        ``Risk(…, label_above=…)`` alone.

    Raises
    ------
    InvalidInputError, InvalidTypeError
        With the name of the argument, the rule, the value and the first row.

    Examples
    --------
    >>> outputs = Outputs(logits=[[2.0, 0.0], [0.5, 1.0], [0.0, 3.0]], labels=[0, 0, -1])
    >>> outputs.errors
    array([False,  True,  True])
    """

    logits: NDArray[np.floating]
    """(n, K); K = 0 where only confidences were given."""
    labels: NDArray[np.int64] | None
    """(n,) class numbers, negative = a class the classifier does not know."""
    features: NDArray[np.floating] | None
    weight: NDArray[np.floating] | None
    bias: NDArray[np.floating] | None
    shift: NDArray[np.str_]
    domain: NDArray[np.str_] | None
    ids: NDArray[Any] | None
    confidences: NDArray[np.float64] | None
    """(n, g) confidences of others, a column for each of ``confidence_names``."""
    wrong: NDArray[np.bool_] | NDArray[np.float64] | None
    """(n,) the errors that were given; numbers with NaN for rows without a label that ``unlabelled="keep"`` keeps."""
    graded: NDArray[np.float64] | None
    """(n,) the losses that were given; NaN may stand in a non-finite row or one that ``unlabelled="keep"`` keeps."""
    confidence_names: tuple[str, ...]
    class_names: tuple[str, ...] | None
    usable: NDArray[np.bool_]
    """(n,) False for non-finite rows, which ``nonfinite="reject"`` keeps."""
    rejects_missing: bool
    """Whether a missing confidence is one that is never accepted, by ``nonfinite="reject"``."""
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
        confidences: Mapping[str, ArrayLike] | None = None,
        errors: ArrayLike | None = None,
        losses: ArrayLike | None = None,
        class_names: ClassNames | None = None,
        nonfinite: check.Nonfinite = "error",
        unlabelled: check.Unlabelled = "error",
    ) -> None:
        arguments = dict(locals())
        del arguments["self"]
        self._set(checked_fields(**arguments))

    def _set(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, f"_{name}" if isinstance(value, RowView) else name, value)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An array that was stored as a view of rows, read whole on first use."""
            view = self.__dict__.get(f"_{name}")
            if view is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._set({name: view[:]})
            return self.__dict__[name]

    def source(self, name: str, /) -> Source | None:
        """What rows of an array, such as the logits, can be read from, block by block, without copying all of them."""
        return self._sources((name,)).get(name)

    @property
    def _logit_rows(self) -> Source:
        return self._sources(("logits",))["logits"]

    def __len__(self) -> int:
        return len(self._logit_rows)

    def __repr__(self) -> str:
        hidden = {"shift", "confidences", "wrong", "graded"} | (set() if self.n_classes else {"logits"})
        shown = [name for name in self._sources(FIELDS) if name not in hidden]
        shown += self.confidence_names
        shown += [name for name, known in (("errors", self.wrong), ("losses", self.graded)) if known is not None]
        counts = {kind: np.count_nonzero(self.shift == kind) for kind in sorted(check.SHIFTS)}
        shifts = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        return f"Outputs(n={len(self)}, classes={self.n_classes}, with {', '.join(shown)}; shift: {shifts})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"

    def __getitem__(self, rows: Any) -> Self:
        """The rows of a mask, of indices or of a slice: ``outputs[outputs.shift == "none"]``."""
        return self.select(np.atleast_1d(np.arange(len(self))[rows] if isinstance(rows, slice) else rows))

    @property
    def n_classes(self) -> int:
        """K, the number of classes the classifier knows."""
        return int(self._logit_rows.shape[1])

    @cached_property
    def are_log_probabilities(self) -> bool:
        """Whether the logits are logs of probabilities, so that the size of the original logits is lost."""
        return bool(self.n_classes) and are_log_probabilities(self._logit_rows)

    @cached_property
    def predictions(self) -> NDArray[np.int64]:
        """(n,) the classifier's own argmax, lowest index on ties; −1 for a non-finite row."""
        if not self.n_classes:
            raise InvalidInputError("`logits` must be given to know the predictions, got confidences alone.")
        logits = self._logit_rows
        parts = [np.argmax(logits[block], axis=1) for block in row_blocks(*logits.shape)]
        predictions = np.where(self.usable, np.concatenate(parts), -1)
        predictions.flags.writeable = False
        return predictions

    def remember_predictions(self, predictions: NDArray[np.int64], /) -> None:
        """Store predictions that another pass over the logits computed."""
        predictions.flags.writeable = False
        self.__dict__.setdefault("predictions", predictions)

    @cached_property
    def errors(self) -> NDArray[np.bool_]:
        """(n,) where the prediction is wrong; always for an unknown class and for a non-finite row.

        An error where losses were given: an answer with a loss between 0 and 1 is neither right nor wrong.
        """
        if self.graded is not None:
            raise not_right_or_wrong()
        if self.wrong is not None:
            check_outcomes(self.wrong, self.usable)
            errors = (self.wrong != 0) | ~self.usable
        elif self.labels is not None:
            errors = (self.predictions != self.labels) | (self.labels < 0)
        else:
            raise check.unlabelled("outputs", "for their errors to be known")
        errors.flags.writeable = False
        return errors

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """(n,) the loss of each answer, from 0 to 1: as given, else 1 for an error; always 1 for a non-finite row."""
        if self.graded is None:
            losses = self.errors.astype(np.float64)
        else:
            check_outcomes(self.graded, self.usable)
            losses = np.where(self.usable, self.graded, 1.0)
        losses.flags.writeable = False
        return losses

    @property
    def outcomes(self) -> NDArray[np.bool_] | NDArray[np.float64]:
        """(n,) the losses where answers are graded, the errors where they are right or wrong."""
        return self.losses if self.is_graded else self.errors

    @property
    def is_labelled(self) -> bool:
        """Whether errors or losses are known, by labels or because they were given."""
        return any(known is not None for known in (self.labels, self.wrong, self.graded))

    @property
    def is_graded(self) -> bool:
        """Whether losses were given, so that answers are not simply right or wrong."""
        return self.graded is not None

    @cached_property
    def samples(self) -> tuple[NDArray[np.int64], int]:
        """(n,) a number for the original sample of each row, and how many samples there are."""
        return (np.arange(len(self)), len(self)) if self.ids is None else numbered(self.ids)

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """(n,) the number of the sample that each row shows, None where every row shows its own."""
        number, size = self.samples
        return number if size < len(self) else None

    def confidence(self, name: str, /) -> NDArray[np.float64]:
        """(n,) the confidence given under this name."""
        if self.confidences is None or name not in self.confidence_names:
            known = ", ".join(self.confidence_names) or "none"
            raise InvalidInputError(f"`outputs` must have the confidence {name!r} that was calibrated, got {known}.")
        return self.confidences[:, self.confidence_names.index(name)]

    def check_head(self) -> HeadCheck:
        """How far features·Wᵀ + b is from the logits; scores that use the head assume that it makes them."""
        if self.features is None or self.weight is None:
            lacking = " and ".join(name for name in ("features", "weight") if getattr(self, name) is None)
            raise InvalidInputError(f"`{lacking}` must be given to check the head, got none.")
        return check_head(self.logits, self.features, self.weight, self.bias)

    def known_above(self, above: NDArray[np.bool_], /) -> Self:
        """The same rows, where only those ``above`` a floor need an outcome; elsewhere a missing one is an error."""
        fields = self._sources((*ROW_FIELDS, "usable"))
        for name in ("wrong", "graded"):
            if (outcomes := getattr(self, name)) is not None and outcomes.dtype != bool:
                check_outcomes(outcomes, self.usable & above, where=" above the floor")
                known = np.where(np.isnan(outcomes), 1.0, outcomes)
                fields[name] = known if name == "graded" else known != 0
        return self._with(fields)

    def select(self, rows: ArrayLike, /) -> Self:
        """The rows of a boolean mask, or of indices in their order.

        Parameters
        ----------
        rows : (n,) array_like
            A mask, or any number of indices; negative indices count from the end.
        """
        indices = as_indices(rows, len(self))
        fields = self._sources((*ROW_FIELDS, "usable"))
        return self._with({name: take_rows(value, indices) for name, value in fields.items()})

    def split(self, fraction: float, /, *, seed: int = 0) -> tuple[Self, Self]:
        """Two disjoint parts, each in the order of the rows, such as for calibration and test.

        Rows with the same ids go to the same side. The draw depends on the seed and the data, not on the order of ids.

        Parameters
        ----------
        fraction : float
            The share of the first part, between 0 and 1.
        seed : int
            Another seed gives another draw.
        """
        check_number("fraction", fraction)
        check_fraction("fraction", fraction)
        rng = self.generator("split of outputs", seed)
        first = draw_rows(len(self), self.ids, size=fraction * len(self), rng=rng)
        return self.select(first), self.select(~first)

    def generator(self, purpose: str, seed: int, /) -> np.random.Generator:
        """A random generator for draws of these rows, seeded by purpose, seed and data (see `abstain._draws`)."""
        logits, confidences = map(leading_digits, (self._logit_rows, self.confidences))
        return generator(purpose, seed, logits, self.labels, confidences, self.wrong, self.graded, self.ids)

    @classmethod
    def concat(cls, parts: Iterable[Outputs], /) -> Outputs:
        """All rows of several outputs of the same classifier; each must have the same arrays and the same head."""
        check_list("parts", parts, "Outputs")
        parts = list(parts)
        check_parts(parts)
        names = parts[0]._sources((*ROW_FIELDS, "usable"))
        return parts[0]._with({name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def save(self, folder: str | PathLike[str], /, *, extra_files: dict[str, bytes] | None = None) -> None:
        """Write a folder of .npy files and outputs.json; a crash leaves the old contents or the new, never a mixture.

        Parameters
        ----------
        folder : path
            New, empty, or with outputs that are to be replaced.
        extra_files : dict, optional
            Contents by file name, written in the same step as a new folder.
        """
        arrays = {name: getattr(self, name) for name in self._sources(FIELDS)}
        names = {name: getattr(self, name) for name in ("class_names", "confidence_names")}
        save(as_path("folder", folder), arrays, names, extra_files=extra_files)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        /,
        *,
        nonfinite: check.Nonfinite = "error",
        unlabelled: check.Unlabelled = "error",
        verify: bool | None = None,
        group: str | None = None,
    ) -> Self:
        """Read outputs from a folder, an .npz file or a table; nothing is ever unpickled.

        Parameters
        ----------
        path : path
            A folder written by `save` or by the paper authors' script (memory-mapped), an .npz file, or a .csv,
            .parquet or .jsonl table with logits, probabilities, confidences, or answers of a language model (see
            `abstain.outputs.table`).
        nonfinite : {"error", "reject"}
            As of `Outputs`.
        unlabelled : {"error", "keep"}
            As of `Outputs`.
        verify : bool, optional
            Whether the arrays of a folder are compared with their checksums; by default those up to 64 MB each.
        group : str, optional
            The column of a table that becomes the domain, if that is not called group.
        """
        file = as_path("path", path)
        arguments = load(file, verify=verify, group=group, unlabelled=unlabelled)
        try:
            return cls(**arguments, nonfinite=nonfinite, unlabelled=unlabelled)
        except RowError as error:
            raise (error.within(file, 0) if is_table(file) else error) from None

    def _sources(self, names: tuple[str, ...]) -> dict[str, Source]:
        """The arrays of these names that there are, as arrays or views of rows."""
        stored = {name: self.__dict__.get(name, self.__dict__.get(f"_{name}")) for name in names}
        return {name: value for name, value in stored.items() if value is not None}

    def _with(self, rows: Mapping[str, Source]) -> Self:
        """The same classifier on other rows, which were checked before."""
        new = object.__new__(type(self))
        same = {
            name: getattr(self, name) for name in (*HEAD_FIELDS, "confidence_names", "class_names", "rejects_missing")
        }
        possible = self.is_masked or len(rows["logits"]) > len(self)  # a part of unmasked rows is unmasked
        masked = possible and check.is_masked(rows["logits"], rows["usable"])
        new._set(dict.fromkeys(self.__dataclass_fields__) | same | dict(rows) | {"is_masked": masked})
        return new


def expect_outputs(value: Any, /, *, name: str = "outputs") -> None:
    """Refuse what is no `Outputs`, such as an array, and say how to make outputs."""
    if not isinstance(value, Outputs):
        raise InvalidTypeError(
            f"`{name}` must be Outputs, got {type(value).__name__}. Make them with abstain.Outputs(logits=…, labels=…) "
            "or abstain.Outputs.load(path)."
        )
