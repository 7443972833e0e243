"""Outputs from a table: logits, probabilities, confidences from any source, or answers of a language model."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import BOOLEANS
from abstain._errors import InvalidInputError, RowError
from abstain.answers import signals
from abstain.outputs.column_names import ANSWERS, PLAIN, WIDE
from abstain.outputs.columns import Columns, Table
from abstain.outputs.columns import text as cell_text
from abstain.outputs.named_labels import class_indices
from abstain.outputs.validation import Unlabelled


def read_table(file: Path, /, *, group: str | None = None, unlabelled: Unlabelled = "error") -> dict[str, Any]:
    """The arguments of `Outputs` in a .csv, .parquet or .jsonl file; ``group`` is the column of groups.

    ======================================  ====================================================================
    ``logit_NAME``, or lists ``logits``     one column per class
    ``proba_NAME``, ``probabilities``       the same for probabilities
    ``feature_NUMBER``, ``features``        input of the last layer
    ``confidence``, ``confidence_NAME``     confidences of others; an empty cell is a non-finite row
    ``uncertainty_NAME``                    its negative is the confidence ``neg_NAME``
    ``logprobs``, ``top_logprobs``          lists per token of an answer: see `abstain.answers.signals`
    ``answer``, ``samples``                 an answer and a list of further ones: the same
    ``label``                               number or name of a class; any other name is an unknown class
    ``correct`` or ``error``                without logits: 1/0, true/false or yes/no
    ``loss``                                without labels: how bad the answer is, from 0 to 1
    ``label`` and ``prediction``            without logits: an error where they differ
    ``id``, ``group`` or ``domain``         the original sample, and where it is from
    ``shift``                               none, covariate or label
    ======================================  ====================================================================

    Case does not matter in these names. A list in a .csv file is written in brackets, as in JSON. Tables of uqlm and
    lm-polygraph are read with their own names (see `abstain.outputs.column_names`). Other columns are not used (see
    `abstain.outputs.column_names`).
    """
    table = Table.read(file)
    if table.columns and not len(next(iter(table.columns.values()))):
        raise InvalidInputError(f"`{file}` must have at least one row, got none.")
    arguments = _arguments(table, group, unlabelled)
    if "labels" in arguments and (arguments["labels"] < 0).all():
        check_some_known(file, arguments.get("class_names"), f"{str(table.names('label')[0])!r} in row 1")
    return arguments


def arguments_in(file: str, columns: Columns, /, *, group: str | None = None) -> dict[str, Any]:
    """The same from columns of a file, for consecutive rows."""
    return _arguments(Table.of(file, columns), group, "error")


def _arguments(table: Table, group: str | None, unlabelled: Unlabelled) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for argument, prefix in WIDE.items():
        values, class_names = _wide(table, argument, prefix)
        if values is not None:
            arguments[argument] = values
            if argument != "features" and class_names is not None:
                arguments["class_names"] = class_names
    has_logits = "logits" in arguments or "probabilities" in arguments
    confidences = _confidences(table) | ({} if has_logits else _signals(table))
    if confidences:
        arguments["confidences"] = confidences
    elif not has_logits:
        raise table.lacks(
            "confidence, or columns logit_… or proba_…",
            " Rename yours. A table of answers needs logprobs or samples. Other columns that are read: "
            f"{', '.join(PLAIN[1:])}.",
        )
    if not has_logits:
        arguments |= _truth_of(table, unlabelled)
    elif "label" in table:
        arguments["labels"] = _labels(table, arguments.get("class_names"))
    elif "loss" in table:
        arguments["losses"] = table.numbers("loss")
    if "group" in table and "domain" in table:
        raise InvalidInputError(f"`{table.file}` must have a column group or a column domain, got both.")
    for name, argument in (("id", "ids"), ("group", "domain"), ("domain", "domain"), ("shift", "shift")):
        if name in table:
            arguments[argument] = table.names(name)
    if group is not None:
        arguments["domain"] = table.names(group)
    return arguments


def check_some_known(file: str | PathLike[str], class_names: tuple[str, ...] | None, got: str, /) -> None:
    """Refuse a table where no label is among the named classes: most likely they are misspelt."""
    if class_names is not None:
        raise InvalidInputError(f"`{file}` must have labels among the classes {', '.join(class_names[:9])}, got {got}.")


def read_columns(
    file: Path,
    /,
    *,
    number: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    if_there: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Columns of numbers and of strings that a table must have, and columns of strings that it may have."""
    table = Table.read(file)
    strings = {name: table.names(name) for name in (*text, *(name for name in if_there if name in table))}
    return {name: table.numbers(name) for name in number} | strings


def read_decisions(file: Path, /) -> dict[str, Any]:
    """The columns id, confidence, accepted, review and inclusion of decisions, and errors, NaN where not known."""
    table = Table.read(file)
    for name in ("id", "confidence", "accepted", "review", "inclusion"):
        if name not in table:
            raise table.lacks(name, " Write it with `abstain select --audit`.")
    return {
        "ids": table.names("id"),
        "confidence": table.numbers("confidence"),
        "accepted": table.truths("accepted") == 1,
        "review": np.array([cell_text(value) or "" for value in table["review"]]),
        "inclusion": table.numbers("inclusion"),
        "errors": _needed_truth(table, "keep"),
    }


