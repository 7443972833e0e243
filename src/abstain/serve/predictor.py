"""`Predictor`: a model and a selector, from named inputs to decisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, foreign
from abstain.collect import OnnxModel
from abstain.outputs import Outputs
from abstain.selector import ReviewPlan, Selector
from abstain.selector.shipped_model import check_model, model_outputs
from abstain.serve.limits import check_row_name
from abstain.serve.tensors import datatype_of

DATATYPES = {
    "tensor(float)": "FP32",
    "tensor(double)": "FP64",
    "tensor(float16)": "FP16",
    "tensor(int8)": "INT8",
    "tensor(int16)": "INT16",
    "tensor(int32)": "INT32",
    "tensor(int64)": "INT64",
    "tensor(uint8)": "UINT8",
    "tensor(uint16)": "UINT16",
    "tensor(uint32)": "UINT32",
    "tensor(uint64)": "UINT64",
    "tensor(bool)": "BOOL",
    "tensor(string)": "BYTES",
}
ANY = -1
Arrays = dict[str, NDArray[Any]]
IDS, GROUPS = "id", "group"


@final
@dataclass(frozen=True)
class TensorInfo:
    """The name, type and shape of an input or output; −1 for any size."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@final
@dataclass(frozen=True, eq=False)
class Decisions:
    """The outputs of the protocol, and the columns that a log records."""

    outputs: Arrays
    columns: dict[str, list[Any]]
    has_own_ids: bool
    """Whether the ids are the caller's, and so may repeat."""


