"""The samples that two runs have in common, row by row."""

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.outputs.validation import unlabelled

Names = NDArray[np.str_]
Rows = NDArray[np.int64]


def matched(a: Outputs, b: Outputs, /, *, names: tuple[str, str] = ("a", "b")) -> tuple[Outputs, Outputs, list[str]]:
    """The rows that both runs have, in the order of ``a``, and notes on the others.

    Two rows match if their ids are equal, and their domains where there are some; without ids, if their indices are.
    The labels and shifts of rows that match must agree.
    """
    for name, run in (("a", a), ("b", b)):
        if not run.is_labelled:
            raise unlabelled(name, "to be compared")
    if a.class_names and b.class_names and a.class_names != b.class_names:
        raise InvalidInputError("`b` must have the classes of `a` in the same order, got other class names.")
    of_a, of_b, notes = _matching_rows(a, b)
    whole = len(of_a) == len(a) == len(b)
    if not whole:
        notes.append(
            f"{len(of_a):,} rows are in both; {len(a) - len(of_a):,} of {len(a):,} of {names[0]} and "
            f"{len(b) - len(of_b):,} of {len(b):,} of {names[1]} are left out."
        )
    same = whole and bool((of_b == np.arange(len(b))).all())
    a, b = (a, b) if same else (a.select(of_a), b.select(of_b))
    _check_truth(a, b)
    return a, b, notes


def _matching_rows(a: Outputs, b: Outputs) -> tuple[Rows, Rows, list[str]]:
    if a.ids is None and b.ids is None:
        if len(a) != len(b):
            raise InvalidInputError(
                f"`b` must have the rows of `a`, or both ids, got {len(b)} rows for {len(a)} and no ids."
            )
        every = np.arange(len(a))
        return every, every, ["There are no ids: rows with the same index are taken for the same sample."]
    if a.ids is None or b.ids is None:
        raise InvalidInputError(
            f"`{'a' if a.ids is None else 'b'}` must have ids as the other run has, got none. Give both ids, or "
            "neither."
        )
    ids = a.ids.astype(str), b.ids.astype(str)
    if len(a) == len(b) and (ids[0] == ids[1]).all() and _same(a.domain, b.domain):
        return np.arange(len(a)), np.arange(len(b)), []
    with_domain = a.domain is not None and b.domain is not None
    keys = [_keys(each, run.domain if with_domain else None) for each, run in zip(ids, (a, b), strict=True)]
    for name, key in zip("ab", keys, strict=True):
        if doubled := len(key) - len(np.unique(key)):
            what = "an id and a domain" if with_domain else "an id"
            raise InvalidInputError(
                f"`{name}` must name each row by {what} of its own where rows come in another order, got {doubled} "
                "rows with those of another."
            )
    common, of_a, of_b = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    if not len(common):
        if a.domain is not None and b.domain is not None and len(np.intersect1d(*ids)):
            raise InvalidInputError(
                f"`b` must have the domains of `a`, got {str(b.domain[0])!r:.60} for {str(a.domain[0])!r:.60} with the "
                "same ids. Give both the same domains, or none."
            )
        raise InvalidInputError(
            f"`b` must have samples of `a`, got no id in common: {str(ids[1][0])!r:.60} for {str(ids[0][0])!r:.60}. "
            "Run both models on the same rows."
        )
    order = np.argsort(of_a)
    return of_a[order], of_b[order], []


def _keys(ids: Names, domain: Names | None) -> Names:
    """A string for each row; the length of the id is in it, so that no two pairs have the same."""
    if domain is None:
        return ids
    return np.array([f"{len(each)} {each} {where}" for each, where in zip(ids, domain, strict=True)])


def _check_truth(a: Outputs, b: Outputs) -> None:
    """Labels and shifts must agree, where both have them; every negative label means an unknown class."""
    for what, of_a, of_b in (
        ("labels", _truth(a), _truth(b)),
        ("shift", a.shift, b.shift),
    ):
        if of_a is None or of_b is None:
            continue
        if len(differ := np.flatnonzero(of_a != of_b)):
            row = int(differ[0])
            name = f"row {row}" if a.ids is None else f"id {str(a.ids[row])!r:.60}"
            raise InvalidInputError(
                f"`b` must have the {what} of `a` for the same samples, got another for {len(differ):,} of {len(a):,} "
                f"rows, first {name}: {of_b[row]} for {of_a[row]}."
            )


def _truth(run: Outputs) -> Rows | None:
    return None if run.labels is None else np.maximum(run.labels, -1)


def _same(a: Names | None, b: Names | None) -> bool:
    return a is None or b is None or bool((a == b).all())
