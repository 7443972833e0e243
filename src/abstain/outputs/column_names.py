"""Names of columns in a table of outputs, those of uqlm and lm-polygraph too, and columns that are not used."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

ANSWERS = ("answer", "samples", "logprobs", "top_logprobs")
"""Columns that `abstain.answers.signals` reads."""
UQLM = {"response": "answer", "responses": "answer", "sampled_responses": "samples", "logprob": "logprobs"}
UQLM_SCORES = re.compile(
    r"semantic_negentropy|semantic_sets_confidence|semantic_density|noncontradiction|entailment|exact_match|cosine_sim"
    r"|bert_score|bleurt|(sequence|normalized|min|monte_carlo)_probability|(min|mean)_token_negentropy"
    r"|probability_margin|consistency_and_confidence|p_true|verbalized_confidence|code_bleu"
    r"|functional_equivalence_rate|functional_negentropy(_whitebox)?|ensemble_scores?|judge_\d+|avg|max|min|median"
)
"""Confidences of uqlm: all of them are higher where an answer is more trusted."""
POLYGRAPH = {"greedy_texts": "answer", "greedy_log_likelihoods": "logprobs", "sample_texts": "samples"}
POLYGRAPH_ESTIMATORS = re.compile(
    r"\('sequence', '((MaximumSequenceProbability|Perplexity|MeanTokenEntropy|MonteCarlo|SemanticEntropy"
    r"|SemanticDensity|LexicalSimilarity|NumSemSets|EigValLaplacian|DegMat|Eccentricity|PTrue|SAR|SentenceSAR|TokenSAR|CCP"
    r"|FisherRao|RenyiNeg|EigenScore|LUQ|KernelLanguageEntropy|SelfCertainty|RAUQ|CocoaMSP|CocoaPPL|CocoaMTE"
    r"|(Relative)?MahalanobisDistance|RDE|PPLR?MD|(Mean)?(Conditional)?PointwiseMutualInformation|BoostedProb|CSL"
    r"|Verbalized[12]S|Linguistic1S|LabelProb|AttentionScore|Focus|EP[TS]|PE[TS])[^']*)'\)"
)
"""Estimators of lm-polygraph: uncertainties. Not all keys of this form are: some name how good an answer is."""
PLAIN = ("confidence", "correct", "error", "loss", "label", "prediction", "id", "group", "domain", "shift")
WIDE = {"logits": "logit_", "probabilities": "proba_", "features": "feature_"}
"""Arguments of `Outputs` that have a column of lists under their name, or a column for each class or feature."""
PREFIXES = (*WIDE.values(), "confidence_", "uncertainty_")
NO_GROUPS = ("correct", "error", "label", "loss", "id", "confidence", "logits", "probabilities", *ANSWERS)
SHOWN = 9


def spelled(names: Iterable[str], /, *, also: tuple[str, ...] = ()) -> dict[str, str]:
    """The columns that are used, with their usual spelling: case does not matter unless two names differ by it alone.

    ``also`` are further names that are used. Columns of uqlm and lm-polygraph get the names that they have here.

    >>> spelled(["Confidence", "CORRECT", "Logit_Cat", "town"])
    {'Confidence': 'confidence', 'CORRECT': 'correct', 'Logit_Cat': 'logit_Cat'}
    """
    names = list(names)
    others = foreign_names(names)
    spellings = {name: others.get(name) or _spelling(name, also) for name in names}
    often = Counter(spellings.values())
    return {name: ours for name, ours in spellings.items() if ours is not None and (name == ours or often[ours] == 1)}


def foreign_names(names: Collection[str], /) -> dict[str, str]:
    """Our names of columns in a table of uqlm or lm-polygraph, by theirs; none in any other table.

    A table with a column ``response`` is uqlm's, one with ``greedy_texts`` is of lm-polygraph.

    >>> foreign_names(["prompt", "response", "exact_match"])
    {'response': 'answer', 'exact_match': 'confidence_exact_match'}
    >>> foreign_names(["greedy_texts", "('sequence', 'Perplexity')", "('sequence', 'Accuracy')"])
    {'greedy_texts': 'answer', "('sequence', 'Perplexity')": 'uncertainty_Perplexity'}
    """
    if UQLM.keys() & {"response", "responses"} & set(names):
        scores = {name: f"confidence_{name}" for name in names if UQLM_SCORES.fullmatch(name)}
        return {name: UQLM[name] for name in names if name in UQLM} | scores
    if "greedy_texts" in names:
        matches = {name: POLYGRAPH_ESTIMATORS.fullmatch(name) for name in names}
        estimators = {name: f"uncertainty_{match[1]}" for name, match in matches.items() if match}
        return {name: POLYGRAPH[name] for name in names if name in POLYGRAPH} | estimators
    return {}


def is_outcome_or_confidence(name: str, /) -> bool:
    """Whether a column holds outcomes, confidences or ids, and so cannot name groups.

    >>> [is_outcome_or_confidence(name) for name in ("Correct", "confidence_a", "prediction", "town")]
    [True, True, False, False]
    """
    small = name.lower()
    return small in NO_GROUPS or small.startswith(tuple(prefix for prefix in PREFIXES if prefix != WIDE["features"]))


def unused_words(names: Iterable[str], /, *, group: str | None = None) -> str | None:
    """A sentence about columns that are not used, and about a missing `id`; None if all are used.

    ``group`` is the column that names groups, if that is not called group.
    """
    names = [name for name in names if name != group]
    known = spelled(names)
    unused = [name for name in names if name not in known]
    if not unused:
        return None
    listed = ", ".join(unused[:SHOWN]) + (f" and {len(unused) - SHOWN} more" if len(unused) > SHOWN else "")
    rows = "" if "id" in known.values() else " Rows count as independent: a column `id` names what may repeat."
    return f"Columns that are not used: {listed}.{rows}"


def _spelling(name: str, also: tuple[str, ...]) -> str | None:
    """The usual spelling, or None for a column that is not used."""
    small = name.lower()
    if small in (*PLAIN, *ANSWERS, *WIDE, *also):
        return small
    prefix = next((prefix for prefix in PREFIXES if small.startswith(prefix)), None)
    return None if prefix is None else prefix + name[len(prefix) :]
