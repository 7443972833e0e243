"""Outputs from a table: logits, probabilities, confidences from any source, or answers of a language model."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import BOOLEANS
from abstain._errors import InvalidInputError, RowError
from abstain.answers import signals
from abstain.outputs.column_names import ANSWERS, PLAIN, WIDE, spelled
from abstain.outputs.columns import SUFFIXES, Columns, columns_of, matrix, names, numbers, truths
from abstain.outputs.named_labels import class_indices
from abstain.outputs.validation import Unlabelled

__all__ = [
    "SUFFIXES",
    "arguments_in",
    "check_some_known",
    "read_columns",
    "read_decisions",
    "read_errors",
    "read_table",
]


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
    columns = _respelled(columns_of(file))
    if columns and not len(next(iter(columns.values()))):
        raise InvalidInputError(f"`{file}` must have at least one row, got none.")
    arguments = arguments_in(file, columns, group=group, unlabelled=unlabelled)
    if "labels" in arguments and (arguments["labels"] < 0).all():
        check_some_known(file, arguments.get("class_names"), f"{str(names(file, 'label', columns)[0])!r} in row 1")
    return arguments


def arguments_in(
    file: str | PathLike[str], columns: Columns, /, *, group: str | None = None, unlabelled: Unlabelled = "error"
) -> dict[str, Any]:
    """The arguments of `Outputs` in columns of a file, for all of its rows or consecutive ones."""
    columns = _respelled(columns)
    arguments: dict[str, Any] = {}
    for argument, prefix in WIDE.items():
        values, class_names = _wide(file, columns, argument, prefix)
        if values is not None:
            arguments[argument] = values
            if argument != "features" and class_names is not None:
                arguments["class_names"] = class_names
    has_logits = "logits" in arguments or "probabilities" in arguments
    confidences = _confidences(file, columns) | ({} if has_logits else _signals(file, columns))
    if not confidences and not has_logits:
        raise InvalidInputError(
            f"`{file}` must have a column confidence, or columns logit_… or proba_…, got {_listed(columns)}. Rename "
            f"yours. A table of answers needs logprobs or samples. Other columns that are read: {', '.join(PLAIN[1:])}."
        )
    if confidences:
        arguments["confidences"] = confidences
    if has_logits:
        arguments |= _labels(file, columns, arguments.get("class_names"))
    else:
        arguments |= _truth_of(file, columns, unlabelled)
    if has_logits and "loss" in columns and "labels" not in arguments:
        arguments["losses"] = numbers(file, "loss", columns)
    if "group" in columns and "domain" in columns:
        raise InvalidInputError(f"`{file}` must have a column group or a column domain, got both.")
    for name, argument in (("id", "ids"), ("group", "domain"), ("domain", "domain"), ("shift", "shift")):
        if name in columns:
            arguments[argument] = names(file, name, columns)
    if group is not None:
        if group not in columns:
            raise InvalidInputError(f"`{file}` must have a column {group}, got {_listed(columns)}.")
        arguments["domain"] = names(file, group, columns)
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
    columns = _respelled(columns_of(file))
    if missing := [name for name in (*number, *text) if name not in columns]:
        raise InvalidInputError(f"`{file}` must have a column {missing[0]}, got {_listed(columns)}.")
    optional = [name for name in if_there if name in columns]
    strings = {name: names(file, name, columns) for name in (*text, *optional)}
    return {name: numbers(file, name, columns) for name in number} | strings


def read_decisions(file: Path, /) -> dict[str, Any]:
    """The columns id, confidence, accepted, review and inclusion of decisions, and errors, NaN where not known."""
    columns = _respelled(columns_of(file))
    if missing := [name for name in ("id", "confidence", "accepted", "review", "inclusion") if name not in columns]:
        raise InvalidInputError(
            f"`{file}` must have a column {missing[0]}, got {_listed(columns)}. Write it with `abstain select --audit`."
        )
    if not (given_as := [name for name in ("error", "correct", "loss") if name in columns]):
        raise InvalidInputError(f"`{file}` must have a column error, correct or loss, got {_listed(columns)}.")
    known = given_as[0]
    values = [str(value).strip() for value in columns[known]]
    is_known = np.array([value not in ("", "None", "nan") for value in values])
    filled: Columns = {known: [v if is_there else "0" for v, is_there in zip(values, is_known, strict=True)]}
    given = (numbers if known == "loss" else truths)(file, known, filled)
    wrong = ~np.asarray(given, dtype=bool) if known == "correct" else given
    return {
        "ids": names(file, "id", columns),
        "confidence": numbers(file, "confidence", columns),
        "accepted": np.asarray(truths(file, "accepted", columns), dtype=bool),
        "review": np.array(["" if value is None else str(value).strip() for value in columns["review"]]),
        "inclusion": numbers(file, "inclusion", columns),
        "errors": np.where(is_known, np.asarray(wrong, dtype=np.float64), np.nan),
    }


def read_errors(file: Path, /) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """The ids of rows, and whether each answer was wrong (error, correct, or label and prediction) or its loss."""
    columns = _respelled(columns_of(file))
    if "id" not in columns:
        raise InvalidInputError(f"`{file}` must have a column id, got {_listed(columns)}.")
    errors = _truth_of(file, columns)
    if not errors:
        raise InvalidInputError(f"`{file}` must have a column error, correct or loss, got {_listed(columns)}.")
    return names(file, "id", columns), next(iter(errors.values()))


def _respelled(columns: Columns) -> Columns:
    """The same columns by their usual spelling."""
    ours = spelled(columns)
    return {ours.get(name, name): values for name, values in columns.items()}


def _listed(columns: Columns) -> str:
    shown = list(columns)[:20]
    return ", ".join(shown) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "") or "none"


def _confidences(file: str | PathLike[str], columns: Columns) -> dict[str, NDArray[np.float64]]:
    """Confidences of others, and the negatives of uncertainties."""
    given = [name for name in columns if name == "confidence" or name.startswith("confidence_")]
    opposite = [name for name in columns if name.startswith("uncertainty_")]
    confidences = {name: numbers(file, name, columns) for name in given}
    return confidences | {
        f"neg_{name.removeprefix('uncertainty_')}": -numbers(file, name, columns) for name in opposite
    }


def _signals(file: str | PathLike[str], columns: Columns) -> dict[str, NDArray[np.float64]]:
    """Signals of answers, where there are columns to compute them from."""
    answer, samples, logprobs, tops = (columns.get(name) for name in ANSWERS)
    if samples is None and logprobs is None:
        return {}
    try:
        return signals(answers=answer, samples=samples, logprobs=logprobs, top_logprobs=tops)
    except RowError as error:
        raise error.within(file, 0) from None


def _wide(
    file: str | PathLike[str], columns: Columns, argument: str, prefix: str
) -> tuple[NDArray[np.floating] | None, tuple[str, ...] | None]:
    """The columns of a prefix, or a column of lists, as a matrix, and their names unless these are numbers."""
    wide = [name for name in columns if name.startswith(prefix)]
    if argument in columns and wide:
        raise InvalidInputError(f"`{file}` must have a column {argument} or columns {prefix}…, got both.")
    if argument in columns:
        return matrix(file, argument, columns), None
    if not wide:
        return None, None
    suffixes = [BOOLEANS.get(suffix, suffix) for suffix in (name.removeprefix(prefix) for name in wide)]
    numbered = all(suffix.isdecimal() for suffix in suffixes)
    if numbered:
        wide.sort(key=lambda name: int(name.removeprefix(prefix)))
        if [int(name.removeprefix(prefix)) for name in wide] != list(range(len(wide))):
            raise InvalidInputError(
                f"`{file}` must have columns {prefix}0 to {prefix}{len(wide) - 1}, got {', '.join(wide[:9])}."
            )
    values = np.stack([numbers(file, name, columns) for name in wide], axis=1)
    return values, None if numbered else tuple(suffixes)


def _labels(file: str | PathLike[str], columns: Columns, class_names: tuple[str, ...] | None) -> dict[str, Any]:
    """Class numbers; any other name is a class that the classifier does not know."""
    if "label" not in columns:
        return {}
    if class_names is None:
        given = numbers(file, "label", columns)
        if (bad := np.flatnonzero(~(np.abs(given) < 2**53) | (given != np.rint(given)))).size:
            got = repr(str(names(file, "label", columns)[bad[0]]))
            raise RowError(f"`{file}` must have class numbers in column label, got {got} in row", int(bad[0]) + 1)
        return {"labels": given.astype(np.int64)}
    values = names(file, "label", columns)
    _check_names(file, class_names, values.tolist())
    return {"labels": class_indices(values, class_names)}


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


def _truth_of(file: str | PathLike[str], columns: Columns, unlabelled: Unlabelled = "error") -> dict[str, Any]:
    """Whether each answer was wrong, or its loss, where that is known."""
    outcome = [name for name in ("correct", "error", "loss") if name in columns]
    if len(outcome) > 1:
        either = " or ".join(f"a column {name}" for name in outcome)
        raise InvalidInputError(f"`{file}` must have {either}, got {'both' if len(outcome) == 2 else 'all'}.")
    if outcome == ["loss"]:
        return {"losses": numbers(file, "loss", columns)}
    if outcome:
        values = truths(file, outcome[0], columns, missing=unlabelled == "keep")
        return {"errors": 1 - values if outcome[0] == "correct" else values}
    if "label" in columns and "prediction" in columns:
        return {"errors": (names(file, "label", columns) != names(file, "prediction", columns)).astype(np.float64)}
    return {}
