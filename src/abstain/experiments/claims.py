"""What the paper claims, each once, in its own order; experiments say of each what they found."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["held", "not held", "undecided"]


@dataclass(frozen=True)
class Claim:
    """A claim of "Selective Classification Under Distribution Shifts" (Liang et al., 2024)."""

    key: str
    text: str
    place: str
    untestable: str = ""
    """Why no experiment can tell, where that is so."""


@dataclass(frozen=True)
class Verdict:
    """What an experiment found about a claim: held, not held, or undecided by the data there are."""

    claim: str
    """The key of a claim of `CLAIMS`."""
    outcome: Outcome
    evidence: str
    """The numbers, with standard errors or intervals."""
    data: str
    """What it was tested on, and how many samples."""

    def __post_init__(self) -> None:
        if self.claim not in CLAIMS:
            raise ValueError(f"`claim` must be the key of a claim of the paper, got {self.claim!r}.")

    @classmethod
    def of(cls, claim: str, held: bool | None, evidence: str, data: str) -> "Verdict":
        """The verdict on a claim that held, did not, or (None) could not be decided."""
        outcome: Outcome = "undecided" if held is None else "held" if held else "not held"
        return cls(claim, outcome, evidence, data)


_ALL = (
    Claim(
        "ood-is-weaker",
        "A score can win by every OOD metric and still serve selection worse.",
        "§2.3, App. C, Table 5, Fig. 7",
    ),
    Claim(
        "ood-metrics-blind",
        "Rejecting by the better OOD score raises the selection risk, which only the RC curve shows.",
        "App. C, Fig. 7 (c)",
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
    ),
    Claim(
        "scale-limit",
        "As λ grows, all three softmax scores approach one curve, that of the confidence margin.",
        "§3.1, Fig. 2",
    ),
    Claim(
        "lemma",
        "SR_max ~ exp(−e^{−λΔ}), SR_doctor ~ 1 − exp(2e^{−λΔ}), SR_ent ~ −e^{−λΔ} as λ → ∞, Δ = z₁ − z₂.",
        "§3.1, Lemma 3.1, App. B",
    ),
    Claim(
        "scale-claims",
        "By the scale alone one can claim better or worse performance for a softmax score.",
        "§3.1",
    ),
    Claim(
        "no-canonical-scale",
        "Between the limits λ → 0 and λ → ∞ there is no canonical scale of the logits.",
        "§3.1, implications",
    ),
    Claim(
        "margin-scale-free",
        "The margins rank the same at every scale of the logits.",
        "§3.2",
    ),
    Claim(
        "orders-differ",
        "Logits and distances to the hyperplanes may be ordered differently, as ‖w_j‖ differ.",
        "§3.2, App. A",
    ),
    Claim(
        "conf-margin-scaling",
        "The confidence margin can be sensitive to the scaling of the single w_j; the geometric margin is not.",
        "§3.2",
    ),
    Claim(
        "toy-case-1",
        "On the unshifted mixture the geometric margin performs best.",
        "§3.3, Fig. 3 (a-1)",
    ),
    Claim(
        "toy-rejects-boundary",
        "The geometric margin rejects samples near the boundaries, SR_max near the origin.",
        "§3.3, Fig. 3 (b, c)",
    ),
    Claim(
        "toy-others-like-sr-max",
        "The other scores (SR_doctor, SR_ent, RL_max) reject like SR_max.",
        "§3.3, App. D, Fig. 8",
    ),
    Claim(
        "toy-radii",
        "At coverage 0.8 samples selected by the geometric margin all have a nonzero robustness radius; "
        "every other score keeps some of radius zero.",
        "§3.3, Fig. 3 (d-1)",
    ),
    Claim(
        "toy-case-2",
        "After small perturbations (±0.5) the geometric margin still beats the softmax scores.",
        "§3.3, Fig. 3 (a-2)",
    ),
    Claim(
        "toy-case-3",
        "After large perturbations (±2) it is no longer superior at high coverage.",
        "§3.3, Fig. 3 (a-3)",
    ),
    Claim(
        "rl-max-toy",
        "A single logit, the largest (RL_max), is no sensible confidence.",
        "§3.3, App. D, Fig. 8",
    ),
    Claim(
        "doctor-is-sr-max",
        "SR_doctor almost overlaps with SR_max.",
        "§4.1, evaluation metrics",
    ),
    Claim(
        "knn-sensitive",
        "KNN's performance is very sensitive to k, to the task and to the classifier.",
        "§4.1, App. H",
    ),
    Claim(
        "knn-k2",
        "k = 2 is best for KNN.",
        "§4.1, App. H, Fig. 10",
    ),
    Claim(
        "label-shift-spike",
        "With label-shifted samples the risk of all scores but the margins and KNN rises again as "
        "coverage goes to zero.",
        "§4.1, Fig. 4 (c)",
    ),
    Claim(
        "spike-to-full",
        "There it rises almost to the risk at full coverage.",
        "§4.1, Fig. 4 (c)",
    ),
    Claim(
        "margins-beat-knn-in",
        "Without label shift the margins separate right from wrong better than KNN.",
        "§4.1, Fig. 4 (a, b)",
    ),
    Claim(
        "margins-best-all",
        "Where all shifts coexist the margins are best or comparable to the best.",
        "§4.1, Fig. 4 (d), Tables 3, 8",
    ),
    Claim(
        "margins-best-low-risk",
        "The gain of the margins is largest at low coverage (α = 0.1).",
        "§4.3, Tables 3, 4, 8",
    ),
    Claim(
        "ood-scores-poor",
        "Scores made for OOD detection (RL_max, Energy, KNN, ViM) do not serve selection well.",
        "§4.1, §4.3, Table 4",
    ),
    Claim(
        "margins-par-sr",
        "The margins are on a par with the softmax scores, or better, on every model.",
        "§4.1, §4.3, Table 4",
    ),
    Claim(
        "sr-beats-ood",
        "Softmax scores beat the scores made for OOD detection.",
        "§4.1, Fig. 5, Table 4, said of iWildCam and Amazon",
    ),
    Claim(
        "scnet-cifar",
        "On CIFAR, SelectiveNet and the confidence margin are comparable and beat SR_max and SIRC.",
        "§4.2, Fig. 6 (a, b)",
    ),
    Claim(
        "scnet-imagenet",
        "The margins, SR_max and SIRC perform comparably and are better than SelectiveNet.",
        "§4.2, Fig. 6 (c, d), said of ImageNet",
    ),
    Claim(
        "scnet-not-best",
        "A selection head that saw the training data is not always best.",
        "§4.2, Fig. 6 (c, d)",
    ),
    Claim(
        "geo-like-conf",
        "The two margins perform similarly; rarely the confidence margin is slightly better.",
        "§4.3",
    ),
    Claim(
        "cross-entropy-margin",
        "Minimising cross-entropy approximately maximises the confidence margin.",
        "§4.3, footnote",
    ),
    Claim(
        "margin-training",
        "Open question: a training objective that promotes margins improves selection by margins.",
        "§5 (i)",
    ),
    Claim(
        "class-costs",
        "Open question: where costs differ by class, more is needed than one threshold for all classes.",
        "§5 (ii)",
    ),
    Claim(
        "svm-decision-rules",
        "Geometric and confidence margins belong to two different decision rules.",
        "App. A",
    ),
    Claim(
        "svm-proxy",
        "The confidence margin is a proxy of the geometric one: exact where all ‖w_j‖ are equal.",
        "App. A",
    ),
)
CLAIMS: dict[str, Claim] = {claim.key: claim for claim in _ALL}
