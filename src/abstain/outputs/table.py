"""Outputs from a table: logits, probabilities, or confidences from anything that says how sure it is."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.outputs.column_names import PLAIN, WIDE, spelled
from abstain.outputs.columns import SUFFIXES, Columns, columns_of, matrix, names, numbers, truths
from abstain.outputs.named_labels import places
from abstain.outputs.row_error import RowError

__all__ = ["SUFFIXES", "arguments_in", "check_some_known", "read_columns", "read_errors", "read_table"]


def read_table(file: Path, /, *, group: str | None = None) -> dict[str, Any]:
    """The arguments of `Outputs` from a .csv or .parquet file; ``group`` is the column that names groups, if another.

    Logits are columns ``logit_NAME``, one for each class, or one of lists, ``logits``; probabilities ``proba_NAME`` or
    ``probabilities``, features ``feature_NUMBER`` or ``features``. A ``confidence``, or several ``confidence_NAME``,
    are given ones. ``label`` is a number or a name of a class, and any other name one that the classifier does not
    know. Without logits ``correct`` or ``error`` says whether the answer was right, 1/0, true/false or yes/no, or
    ``label`` and ``prediction`` together do. ``id`` names the original sample, ``group`` (or ``domain``) where it is
    from, ``shift`` the kind of shift. Capitals in these names do not matter. Other columns are not looked at, and
    `abstain.outputs.column_names` says which. An empty confidence is that of a row which is not usable.
    """
    columns = _respelled(columns_of(file))
    if columns and not len(next(iter(columns.values()))):
        raise ValueError(f"`{file}` must have at least one row, got none.")
    found = arguments_in(file, columns, group=group)
    if "labels" in found and (found["labels"] < 0).all():
        check_some_known(file, found.get("class_names"), f"{str(names(file, 'label', columns)[0])!r} in row 1")
    return found


def arguments_in(file: str | PathLike[str], columns: Columns, /, *, group: str | None = None) -> dict[str, Any]:
    """The arguments of `Outputs` in columns of a file, all of its rows or some that follow each other."""
    columns = _respelled(columns)
    given = [name for name in columns if name == "confidence" or name.startswith("confidence_")]
    found: dict[str, Any] = {}
    for argument, prefix in WIDE.items():
        values, class_names = _wide(file, columns, argument, prefix)
        if values is not None:
            found[argument] = values
            if argument != "features" and class_names is not None:
                found["class_names"] = class_names
    scored = "logits" in found or "probabilities" in found
    if not given and not scored:
        raise ValueError(
            f"`{file}` must have a column confidence, or columns logit_… or proba_…, got {_listed(columns)}. Also "
            f"understood: {', '.join(PLAIN[1:])}."
        )
    if given:
        found["given"] = {name: numbers(file, name, columns) for name in given}
    found |= _truth_of(file, columns) if not scored else _labels(file, columns, found)
    if "group" in columns and "domain" in columns:
        raise ValueError(f"`{file}` must have a column group or a column domain, got both.")
    for name, argument in (("id", "ids"), ("group", "domain"), ("domain", "domain"), ("shift", "shift")):
        if name in columns:
            found[argument] = names(file, name, columns)
    if group is not None:
        if group not in columns:
            raise ValueError(f"`{file}` must have a column {group}, got {_listed(columns)}.")
        found["domain"] = names(file, group, columns)
    return found


def check_some_known(file: str | PathLike[str], class_names: tuple[str, ...] | None, got: str, /) -> None:
    """Of a table whose labels are all none of the classes: an error where these have names, which may be misspelt."""
    if class_names is not None:
        raise ValueError(f"`{file}` must have labels among the classes {', '.join(class_names[:9])}, got {got}.")


def read_columns(
    file: Path,
    /,
    *,
    number: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    if_there: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Columns that a table must have, each of its kind, and texts that it may have."""
    columns = _respelled(columns_of(file))
    if missing := [name for name in (*number, *text) if name not in columns]:
        raise ValueError(f"`{file}` must have a column {missing[0]}, got {_listed(columns)}.")
    found: dict[str, Any] = {name: numbers(file, name, columns) for name in number}
    told = [name for name in if_there if name in columns]
    return found | {name: names(file, name, columns) for name in (*text, *told)}


