"""Columns of answers, and how uqlm and lm-polygraph name them."""

import re
from collections.abc import Collection

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
    r"|FisherRao|RenyiNeg|EigenScore|LUQ|KernelLanguageEntropy|SelfCertainty|RAUQ|CocoaMSP|CocoaPPL|CocoaMTE)[^']*)'\)"
)
"""Estimators of lm-polygraph: uncertainties. Not all keys of this form are: some name how good an answer is."""


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