@final
class Predictor:
    """An ONNX classifier with a selector.

    Besides the inputs of the graph it takes ``id`` and ``group``, strings for each row: the sample's own name, and the
    group, which a selector with a threshold for each group needs. A parameter ``group`` of a request is that of all its
    rows.

    Parameters
    ----------
    model : path
        The .onnx file.
    selector : Selector
        The selector.
    logits : str, optional
        The name of the logits tensor, where the first output is not made of them.
    audit : float, optional
        The probability with which an accepted row is drawn for a label.
    per : str, optional
        ``class``, or another name for ``group``, which may be an input of the graph.
    """

    def __init__(
        self,
        model: Path,
        selector: Selector,
        /,
        *,
        logits: str | None = None,
        audit: float | None = None,
        per: str | None = None,
    ) -> None:
        self.model, self.selector = OnnxModel(model, logits=logits), selector
        self._head = self.model.head()
        check_model(selector, self._head)
        self.inputs = _inputs(self.model)
        own = {info.name for info in self.inputs}
        self.per, self._group = per, GROUPS if per in (None, "class") else per
        """What the groups are that monitors are asked for."""
        self.extras = tuple(TensorInfo(name, "BYTES", (ANY,)) for name in (IDS, self._group) if name not in own)
        self._has_groups = self._group not in own or per == self._group
        self._plan = None if audit is None else ReviewPlan(audit=audit)
        self._prefix, self._requests = token_hex(6), count(1)

    @property
    def has_audit(self) -> bool:
        """Whether accepted rows are drawn for labels."""
        return self._plan is not None

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """What it returns."""
        kinds = {"prediction": "INT64", "answer": "INT64", "confidence": "FP64", "accepted": "BOOL"}
        optional = {
            "class_name": self.selector.class_names,
            "candidates": self.selector.class_sets,
            "review": self._plan,
        }
        texts = ["reason", "id", *(name for name, is_there in optional.items() if is_there)]
        kinds |= dict.fromkeys(texts, "BYTES")
        return tuple(TensorInfo(name, kind, (ANY,)) for name, kind in kinds.items())

    def row_names(self, given: NDArray[Any] | None, request: str | None, n: int, /) -> list[str]:
        """The ids of rows: the caller's, or made of that of the request, or new."""
        if given is not None:
            return _names(given, IDS)
        if request is not None:
            _names(np.array([request], dtype=object), IDS)
        else:
            request = f"{self._prefix}-{next(self._requests)}"
        return [request] if n == 1 else [f"{request}-{row}" for row in range(n)]

    def add_group(self, inputs: Arrays, parameters: Mapping[str, Any], /) -> None:
        """Add the group that a parameter of the request names, of all rows, where no input does."""
        first, group = inputs.get(self.inputs[0].name), parameters.get(self._group)
        if group is None or first is None or self._group in inputs:
            return
        if not isinstance(group, str):
            raise InvalidInputError(f"`{self._group}` of `parameters` must be a string, got {group!r:.60}.")
        inputs[self._group] = np.full(len(first), group, dtype=object)

    def check(self, inputs: Arrays, /) -> None:
        """An error unless the inputs are those of the graph, with the same number of rows."""
        known = {info.name: info for info in (*self.inputs, *self.extras)}
        if unknown := [name for name in inputs if name not in known]:
            raise InvalidInputError(f"`inputs` must be among {', '.join(known)}, got {unknown[0]!r:.60}.")
        if missing := [info.name for info in self.inputs if info.name not in inputs]:
            raise InvalidInputError(f"`inputs` must have {missing[0]}, got none.")
        for name, array in inputs.items():
            _check_tensor(known[name], array)
        sizes = {name: len(array) for name, array in inputs.items()}
        counts = ", ".join(f"{n} of {name}" for name, n in sizes.items())
        if not all(sizes.values()) or len(set(sizes.values())) > 1:
            raise InvalidInputError(f"`inputs` must have the same number of rows, at least 1, got {counts}.")
        groups = self.selector.groups
        if groups is not None and not groups.is_by_class and self._group not in inputs:
            raise InvalidInputError(
                f"`inputs` must have {self._group}, since each group has its own threshold, got none."
            )

    def decide(self, inputs: Arrays, request: str | None = None, /) -> Decisions:
        """Decide on rows that `check` has let pass."""
        own = {info.name for info in self.inputs}
        n = len(inputs[self.inputs[0].name])
        extra = {name: array for name, array in inputs.items() if name not in own}
        names = self.row_names(extra.get(IDS), request, n)
        with foreign("`inputs` must be what the graph can compute"):
            logits, features = self.model.run({name: array for name, array in inputs.items() if name in own})
        if logits.ndim != 2 or len(logits) != n:
            raise InvalidInputError(f"`inputs` must give logits of {n} rows, got shape {logits.shape}.")
        groups = self._groups(inputs, n)
        outputs = model_outputs(self.selector, logits, features, self._head, domain=groups, ids=names)
        return self._decided(outputs, names, has_own_ids=request is not None or IDS in extra)

    def _groups(self, inputs: Arrays, n: int) -> list[str] | None:
        if not self._has_groups or self._group not in inputs:
            return None
        if (groups := inputs[self._group]).size != n:
            raise InvalidInputError(f"`{self._group}` must have one value for each row, got shape {groups.shape}.")
        return _names(groups.ravel(), self._group)

    def _decided(self, outputs: Outputs, names: list[str], *, has_own_ids: bool) -> Decisions:
        decided = self.selector.decide(outputs)
        if self._plan is not None:
            review = self._plan.columns(decided)
            decided |= {name: review[name] for name in ("review", "inclusion")}
        predictions = self.selector.predictions(outputs)
        answers = np.where(decided["accepted"], predictions, -1)
        arrays = decided | {"prediction": predictions, "answer": answers, "id": np.array(names, dtype=object)}
        arrays["class_name"] = decided["prediction"]
        columns = {name: values.tolist() for name, values in decided.items()} | {"id": names}
        columns["threshold"] = self.selector.values(outputs).tolist()
        return Decisions({info.name: arrays[info.name] for info in self.outputs}, columns, has_own_ids)


def _inputs(model: OnnxModel) -> tuple[TensorInfo, ...]:
    """The inputs of a graph."""
    entries = []
    for entry in model.session.get_inputs():
        if entry.type not in DATATYPES:
            raise InvalidInputError(f"`model` must have tensors as inputs, got {entry.type} at {entry.name!r}.")
        shape = tuple(size if isinstance(size, int) and size >= 0 else ANY for size in entry.shape)
        entries.append(TensorInfo(entry.name, DATATYPES[entry.type], shape))
    return tuple(entries)


def _check_tensor(info: TensorInfo, array: NDArray[Any]) -> None:
    shape = array.shape
    if (datatype := datatype_of(array)) != info.datatype:
        raise InvalidInputError(f"`datatype` of {info.name} must be {info.datatype}, got {datatype}.")
    fits = len(shape) == len(info.shape) and all(
        wanted in (ANY, size) for wanted, size in zip(info.shape, shape, strict=True)
    )
    if not fits:
        raise InvalidInputError(f"`shape` of {info.name} must be {list(info.shape)}, got {list(shape)[:8]}.")


def _names(values: NDArray[Any], what: str) -> list[str]:
    names = [str(value) for value in values.tolist()]
    for name in names:
        check_row_name(name, what)
    return names
