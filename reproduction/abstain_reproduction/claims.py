"""The claims of the paper in its order, and the verdict of an experiment on a claim."""

from dataclasses import dataclass

from abstain._errors import InvalidInputError
from abstain_reproduction.outcome import Outcome
from abstain_reproduction.quantifier import Quantifier

_KNN = (
    "KNN measures distances of features, as the authors' code does; the text (§4.1 iii) measures them in the space of "
    "raw logits"
)
_KNN_JUDGED = f"{_KNN}, for which the end of a row has the verdict where the experiment has that score"
_TOLERANCE = "comparable is an AURC within 10% of the other's, or within 0.1 points of AURC × 100"
_ALPHAS = "every mix and α = 0.1, 0.5 and 1 count alike"
_FIFTH = "the threshold is that of coverage 0.8 on unshifted samples, the coverage of Fig. 3"
_FIGURE_6 = "the panels of Fig. 6, in-distribution samples and all samples, α = 1"


@dataclass(frozen=True)
class Claim:
    """A claim of "Selective Classification Under Distribution Shifts" (Liang et al., 2024)."""

    key: str
    text: str
    source: str
    quantifier: Quantifier = Quantifier.ALL
    """How many of its comparisons must hold."""
    hedge: str = ""
    """The paper's own hedge, if any."""
    choices: tuple[str, ...] = ()
    """Our choices where the paper leaves one open, and the effect of other choices."""
    untestable: str = ""
    """Why no experiment can test it, if so."""


@dataclass(frozen=True)
class ClaimVerdict:
    """The result of testing a claim: held, not held, or undecided by the data."""

    claim: str
    """The key of a claim of `CLAIMS`."""
    outcome: Outcome
    evidence: str
    """The numbers, with standard errors or intervals."""
    data: str
    """What it was tested on, and how many samples."""

    def __post_init__(self) -> None:
        if self.claim not in CLAIMS:
            raise InvalidInputError(f"`claim` must be the key of a claim of the paper, got {self.claim!r}.")

    @classmethod
    def of(cls, claim: str, held: bool | None, evidence: str, data: str) -> "ClaimVerdict":
        """The verdict on a claim that held, did not, or (None) could not be decided."""
        outcome: Outcome = "undecided" if held is None else "held" if held else "not held"
        return cls(claim, outcome, evidence, data)


