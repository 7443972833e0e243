"""The ten scores and their areas by the conventions of the authors' code, where it departs from their text.

Norms of the rows of [W, b]; the geometric margin judges the class of the largest distance; softmax in float32, where
every sample of probability 1 is tied; ViM and the residual in a space of dimension 64; SIRC's constants from all rows
that are evaluated; the rows that scores are fitted on stay in the evaluation; E_k/(k + 1) for the risk.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logsumexp, softmax

from abstain.evaluation.mixes import mixes_of
from abstain.metrics import aurc
from abstain.metrics.intervals import ALPHAS
from abstain.outputs import Outputs
from abstain.scores import KNN, Residual, ViM, confidence_margin, geometric_margin, max_logit
from abstain.scores.fitting_draw import rows_per_class
from abstain.scores.head import Head
from abstain.scores.score import CannotFitError, Score

Floats = NDArray[Any]
DIM = 64
BLOCK = 2048  # rows of logits at a time


def paper_code_areas(outputs: Outputs, /, *, seed: int) -> dict[tuple[str, str, float], float]:
    """AURC-α by score, mix and α, for the scores that the outputs have all arrays for."""
    confidence, residual = _confidences(outputs, seed)
    areas = {}
    for mix in mixes_of(outputs)[0]:
        rows = mix.rows(outputs.shift)
        scores = {name: values[rows] for name, values in confidence.items()}
        if residual is not None:
            scores["sirc"] = _sirc(scores["max_softmax"], residual[rows])
        for name, values in scores.items():
            errors = (_geometric_errors(outputs) if name == "geometric_margin" else outputs.errors)[rows]
            for alpha in ALPHAS:
                areas[name, mix.name, alpha] = aurc(values, errors, alpha=alpha, convention="paper_code")
    return areas


def _confidences(outputs: Outputs, seed: int) -> tuple[dict[str, Floats], Floats | None]:
    """Confidence by score, and the residual, from which SIRC is computed again in each mix."""
    z = outputs.logits
    confidence: dict[str, Floats] = {
        "confidence_margin": np.asarray(confidence_margin(z)),
        "max_logit": np.asarray(max_logit(z)),
        "energy": _by_blocks(lambda rows: logsumexp(rows, axis=1), z),
        "max_softmax": _by_blocks(lambda rows: softmax(rows, axis=1).max(axis=1), z),
        "doctor": _by_blocks(_doctor, z),
        "neg_entropy": _by_blocks(lambda rows: -entr(softmax(rows, axis=1)).sum(axis=1), z),
    }
    if outputs.weight is not None:
        margin = geometric_margin(z, outputs.weight, bias=_bias(outputs), form="top_two")
        confidence["geometric_margin"] = np.asarray(margin)
    if outputs.features is None:
        return confidence, None
    sample = outputs.select(rows_per_class(outputs, seed=seed)[0])
    dim = DIM if outputs.features.shape[1] > DIM else None
    fitted = {score.name: _fitted(score, sample, outputs) for score in (KNN(), ViM(dim), Residual(dim))}
    knn, vim, residual = fitted.values()
    confidence |= {name: values for name, values in (("knn", knn), ("vim", vim)) if values is not None}
    return confidence, residual


def _fitted(score: Score, sample: Outputs, outputs: Outputs) -> Floats | None:
    if score.objection(outputs) is not None:
        return None
    try:
        return np.asarray(score.fit(sample)(outputs))
    except CannotFitError:
        return None


def _by_blocks(score: Callable[[NDArray[np.float32]], Floats], logits: Floats) -> NDArray[np.float32]:
    """A score in float32, as the authors' tensors are, in bounded memory."""
    blocks = (np.asarray(logits[block], dtype=np.float32) for block in _blocks(len(logits)))
    return np.concatenate([score(rows) for rows in blocks]).astype(np.float32)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))


def _doctor(logits: NDArray[np.float32]) -> Floats:
    g = np.square(np.linalg.norm(softmax(logits, axis=1), axis=1))
    return np.asarray(-(1 - g) / g)


def _sirc(probability: Floats, residual: Floats) -> Floats:
    """−log(1 − p) − log(1 + e^{−b(s − a)}), infinite where p rounds to 1; a and b from these rows, shifted or not."""
    mean, spread = residual.mean(), residual.std()
    with np.errstate(divide="ignore"):
        certain = -np.log(np.float32(1) - probability)
    return np.asarray(certain - np.logaddexp(0, -(residual - (mean - 3 * spread)) / (spread + 1e-12)))


def _geometric_errors(outputs: Outputs) -> NDArray[np.bool_]:
    """Errors of the class of the largest distance, which is another classifier."""
    assert outputs.labels is not None
    assert outputs.weight is not None
    scale = Head(np.column_stack([outputs.weight, _bias(outputs)])).inverse_norms
    parts = [np.argmax(outputs.logits[block] * scale, axis=1) for block in _blocks(len(outputs))]
    return np.asarray((np.concatenate(parts) != outputs.labels) | (outputs.labels < 0))


def _bias(outputs: Outputs) -> Floats:
    return np.zeros(outputs.n_classes) if outputs.bias is None else outputs.bias
