"""A fitted score as arrays and a small header, and back: nothing executable, every name and type checked."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    unpacked = {name: _unpack(field, arrays) for name, field in value["fields"].items()}
    return kind(**unpacked)


def _checked(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype not in (np.float32, np.float64) or not np.isfinite(array).all():
        raise ValueError(f"`arrays` must hold finite float32 or float64 numbers, got {array.dtype}.")
    return array
