"""The arguments of classifiers that abstain, checked before anything is trained."""

from collections.abc import Iterable
from math import ceil
from numbers import Integral, Real
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets

from abstain._arguments import as_names
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._names import did_you_mean
from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.refusal import NoSafeThresholdError

REJECT_ALL = "Or pass when_impossible='reject_all' to accept nothing instead."


def check_classifier(estimator: Any, /) -> None:
    """Refuse what is not a classifier instance, such as a class or a regressor."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise InvalidTypeError(f"`estimator` must be a classifier, got the class {name}. Write {name}().")
    if not (hasattr(estimator, "fit") or hasattr(estimator, "classes_")) or not hasattr(estimator, "predict"):
        raise InvalidTypeError(
            f"`estimator` must be a classifier with fit and predict, got {type(estimator).__name__}."
        )
    if hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator):
        raise InvalidTypeError(f"`estimator` must be a classifier, got the regressor {type(estimator).__name__}.")


def check_numbers(**values: Any) -> None:
    """Numbers, or None where nothing is asked for."""
    for name, value in values.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
            raise InvalidTypeError(f"`{name}` must be a number, got {value!r}.")


def check_held_out(held_out: Any, n: int, /) -> None:
    """A share, or a number of rows."""
    check_numbers(held_out=held_out)
    if held_out is None or not (0 < held_out < 1 or (isinstance(held_out, Integral) and held_out < n)):
        raise InvalidInputError(
            f"`held_out` must be a share between 0 and 1, or a number of rows below {n}, got {held_out!r}."
        )


def check_reach(risk: float | None, delta: float | None, n: int, /, *, held_out: float | None) -> None:
    """Before anything is trained: enough rows to certify the risk even if none of them were wrong.

    ``held_out`` is None where all rows calibrate.
    """
    if risk is None or delta is None:
        return
    splits = held_out is not None
    held = n if held_out is None else ceil(held_out * n) if held_out < 1 else int(held_out)
    needed = samples_needed(risk, delta)
    if held >= needed:
        return
    rows = f"{held} of {n} rows" if splits else f"{n} rows"
    more = f", hold out more with `held_out=` ({held_out} now), or use all rows with `cv=5`"
    raise NoSafeThresholdError(
        f"`risk` must be achievable: {risk:g} with delta={delta:g} needs at least {needed} rows to calibrate on even "
        f"if none is wrong, got {rows}. Give more rows, or raise `risk`{more if splits and n >= needed else ''}; "
        f"`abstain plan` prints what is needed. {REJECT_ALL}"
    )


def check_reject_label(label: Any, classes: NDArray[Any], /) -> None:
    """None, or a label of the type of the classes that is none of them."""
    if label is None:
        return
    names = classes.tolist()
    are_strings = isinstance(names[0], str)
    if any(isinstance(each, str) != are_strings for each in (label, *names)) or label in names:
        kind = "string" if are_strings else "number"
        raise InvalidInputError(
            f"`reject_label` must be a {kind}, as the classes are, and none of them, got {label!r}."
        )


def checked_rows(X: Any, y: Any, groups: Any, /) -> tuple[Any, NDArray[Any], NDArray[Any] | None]:
    """X, y, and the group of each row; None where rows are independent."""
    X, y, groups = indexable(X, y, groups)
    if y is None:
        raise InvalidInputError("`y` must be given: the classifier requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    ids = None if groups is None else as_names("groups", groups)
    if ids is not None and ids.shape != y.shape:
        raise InvalidInputError(f"`groups` must have shape {y.shape}, one per row, got {ids.shape}.")
    return X, y, ids


def seed_of(random_state: Any, /) -> int:
    """An integer seed from ``random_state``."""
    return int(check_random_state(random_state).randint(2**31))


def splits(cv: Any, X: Any, y: Any, ids: Any, smallest: int, seed: int, /) -> list[tuple[Any, Any]]:
    """Rows to train on and those held out, fold by fold; rows with the same ``ids`` must stay together."""
    splitter = folds(cv, smallest, seed, grouped=ids is not None)
    with catch_warnings():
        filterwarnings("ignore", "The groups parameter is ignored")  # the splits are checked below
        pairs = list(splitter.split(X, y, ids))
    if ids is not None and any(np.isin(ids[held], ids[training]).any() for training, held in pairs):
        raise InvalidInputError(
            "`cv` must keep the rows of a group together, got a splitter that does not. Use GroupKFold or a number."
        )
    return pairs


def folds(cv: Any, smallest: int, seed: int, /, *, grouped: bool = False) -> Any:
    """``cv`` itself if it is a splitter or splits; else that many stratified folds, of whole groups if ``grouped``."""
    if not isinstance(cv, str) and (hasattr(cv, "split") or isinstance(cv, Iterable)):
        return check_cv(cv)
    if isinstance(cv, bool) or not isinstance(cv, Integral) or not 2 <= int(cv) <= smallest:
        hint = did_you_mean(cv, ("prefit",), otherwise="") if isinstance(cv, str) else ""
        raise InvalidInputError(
            f"`cv` must be a splitter, splits, or from 2 to the size of the smallest class ({smallest}), or 'prefit', "
            f"got {cv!r}. {hint}".rstrip()
        )
    kind = StratifiedGroupKFold if grouped else StratifiedKFold
    return kind(int(cv), shuffle=True, random_state=seed)