_ALL = (
    Claim(
        "ood-is-weaker",
        "A score can win by every OOD metric and still serve selection worse.",
        "§2.3, App. C, Table 5, Fig. 7",
        quantifier=Quantifier.SOME,
        hedge="an example is given",
        choices=(
            "the detector is sought among eight on one half of the samples and judged on the other",
            "AUROC, AUPR and FPR@TPR=0.95 must all be better, and AURC worse, each by 1.96 standard errors",
        ),
    ),
    Claim(
        "ood-metrics-blind",
        "Rejecting by the better OOD score raises the selection risk, which only the RC curve shows.",
        "App. C, Fig. 7 (c)",
        quantifier=Quantifier.SOME,
        hedge="an example is given",
        choices=(
            "the risk between the thresholds that keep 95% and 10% of the known samples",
            "of the detector that was found above, not of ViM alone",
        ),
    ),
    Claim(
        "detector-separates-less",
        "ViM separates right from wrong among samples of known classes less than RL_conf-M does.",
        "App. C, Fig. 7 (a, b)",
        quantifier=Quantifier.SOME,
        hedge="an example is given",
        choices=(
            "separation is the AUROC of right against wrong unshifted predictions",
            "each model is an example of its own, with ViM fitted on five times as many rows as classes",
        ),
    ),
    Claim(
        "label-shift-errs",
        "Classifiers do not always err on label-shifted samples.",
        "App. C",
        untestable="§1 says that they always do, and so it is in all data here: a sample is of an unknown class "
        "because no answer of the classifier would be right. Where labels follow a list, as ImageNet's do, a picture "
        "may show what the list lacks and what it has; whether an answer is right then, a person has to say.",
    ),
    Claim(
        "scale-changes-sr",
        "RC curves and AURC of the softmax scores change with the scale λ of the logits.",
        "§3.1, Fig. 2",
        choices=("a change of AURC by more than 1% from λ = 0.1 to 4 on the population, a significant one on samples",),
    ),
    Claim(
        "scale-limit",
        "As λ grows, all three softmax scores approach one curve, that of the confidence margin.",
        "§3.1, Fig. 2",
        choices=(
            "the largest difference in risk to the margin falls at each doubling of λ from 8 to 64, and to a quarter",
        ),
    ),
    Claim(
        "lemma",
        "SR_max ~ exp(−e^{−λΔ}), SR_doctor ~ 1 − exp(2e^{−λΔ}), SR_ent ~ −e^{−λΔ} as λ → ∞, Δ = z₁ − z₂.",
        "§3.1, Lemma 3.1, App. B",
        choices=(
            "the ratio to the lemma within 0.001 of 1 at the largest λΔ",
            "the order of the samples in the limit, for which it is used: held",
        ),
    ),
    Claim(
        "scale-claims",
        "By the scale alone one can claim better or worse performance for a softmax score.",
        "§3.1",
        quantifier=Quantifier.SOME,
        hedge="“can claim”",
        choices=(
            "the worst of the three scores at λ = 1 passes the best when rescaled to λ = 4",
            "another order of the three at λ = 30 than at λ = 1: held too, but by 0.0004 of AURC × 100",
        ),
    ),
    Claim(
        "no-canonical-scale",
        "Between the limits λ → 0 and λ → ∞ there is no canonical scale of the logits.",
        "§3.1, implications",
        choices=(
            "canonical is a scale that labelled rows give and at which SR_max ranks better than the margin",
            "canonical under shift as well: held, since the best scale moves with the shift",
        ),
    ),
    Claim(
        "margin-scale-free",
        "The margins rank the same at every scale of the logits.",
        "§3.2",
        choices=("AURC moves by less than 10⁻⁶, since scaling rounds",),
    ),
    Claim(
        "orders-differ",
        "Logits and distances to the hyperplanes may be ordered differently, as ‖w_j‖ differ.",
        "§3.2, App. A",
        quantifier=Quantifier.SOME,
        hedge="“may be ordered differently”",
        choices=("some row of some split",),
    ),
    Claim(
        "conf-margin-scaling",
        "The confidence margin can be sensitive to the scaling of the single w_j; the geometric margin is not.",
        "§3.2",
        quantifier=Quantifier.SOME,
        hedge="“can be sensitive”",
        choices=(
            "AURC moves by more than 0.01 points in the median split under factors from 0.5 to 2",
            "a mean change of more than 1.96 errors, when machines learned from 20 or 30% of the rows: not held "
            "(digits +4.4 ± 4.2)",
        ),
    ),
    Claim(
        "toy-case-1",
        "On the unshifted mixture the geometric margin performs best.",
        "§3.3, Fig. 3 (a-1)",
        choices=(
            "AURC at λ = 1",
            "the lowest curve at every coverage: not held, above coverage 0.99 others are lower",
        ),
    ),
    Claim(
        "toy-rejects-boundary",
        "The geometric margin rejects samples near the boundaries, SR_max near the origin.",
        "§3.3, Fig. 3 (b, c)",
        choices=(
            "of the fifth of the samples nearest to a boundary, or to the origin, each score rejects more of its "
            "own at coverage 0.8",
        ),
    ),
    Claim(
        "toy-others-like-sr-max",
        "The other scores (SR_doctor, SR_ent, RL_max) reject like SR_max.",
        "§3.3, App. D, Fig. 8",
        hedge="“similar”",
        choices=(
            "at coverage 0.8 each rejects more of what SR_max rejects than of what the margin rejects",
            "as much as SR_max shares with itself: SR_doctor and SR_ent miss a sixth",
        ),
    ),
    Claim(
        "toy-radii",
        "At coverage 0.8 samples selected by the geometric margin all have a nonzero robustness radius; "
        "every other score keeps some of radius zero.",
        "§3.3, Fig. 3 (d-1)",
        choices=("the infimum over the whole population at λ = 1",),
    ),
    Claim(
        "errors-near-boundary",
        "Errors that a small shift makes stay near the decision boundaries, so that they can be rejected.",
        "§3.3, Fig. 3 (b-2)",
        quantifier=Quantifier.MOST,
        hedge="“most of them are still close”, “tend to be close”",
        choices=(
            "most is more than half of the errors on shifted samples whose unshifted copy is right; shifts without "
            "such copies, between sources of texts, do not show which errors they made and are left out",
            "near is nearer to the closest boundary, in features, than the fifth of unshifted samples nearest to one",
            "small is a shift that adds at most 10 points to the error rate; larger ones stand beside it and decide "
            "nothing",
        ),
    ),
    Claim(
        "unknown-no-winner",
        "Samples of unknown classes have no clear winner among their logits.",
        "§3.3, footnote",
        quantifier=Quantifier.MOST,
        hedge="“we expect”",
        choices=(
            "expecting it is to find it in more than half of the samples",
            "a winner is clear if its margin over the next logit is above that of the fifth of unshifted samples with "
            "the smallest margins; by the softmax instead, whether it has at least half of the probability",
            _FIFTH,
        ),
    ),
    Claim(
        "toy-case-2",
        "After small perturbations (±0.5) the geometric margin still beats the softmax scores.",
        "§3.3, Fig. 3 (a-2)",
        choices=(
            "AURC at λ = 1",
            "the lowest curve at every coverage: not held, above coverage 0.95 others are lower",
            "against SR_max at λ = 4: not held",
        ),
    ),
    Claim(
        "toy-case-3",
        "After large perturbations (±2) it is no longer superior at high coverage.",
        "§3.3, Fig. 3 (a-3)",
        choices=("high coverage is 0.9 and more",),
    ),
    Claim(
        "rl-max-toy",
        "A single logit, the largest (RL_max), is no sensible confidence.",
        "§3.3, App. D, Fig. 8",
        choices=(
            "not sensible is worse than every other score",
            "worse than the margin and SR_max: held in cases 1 and 2",
        ),
    ),
    Claim(
        "doctor-is-sr-max",
        "SR_doctor almost overlaps with SR_max.",
        "§4.1, evaluation metrics",
        hedge="“almost overlaps”",
        choices=(
            "almost is an AURC within 5%, or within 0.05 points of AURC × 100",
            _ALPHAS,
        ),
    ),
    Claim(
        "knn-sensitive",
        "KNN's performance is very sensitive to k, to the task and to the classifier.",
        "§4.1, App. H",
        hedge="“very sensitive”",
        choices=(
            "the worst k is more than a tenth above the best, jointly over all pairs of k; task and classifier by "
            "looking at the rows",
            _KNN,
        ),
    ),
    Claim(
        "knn-k2",
        "k = 2 is best for KNN.",
        "§4.1, App. H, Fig. 10",
        choices=(
            "every other k is significantly worse",
            "no other k is significantly better: held wherever it is undecided",
            _KNN,
        ),
    ),
    Claim(
        "label-shift-spike",
        "With label-shifted samples the risk of all scores but the margins and KNN rises again as "
        "coverage goes to zero.",
        "§4.1, Fig. 4 (c)",
        choices=(
            "rising: the mean risk up to coverage 0.01 is above that up to 0.5; of the margins and KNN it is below it",
            "the tables have no coverage below 0.1: a mean risk up to 0.1 above that up to 0.5 speaks for a score, "
            "and nothing against it",
            _KNN_JUDGED,
        ),
    ),
    Claim(
        "spike-to-full",
        "There it rises almost to the risk at full coverage.",
        "§4.1, Fig. 4 (c)",
        hedge="“almost”",
        choices=(
            "almost is a mean risk up to coverage 0.01 within 10% of the risk at full coverage",
            "the tables have no coverage below 0.1: a mean risk up to 0.1 that high speaks for a score, and "
            "nothing against it",
        ),
    ),
    Claim(
        "margins-beat-knn-in",
        "Without label shift the margins separate right from wrong better than KNN.",
        "§4.1, Fig. 4 (a, b)",
        choices=(
            "both margins, in the mixes in and in+cov, α = 0.1, 0.5 and 1 alike",
            "at α = 1 alone fewer comparisons are in doubt",
            _KNN_JUDGED,
        ),
    ),
    Claim(
        "margins-best-all",
        "Where all shifts coexist the margins are best or comparable to the best.",
        "§4.1, Fig. 4 (d), Tables 3, 8",
        hedge="“best or comparable to the best”, “in all cases”",
        choices=(
            _TOLERANCE,
            "both margins against each other score",
            _KNN_JUDGED,
        ),
    ),
    Claim(
        "margins-best-low-risk",
        "The gain of the margins is largest at low coverage (α = 0.1).",
        "§4.3, Tables 3, 4, 8",
        quantifier=Quantifier.MOST,
        hedge="“especially in the low-risk regime”",
        choices=(
            "especially is more than half of the mixes",
            "what RL_conf-M gains on SR_max at α = 0.1 against α = 1, in points of AURC",
        ),
    ),
    Claim(
        "ood-scores-poor",
        "Scores made for OOD detection (RL_max, Energy, KNN, ViM) do not serve selection well.",
        "§4.1, §4.3, Table 4",
        quantifier=Quantifier.MOST,
        hedge="“do not perform well”, said beside tables in which KNN is best in two columns",
        choices=(
            "not well is a higher AURC than RL_conf-M in more than half of the comparisons",
            _ALPHAS,
            _KNN_JUDGED,
        ),
    ),
    Claim(
        "margins-par-sr",
        "The margins are on a par with the softmax scores, or better, on every model.",
        "§4.1, §4.3, Table 4",
        hedge="“consistently”, “on all models”, “comparably or better”",
        choices=(
            _TOLERANCE,
            "the paper calls iWildCam on a par, where the margins have 1.84 against 1.34: its word is wider than ours",
            _ALPHAS,
        ),
    ),
    Claim(
        "sr-beats-ood",
        "Softmax scores beat the scores made for OOD detection.",
        "§4.1, Fig. 5, Table 4, said of iWildCam and Amazon",
        hedge="“all demonstrate better potential”",
        choices=(
            "each softmax score against each score made for OOD detection",
            _ALPHAS,
            _KNN_JUDGED,
        ),
    ),
    Claim(
        "scnet-cifar",
        "On CIFAR, SelectiveNet and the confidence margin are comparable and beat SR_max and SIRC.",
        "§4.2, Fig. 6 (a, b)",
        hedge="“comparably”",
        choices=(
            _TOLERANCE,
            _FIGURE_6,
        ),
    ),
    Claim(
        "scnet-imagenet",
        "The margins, SR_max and SIRC perform comparably and are better than SelectiveNet.",
        "§4.2, Fig. 6 (c, d), said of ImageNet",
        hedge="“comparably”",
        choices=(
            _TOLERANCE,
            _FIGURE_6,
        ),
    ),
    Claim(
        "scnet-not-best",
        "A selection head that saw the training data is not always best.",
        "§4.2, Fig. 6 (c, d)",
        quantifier=Quantifier.SOME,
        hedge="“not always”",
        choices=(
            "one post-hoc score better than the head in one mix at α = 1, corrected for the number of comparisons",
        ),
    ),
    Claim(
        "geo-like-conf",
        "The two margins perform similarly; rarely the confidence margin is slightly better.",
        "§4.3",
        quantifier=Quantifier.MOST,
        hedge="“in most experiments”, “only in rare cases”",
        choices=(
            "most is more than half of a model's comparisons",
            "rare is at most a tenth of the printed columns together in which RL_conf-M is better than comparable",
            _TOLERANCE,
            _ALPHAS,
        ),
    ),
    Claim(
        "cross-entropy-margin",
        "Minimising cross-entropy approximately maximises the confidence margin.",
        "§4.3, footnote",
        hedge="“approximating”",
        choices=(
            "rank correlation of loss and margin, and the share of the loss that the strongest rival gives, both "
            "above 0.9 in every network",
        ),
    ),
    Claim(
        "margin-training",
        "Open question: a training objective that promotes margins improves selection by margins.",
        "§5 (i)",
        quantifier=Quantifier.MOST,
        hedge="an open question",
        choices=("both margins, four mixes, α = 1: better after it than after cross-entropy in more than half",),
    ),
    Claim(
        "class-costs",
        "Open question: where costs differ by class, more is needed than one threshold for all classes.",
        "§5 (ii)",
        quantifier=Quantifier.SOME,
        hedge="an open question",
        choices=(
            "the costs of errors and rejections in both tables",
            "the cheaper of two rules that know the costs, against one threshold chosen with the same costs in mind",
        ),
    ),
    Claim(
        "svm-decision-rules",
        "Geometric and confidence margins belong to two different decision rules.",
        "App. A",
        quantifier=Quantifier.SOME,
        choices=("some row of some split",),
    ),
    Claim(
        "svm-proxy",
        "The confidence margin is a proxy of the geometric one: exact where all ‖w_j‖ are equal.",
        "App. A",
        hedge="“proxy”",
        choices=(
            "equal where the norms are, and a rank correlation significantly above 0",
            "a rank correlation clearly above 0.9: fewer tables",
        ),
    ),
)
CLAIMS: dict[str, Claim] = {claim.key: claim for claim in _ALL}
