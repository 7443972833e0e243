"""A fitted score as arrays and a small header, and back: nothing executable, every name and type checked."""

from dataclasses import fields
from typing import Any, Literal, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from abstain.foreign import foreign
from abstain.outputs import Outputs
from abstain.records import built
from abstain.scores.delta_knn import FittedDeltaKNN
from abstain.scores.delta_mds import FittedDeltaMDS
from abstain.scores.expected_cost import FittedExpectedCost
from abstain.scores.fdbd import FittedFDBD
from abstain.scores.fitting import Fitted
from abstain.scores.given import given_score
from abstain.scores.knn import FittedKNN
from abstain.scores.margin_mix import FittedMarginMix
from abstain.scores.max_logit_pnorm import FittedMaxLogitPNorm
from abstain.scores.nnguide import FittedNNGuide
from abstain.scores.react import FittedReAct
from abstain.scores.registry import SCORES
from abstain.scores.residual import FittedResidual
from abstain.scores.rmds import FittedRMDS
from abstain.scores.score import Confidence, Score
from abstain.scores.sirc import FittedSIRC
from abstain.scores.temperature import FittedTemperature
from abstain.scores.vim import FittedViM

FITTED: dict[str, type[Fitted]] = {
    kind.__name__: kind
    for kind in (
        FittedDeltaKNN,
        FittedDeltaMDS,
        FittedExpectedCost,
        FittedFDBD,
        FittedKNN,
        FittedMarginMix,
        FittedMaxLogitPNorm,
        FittedNNGuide,
        FittedRMDS,
        FittedReAct,
        FittedResidual,
        FittedSIRC,
        FittedTemperature,
        FittedViM,
    )
}
Arrays = dict[str, NDArray[Any]]
LARGEST = 1e100  # so that squares and products of a few are finite


def to_state(fitted: Confidence, /) -> tuple[dict[str, Any], Arrays]:
    """A header that JSON can hold and the arrays it names."""
    arrays: Arrays = {}
    return {"fitted": _pack(fitted, "score", arrays)}, arrays


def from_state(header: dict[str, Any], arrays: Arrays, /) -> Confidence:
    """The fitted score that `to_state` took apart; anything else is a ValueError."""
    try:
        fitted = _unpack(header["fitted"], arrays)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"`header` must be that of a fitted score, got {type(error).__name__}: {error}.") from None
    if not callable(fitted):
        raise ValueError("`header` must be that of a fitted score, got another value.")
    return fitted


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    if isinstance(value, Score):
        return {"given" if value.family == "given" else "score": value.name}
    if isinstance(value, Fitted):
        names = [field.name for field in fields(value)]
        packed = {name: _pack(getattr(value, name), f"{path}.{name}", arrays) for name in names}
        return {"kind": type(value).__name__, "fields": packed}
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, tuple):
        return [_pack(item, f"{path}.{number}", arrays) for number, item in enumerate(value)]
    return value


def _unpack(value: Any, arrays: Arrays) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(item, arrays) for item in value)
    if not isinstance(value, dict):
        return value
    if set(value) == {"score"}:
        return SCORES[value["score"]]
    if set(value) == {"given"}:
        return given_score(str(value["given"]))
    if set(value) == {"array"}:
        return _checked(arrays[value["array"]])
    kind = FITTED[value["kind"]]
    types = get_type_hints(kind)
    unpacked = {name: _unpack(field, arrays) for name, field in value["fields"].items()}
    plain = {name: _number(item, types[name], name) for name, item in unpacked.items() if _is_plain(types[name])}
    return kind(**unpacked | plain)


def _number(value: Any, kind: Any, name: str) -> Any:
    """A number or word of its type, and of a size that arrays can have too."""
    found = built(value, kind, place=name)
    if isinstance(found, int | float) and abs(found) > LARGEST:
        raise ValueError(f"`header` must have numbers up to {LARGEST:g}, got {found} for {name}.")
    return found


def _is_plain(kind: Any) -> bool:
    return kind in (bool, float, int, str) or get_origin(kind) is Literal


def check_decides(fitted: Fitted, n_classes: int, /) -> None:
    """A fitted score must give each row a number: arrays and numbers that do not fit together are found out here."""
    with foreign("`arrays` must fit together"):
        sizes = {"classes": n_classes, "features": 2} | fitted.expects()
    if sizes["classes"] != n_classes or n_classes < 2:
        raise ValueError(f"`header` must be of a score for {n_classes} classes, got {sizes['classes']}.")
    rng = np.random.default_rng(0)
    for n in (5, 7):
        logits, features, weight = (
            rng.normal(size=shape) for shape in ((n, n_classes), (n, sizes["features"]), (n_classes, sizes["features"]))
        )
        with foreign("`arrays` must fit together"), np.errstate(all="raise", under="ignore"):
            confidence = fitted(Outputs(logits=logits, features=features, weight=weight))
        if np.shape(confidence) != (n,):
            raise ValueError(f"`arrays` must give each row a number, got shape {np.shape(confidence)}.")


def _checked(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype not in (np.float32, np.float64) or not (np.abs(array) <= np.float64(LARGEST)).all():
        raise ValueError(f"`arrays` must hold float32 or float64 numbers up to {LARGEST:g}, got others.")
    return array