def read_errors(file: Path, /) -> tuple[NDArray[np.str_], NDArray[np.float64]]:
    """The ids of rows, and whether each answer was wrong, as the columns error or correct, or label, tell."""
    columns = _respelled(columns_of(file))
    if "id" not in columns:
        raise ValueError(f"`{file}` must have a column id, got {_listed(columns)}.")
    found = _truth_of(file, columns)
    if not found:
        raise ValueError(f"`{file}` must have a column error or correct, got {_listed(columns)}.")
    return names(file, "id", columns), found["errors"]


def _respelled(columns: Columns) -> Columns:
    """The same in the same order, by our spelling."""
    ours = spelled(columns)
    return {ours.get(name, name): values for name, values in columns.items()}


def _listed(columns: Columns) -> str:
    shown = list(columns)[:20]
    return ", ".join(shown) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "") or "none"


def _wide(
    file: str | PathLike[str], columns: Columns, argument: str, prefix: str
) -> tuple[NDArray[np.floating] | None, tuple[str, ...] | None]:
    """The columns of a prefix side by side, or a column of lists, and the names where they are no numbers."""
    wide = [name for name in columns if name.startswith(prefix)]
    if argument in columns and wide:
        raise ValueError(f"`{file}` must have a column {argument} or columns {prefix}…, got both.")
    if argument in columns:
        return matrix(file, argument, columns), None
    if not wide:
        return None, None
    suffixes = [name.removeprefix(prefix) for name in wide]
    numbered = all(suffix.isdecimal() for suffix in suffixes)
    if numbered:
        wide.sort(key=lambda name: int(name.removeprefix(prefix)))
        if [int(name.removeprefix(prefix)) for name in wide] != list(range(len(wide))):
            raise ValueError(
                f"`{file}` must have columns {prefix}0 to {prefix}{len(wide) - 1}, got {', '.join(wide[:9])}."
            )
    values = np.stack([numbers(file, name, columns) for name in wide], axis=1)
    return values, None if numbered else tuple(suffixes)


def _labels(file: str | PathLike[str], columns: Columns, found: dict[str, Any]) -> dict[str, Any]:
    """Class numbers; a name that is none of the classes is one that the classifier does not know."""
    if "label" not in columns:
        return {}
    known = found.get("class_names")
    if known is None:
        given = numbers(file, "label", columns)
        if (bad := np.flatnonzero(~(np.abs(given) < 2**53) | (given != np.rint(given)))).size:
            got = repr(str(names(file, "label", columns)[bad[0]]))
            raise RowError(f"`{file}` must have class numbers in column label, got {got} in row", int(bad[0]) + 1)
        return {"labels": given.astype(np.int64)}
    values = names(file, "label", columns)
    _check_names(file, known, values.tolist())
    return {"labels": places(values, known)}


def _check_names(file: str | PathLike[str], known: tuple[str, ...], values: list[str]) -> None:
    """A class number where the classes have names is most likely one of them, and not a class that is unknown."""
    numbers = {value for value in set(values).difference(known) if value.isdecimal()}
    if numbers and not any(name.isdecimal() for name in known):
        row = next(row for row, value in enumerate(values) if value in numbers)
        raise RowError(
            f"`{file}` must have class names in column label as its columns do, {', '.join(known[:9])}, got the number "
            f"{values[row]} in row",
            row + 1,
            ". Write class names, or name the columns by numbers: logit_0 or proba_0 and so on.",
        )


def _truth_of(file: str | PathLike[str], columns: Columns) -> dict[str, Any]:
    """Whether each answer was wrong, where that is known."""
    told = [name for name in ("correct", "error") if name in columns]
    if len(told) == 2:
        raise ValueError(f"`{file}` must have a column correct or a column error, got both.")
    if told:
        values = truths(file, told[0], columns)
        return {"errors": 1 - values if told[0] == "correct" else values}
    if "label" in columns and "prediction" in columns:
        return {"errors": (names(file, "label", columns) != names(file, "prediction", columns)).astype(np.float64)}
    return {}