def read_errors(file: Path, /) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """The ids of rows, and whether each answer was wrong (error, correct, or label and prediction) or its loss."""
    table = Table.read(file)
    return table.names("id"), _needed_truth(table, "error")


def _needed_truth(table: Table, unlabelled: Unlabelled) -> NDArray[np.float64]:
    if truth := _truth_of(table, unlabelled):
        return next(iter(truth.values()))
    raise table.lacks("error, correct or loss")


def _confidences(table: Table) -> dict[str, NDArray[np.float64]]:
    """Confidences of others, and the negatives of uncertainties."""
    given = [name for name in table.columns if name == "confidence" or name.startswith("confidence_")]
    opposite = [name for name in table.columns if name.startswith("uncertainty_")]
    confidences = {name: table.numbers(name) for name in given}
    return confidences | {f"neg_{name.removeprefix('uncertainty_')}": -table.numbers(name) for name in opposite}


def _signals(table: Table) -> dict[str, NDArray[np.float64]]:
    """Signals of answers, where there are columns to compute them from."""
    answer, samples, logprobs, tops = (table.columns.get(name) for name in ANSWERS)
    if samples is None and logprobs is None:
        return {}
    try:
        return signals(answers=answer, samples=samples, logprobs=logprobs, top_logprobs=tops)
    except RowError as error:
        raise error.within(table.file, 0) from None


def _wide(table: Table, argument: str, prefix: str) -> tuple[NDArray[np.floating] | None, tuple[str, ...] | None]:
    """The columns of a prefix, or a column of lists, as a matrix, and their names unless these are numbers."""
    wide = [name for name in table.columns if name.startswith(prefix)]
    if argument in table and wide:
        raise InvalidInputError(f"`{table.file}` must have a column {argument} or columns {prefix}…, got both.")
    if argument in table:
        return table.matrix(argument), None
    if not wide:
        return None, None
    suffixes = [BOOLEANS.get(suffix, suffix) for suffix in (name.removeprefix(prefix) for name in wide)]
    numbered = all(suffix.isdecimal() for suffix in suffixes)
    if numbered:
        wide.sort(key=lambda name: int(name.removeprefix(prefix)))
        if [int(name.removeprefix(prefix)) for name in wide] != list(range(len(wide))):
            raise InvalidInputError(
                f"`{table.file}` must have columns {prefix}0 to {prefix}{len(wide) - 1}, got {', '.join(wide[:9])}."
            )
    values = np.stack([table.numbers(name) for name in wide], axis=1)
    return values, None if numbered else tuple(suffixes)


def _labels(table: Table, class_names: tuple[str, ...] | None) -> NDArray[np.int64]:
    """Class numbers; any other name is a class that the classifier does not know."""
    if class_names is None:
        given = table.numbers("label")
        if (bad := np.flatnonzero(~(np.abs(given) < 2**53) | (given != np.rint(given)))).size:
            got = repr(str(table.names("label")[bad[0]]))
            raise RowError(f"`{table.file}` must have class numbers in column label, got {got} in row", int(bad[0]) + 1)
        return given.astype(np.int64)
    values = table.names("label")
    _check_names(table.file, class_names, values.tolist())
    return class_indices(values, class_names)


def _check_names(file: str | PathLike[str], known: tuple[str, ...], values: list[str]) -> None:
    """Refuse class numbers where the classes have names: they would count as unknown classes."""
    numbers = {value for value in set(values).difference(known) if value.isdecimal()}
    if numbers and not any(name.isdecimal() for name in known):
        row = next(row for row, value in enumerate(values) if value in numbers)
        raise RowError(
            f"`{file}` must have class names in column label as its columns do, {', '.join(known[:9])}, got the number "
            f"{values[row]} in row",
            row + 1,
            ". Write class names, or name the columns by numbers: logit_0 or proba_0 and so on.",
        )


def _truth_of(table: Table, unlabelled: Unlabelled = "error") -> dict[str, NDArray[np.float64]]:
    """Whether each answer was wrong, or its loss, where that is known."""
    outcome = [name for name in ("correct", "error", "loss") if name in table]
    if len(outcome) > 1:
        either = " or ".join(f"a column {name}" for name in outcome)
        raise InvalidInputError(f"`{table.file}` must have {either}, got {'both' if len(outcome) == 2 else 'all'}.")
    if outcome == ["loss"]:
        return {"losses": table.numbers("loss")}
    if outcome:
        values = table.truths(outcome[0], missing=unlabelled == "keep")
        return {"errors": 1 - values if outcome[0] == "correct" else values}
    if "label" in table and "prediction" in table:
        return {"errors": (table.names("label") != table.names("prediction")).astype(np.float64)}
    return {}
