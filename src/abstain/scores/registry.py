"""Every score by name: the command, the evaluation, the report and the contract tests read it."""

from abstain.names import check_name
from abstain.scores.delta_knn import DeltaKNN
from abstain.scores.delta_mds import DeltaMDS
from abstain.scores.doctor import DOCTOR
from abstain.scores.expected_cost import ExpectedCost
from abstain.scores.fdbd import FDBD
from abstain.scores.gen import gen
from abstain.scores.knn import KNN, masked_class
from abstain.scores.logit_scores import LOGIT_SCORES
from abstain.scores.margin_mix import MarginMix
from abstain.scores.max_logit_pnorm import MaxLogitPNorm
from abstain.scores.max_softmax import MAX_SOFTMAX
from abstain.scores.neg_entropy import NEG_ENTROPY
from abstain.scores.nnguide import NNGuide
from abstain.scores.pairwise_margin import flaw as same_weights
from abstain.scores.pairwise_margin import nearest_boundary, pairwise_margin
from abstain.scores.react import ReAct
from abstain.scores.residual import Residual
from abstain.scores.rmds import RMDS
from abstain.scores.score import FittedScore, PlainScore, Score, minus_exp
from abstain.scores.sirc import SIRC
from abstain.scores.size import no_size
from abstain.scores.temperature import TemperatureScaled
from abstain.scores.vim import ViM

PAPER_FITTED = (
    FittedScore(
        name="knn",
        symbol="KNN",
        family="feature",
        needs=("features", "calibration"),
        reference="Sun et al., 2022",
        method=KNN(),
    ),
    FittedScore(
        name="knn_logits",
        symbol="KNN(z)",
        family="logit",
        needs=("logits", "calibration"),
        reference="Sun et al., 2022",
        method=KNN(space="logits"),
        flaw=masked_class,
    ),
    FittedScore(
        name="vim",
        symbol="ViM",
        family="hybrid",
        needs=("logits", "features", "head", "calibration"),
        reference="Wang et al., 2022",
        method=ViM(),
        flaw=no_size,
    ),
    FittedScore(
        name="sirc",
        symbol="SIRC",
        family="hybrid",
        needs=("logits", "features", "head", "calibration"),
        reference="Xia & Bouganis, 2022",
        method=SIRC(),
        literal=minus_exp,
    ),
)
AFTER_THE_PAPER = (
    PlainScore(
        name="pairwise_margin",
        symbol="RL_pair-M",
        family="margin",
        needs=("logits", "head"),
        reference="Crammer & Singer, 2001",
        function=lambda outputs: pairwise_margin(outputs.logits, outputs.weight),
        array_function=lambda logits, head: nearest_boundary(logits, head.inverse_distances),
        flaw=same_weights,
    ),
    PlainScore(
        name="gen",
        symbol="GEN",
        family="softmax",
        needs=("logits",),
        reference="Liu et al., 2023",
        function=lambda outputs: gen(outputs.logits),
        array_function=lambda logits, _: gen(logits),
    ),
    FittedScore(
        name="max_logit_pnorm",
        symbol="MaxLogit-pNorm",
        family="logit",
        needs=("logits", "calibration", "labels"),
        reference="Cattelan & Silva, 2024",
        method=MaxLogitPNorm(),
    ),
    *(
        FittedScore(
            name=f"ts_{score.name}",
            symbol=f"{score.symbol}(T)",
            family="softmax",
            needs=("logits", "calibration", "labels"),
            reference="Guo et al., 2017",
            method=TemperatureScaled(score),
            literal=score.literal,
        )
        for score in (MAX_SOFTMAX, DOCTOR, NEG_ENTROPY)
    ),
    FittedScore(
        name="residual",
        symbol="Residual",
        family="feature",
        needs=("features", "head", "calibration"),
        reference="Wang et al., 2022",
        method=Residual(),
    ),
    FittedScore(
        name="react",
        symbol="ReAct",
        family="hybrid",
        needs=("features", "head", "calibration"),
        reference="Sun et al., 2021",
        method=ReAct(),
    ),
    FittedScore(
        name="fdbd",
        symbol="fDBD",
        family="hybrid",
        needs=("logits", "features", "head", "calibration"),
        reference="Liu & Qin, 2024",
        method=FDBD(),
    ),
    FittedScore(
        name="nnguide",
        symbol="NNGuide",
        family="hybrid",
        needs=("logits", "features", "calibration"),
        reference="Park et al., 2023",
        method=NNGuide(),
        flaw=no_size,
    ),
    FittedScore(
        name="rmds",
        symbol="RMDS",
        family="feature",
        needs=("features", "calibration", "labels"),
        reference="Ren et al., 2021",
        method=RMDS(),
    ),
    FittedScore(
        name="delta_mds",
        symbol="Δ-MDS",
        family="feature",
        needs=("features", "calibration", "labels"),
        reference="Heng & Soh, 2026",
        method=DeltaMDS(),
    ),
    FittedScore(
        name="delta_knn",
        symbol="Δ-KNN",
        family="feature",
        needs=("features", "calibration", "labels"),
        reference="Heng & Soh, 2026",
        method=DeltaKNN(),
    ),
    FittedScore(
        name="delta_mds_margin",
        symbol="Δ-MDS+conf-M",
        family="hybrid",
        needs=("logits", "features", "calibration", "labels"),
        reference="Heng & Soh, 2026",
        method=MarginMix(DeltaMDS()),
    ),
    FittedScore(
        name="delta_knn_margin",
        symbol="Δ-KNN+conf-M",
        family="hybrid",
        needs=("logits", "features", "calibration", "labels"),
        reference="Heng & Soh, 2026",
        method=MarginMix(DeltaKNN()),
    ),
)

EXPECTED_COST = FittedScore(
    name="expected_cost",
    symbol="Chow",
    family="softmax",
    needs=("logits", "calibration", "labels"),
    reference="Chow, 1970",
    method=ExpectedCost(),
)
"""Not among `SCORES`: it depends on given costs, and with equal ones it ranks as ts_max_softmax does."""

SCORES: dict[str, Score] = {score.name: score for score in (*LOGIT_SCORES, *PAPER_FITTED, *AFTER_THE_PAPER)}


def check_score(what: str, name: str, /, *, rule: str = "be a known score", given: tuple[str, ...] = ()) -> None:
    """Refuse a name that is neither a score nor a confidence that was given."""
    check_name(what, name, (*given, *SCORES), rule=rule, otherwise="`abstain scores` lists them.")
