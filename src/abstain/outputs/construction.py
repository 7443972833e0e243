"""The fields of an `Outputs` from its arguments, each checked."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import as_array
from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.outputs import validation as check
from abstain.outputs.named_labels import are_numbers, matched_labels, sorted_names
from abstain.outputs.outcomes import given_errors, given_losses
from abstain.outputs.probabilities import log_probabilities, warn_of_probabilities


def checked_fields(*, nonfinite: check.Nonfinite, unlabelled: check.Unlabelled, **given: Any) -> dict[str, Any]:
    """All fields; an error names the first argument that is wrong."""
    check_name("nonfinite", nonfinite, get_args(check.Nonfinite), rule="be 'error' or 'reject'")
    check_name("unlabelled", unlabelled, get_args(check.Unlabelled), rule="be 'error' or 'keep'")
    confidences = check.check_confidences(given["confidences"])
    z = _logits(given["logits"], given["probabilities"], confidences)
    n, k = z.shape
    usable, masked = check.usable_logits(z) if k else (np.ones(n, dtype=bool), False)
    fields: dict[str, Any] = {"logits": z, "usable": usable, "is_masked": masked}
    fields["rejects_missing"] = nonfinite == "reject"
    fields["confidence_names"] = () if confidences is None else tuple(given["confidences"])
    fields["confidences"] = confidences
    if confidences is not None:
        rows = check.check_confidence_rows(confidences, fields["confidence_names"], n, nonfinite, with_logits=k > 0)
        fields["usable"] = fields["usable"] & rows
    if nonfinite == "error" and k:
        check.check_finite("logits", z, fields["usable"])
    fields["features"] = None
    if given["features"] is not None:
        x = as_array("features", given["features"])
        check.check_floats("features", x, (n, None))
        usable = check.usable_rows(x)
        if nonfinite == "error":
            check.check_finite("features", x, usable)
        fields["features"], fields["usable"] = x, fields["usable"] & usable
    fields["graded"] = None
    if given["losses"] is not None:
        others = [name for name in ("labels", "errors") if given[name] is not None]
        fields["graded"] = given_losses(given["losses"], fields["usable"] & (unlabelled == "error"), others=others)
    fields |= _head(given["weight"], given["bias"], fields["features"], k)
    return fields | _each_row(given, z, fields["usable"], unlabelled)


def _logits(logits: Any, probabilities: Any, confidences: NDArray[np.float64] | None) -> NDArray[Any]:
    if logits is not None and probabilities is not None:
        raise InvalidInputError("`probabilities` must be left out where there are logits, got both.")
    if probabilities is not None:
        logits = log_probabilities(probabilities)
    if logits is None:
        if confidences is None:
            raise InvalidInputError(
                "`logits` must be given, or else `probabilities`, or `confidences` and `errors` or `losses`, got none."
            )
        return np.empty((len(confidences), 0))
    z = as_array("logits", logits)
    check.check_class_columns("logits", z)
    check.check_floats("logits", z, (None, None))
    if z.shape[1] == 1:
        raise InvalidInputError(
            "`logits` must have at least 2 columns, one for each class, got 1. "
            "For a single sigmoid logit use abstain.scores.binary_logits(z)."
        )
    warn_of_probabilities(z)
    return z


def _each_row(
    given: dict[str, Any], z: NDArray[Any], usable: NDArray[np.bool_], unlabelled: check.Unlabelled
) -> dict[str, Any]:
    """Fields with one entry per row, and the names of classes."""
    fields: dict[str, Any] = dict.fromkeys(("labels", "wrong", "domain", "ids", "class_names"))
    n, k = z.shape
    class_names = None if given["class_names"] is None else check.listed_names(given["class_names"])
    if class_names is not None:
        fields["class_names"] = check.check_class_names(class_names, k)
    if given["errors"] is not None:
        array = as_array("errors", given["errors"])
        with_labels = given["labels"] is not None
        fields["wrong"] = given_errors(array, n, with_labels=with_labels, unlabelled=unlabelled)
    if given["labels"] is not None and not k:
        raise InvalidInputError(
            "`labels` must come with `logits`, got none. Pass errors= or losses= where only confidences are known."
        )
    if given["labels"] is not None:
        labels, names = _numbered(given["labels"], class_names, z, usable)
        fields["class_names"] = fields["class_names"] or names
        fields["labels"] = check.as_class_numbers(labels, n, k)
        if k == 2 and names is None and given["shift"] is None:
            check.warn_of_signs(fields["labels"])
    fields["shift"] = check.check_shift(given["shift"], fields["labels"], n)
    if given["domain"] is not None:
        fields["domain"] = check.group_names(given["domain"], n)
    if given["ids"] is not None:
        fields["ids"] = check.per_row("ids", given["ids"], n, "Uiu")
    return fields


def _numbered(
    given: Any, class_names: Sequence[Any] | None, z: NDArray[Any], usable: NDArray[np.bool_]
) -> tuple[NDArray[Any], Sequence[Any] | None]:
    """Labels as class numbers, and the names of the classes where these or the labels have some."""
    labels = as_array("labels", given)
    if labels.dtype.kind == "U" and class_names is None and not are_numbers(labels):
        labels = check.per_row("labels", labels, len(z), "U")
        class_names = sorted_names(labels, z.shape[1], lambda: np.where(usable, np.argmax(z, axis=1), -1))
    if class_names is None or labels.dtype.kind not in "iuU":
        return labels, class_names
    return matched_labels(check.per_row("labels", labels, len(z), "Uiu"), class_names), class_names


def _head(weight: Any, bias: Any, features: NDArray[Any] | None, k: int) -> dict[str, NDArray[Any] | None]:
    head: dict[str, NDArray[Any] | None] = {"weight": None, "bias": None}
    if weight is not None:
        w = as_array("weight", weight)
        check.check_floats("weight", w, (k, None if features is None else features.shape[1]))
        check.check_finite("weight", w, check.usable_rows(w))
        head["weight"] = w
    if bias is not None:
        b = as_array("bias", bias)
        check.check_floats("bias", b, (k,))
        check.check_finite("bias", b[:, None], check.usable_rows(b[:, None]))
        head["bias"] = b
    return head
