"""Every score by name: the command, the evaluation, the report and the contract tests read it."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, get_type_hints

from abstain.names import called, check_name
from abstain.outputs import Outputs
from abstain.records import built
from abstain.scores.ash import ASH
from abstain.scores.confidence_margin import ConfidenceMargin
from abstain.scores.ctm import CTM
from abstain.scores.delta_knn import DeltaKNN
from abstain.scores.delta_mds import DeltaMDS
from abstain.scores.dice import DICE
from abstain.scores.doctor import Doctor
from abstain.scores.energy import Energy
from abstain.scores.expected_cost import ExpectedCost
from abstain.scores.fdbd import FDBD
from abstain.scores.feature_norm import FeatureNorm
from abstain.scores.gen import GEN
from abstain.scores.geometric_margin import GeometricMargin
from abstain.scores.given import Given, Own
from abstain.scores.kl_matching import KLMatching
from abstain.scores.knn import KNN
from abstain.scores.learned import Learned
from abstain.scores.logit_scores import LOGIT_SCORES
from abstain.scores.margin_mix import MarginMix
from abstain.scores.max_logit_pnorm import MaxLogitPNorm
from abstain.scores.max_softmax import MaxSoftmax
from abstain.scores.mds import MDS
from abstain.scores.nci import NCI
from abstain.scores.neg_entropy import NegEntropy
from abstain.scores.nnguide import NNGuide
from abstain.scores.pairwise_margin import PairwiseMargin
from abstain.scores.pca import PCA
from abstain.scores.ras import RAS
from abstain.scores.react import ReAct
from abstain.scores.residual import Residual
from abstain.scores.rmds import RMDS
from abstain.scores.scale import SCALE
from abstain.scores.score import Score, Stored
from abstain.scores.she import SHE
from abstain.scores.sirc import SIRC
from abstain.scores.temperature import TemperatureScaled
from abstain.scores.vim import ViM

AnyScore = str | Score | Callable[[Outputs], Any]

PAPER: tuple[Score, ...] = (*LOGIT_SCORES, KNN(), KNN(space="logits"), ViM(), SIRC())
AFTER_THE_PAPER: tuple[Score, ...] = (
    PairwiseMargin(),
    GEN(),
    MaxLogitPNorm(),
    TemperatureScaled(MaxSoftmax()),
    TemperatureScaled(Doctor()),
    TemperatureScaled(NegEntropy()),
    Residual(),
    ReAct(),
    ASH(),
    SCALE(),
    DICE(),
    RAS(),
    PCA(),
    FDBD(),
    NCI(),
    NNGuide(),
    KLMatching(),
    SHE(),
    CTM(),
    FeatureNorm(),
    MDS(),
    MDS(normalize=True),
    RMDS(),
    RMDS(normalize=True),
    DeltaMDS(),
    DeltaKNN(),
    MarginMix(DeltaMDS()),
    MarginMix(DeltaKNN()),
)
EXPECTED_COST = ExpectedCost()
"""Not among `SCORES`: it depends on given costs, and with equal ones it ranks as ts_max_softmax does."""

LEARNED = Learned(
    (MaxSoftmax(), TemperatureScaled(MaxSoftmax()), ConfidenceMargin(), GeometricMargin()),
    (
        NegEntropy(),
        Energy(),
        GEN(),
        MaxLogitPNorm(),
        KNN(),
        Residual(),
        SIRC(),
        KLMatching(),
        FeatureNorm(),
        MDS(normalize=True),
        RMDS(normalize=True),
        NNGuide(),
        FDBD(),
    ),
    anywhere=(DeltaKNN(), DeltaMDS()),
)
"""A choice of scores that differ from each other; all of them together learn no more."""

SCORES: dict[str, Score] = {score.name: score for score in (*PAPER, *AFTER_THE_PAPER, LEARNED)}
"""Every score with its usual options, by name: what `abstain scores` lists."""


def as_score(asked: AnyScore, outputs: Outputs | None = None, /, *, what: str = "score") -> Score:
    """The score that is meant: a score itself, a function of outputs, or a name.

    A name is that of a confidence given with the outputs, or one of `SCORES`, with options if wanted: ``knn(k=5)``.
    """
    if isinstance(asked, Score):
        return asked
    if isinstance(asked, type | Stored):
        raise TypeError(f"`{what}` must be a score with its options, such as KNN() or KNN(k=5), got {asked!r:.60}.")
    if not isinstance(asked, str):
        if callable(asked):
            return Own.of(asked)
        raise TypeError(f"`{what}` must be a name, a score or a function of outputs, got {type(asked).__name__}.")
    if outputs is not None and asked in outputs.given_names:
        return Given(asked)
    name, options = called(what, asked)
    given = () if outputs is None else outputs.given_names
    there = f"There are {', '.join(given)}; `abstain scores` lists others." if given else "`abstain scores` lists them."
    check_name(what, name, (*given, *SCORES), rule="be a known score", otherwise=there)
    return replace(SCORES[name], **_typed(name, options)) if options else SCORES[name]  # type: ignore[type-var]


def as_scores(asked: AnyScore | Iterable[AnyScore], outputs: Outputs, /, *, what: str = "scores") -> list[Score]:
    """Several scores, each once; "all" stands for those given with the outputs and those of `SCORES` not on request."""
    alone = isinstance(asked, str) or not hasattr(asked, "__iter__")
    each: list[Any] = [asked] if alone else list(asked)  # type: ignore[arg-type]
    if not each:
        raise ValueError(f"`{what}` must name at least one score, got none. `abstain scores` lists them.")
    usual = {name: score for name, score in SCORES.items() if not score.on_request}
    known = [score for name, score in usual.items() if name not in outputs.given_names]
    known = known if outputs.n_classes or not outputs.given_names else []  # or none could be computed
    every: list[Score] = []
    for one in each:
        every += [*map(Given, outputs.given_names), *known] if one == "all" else [as_score(one, outputs)]
    found = {score.name: score for score in every}
    for score in every:
        if found[score.name] is not score and not _equal(found[score.name], score):
            raise ValueError(f"`{what}` must have different names, got two of the name {score.name!r}.")
    return list(found.values())


def _equal(one: Score, other: Score) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # arrays among their options
        return False


def split_names(text: str, /) -> list[str]:
    """Names with commas between them; those within brackets are part of a name.

    >>> split_names("knn(k=5, space=logits), ash(pruned=0.5, score=gen(top=3))")
    ['knn(k=5, space=logits)', 'ash(pruned=0.5, score=gen(top=3))']
    """
    names, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def _typed(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, each one that the score has and of its type."""
    types = get_type_hints(type(SCORES[name]))
    known = [field.name for field in fields(SCORES[name])]  # type: ignore[arg-type]
    if not known:
        raise ValueError(f"`score` must be {name} alone, which has no options, got {', '.join(options)}.")
    for option in options:
        check_name(f"option of {name}", option, known)
    return {option: _of_type(name, option, value, types[option]) for option, value in options.items()}


def _of_type(name: str, option: str, value: Any, kind: Any) -> Any:
    """An option of a score, or the score that it names where it is one."""
    if isinstance(kind, type) and issubclass(kind, Score):
        if isinstance(found := as_score(value), kind):
            return found
        raise ValueError(f"`{option}` of {name} must be a score with nothing to fit, got {value}.")
    try:
        return built(list(value) if isinstance(value, tuple) else value, kind, place=option)
    except ValueError as error:
        raise ValueError(f"`score` must be {name} with options of their kind, got {error}.") from None
