"""Rules that answer or reject, made from rows to choose on; what each pays on rows to test on."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstain.scores.expected_cost import Costs
from abstain.thresholds import chow, minimal_cost
from abstain_reproduction.costs.cost_tables import Predicted

Floats = NDArray[np.float64]
Answers = NDArray[np.int64]  # −1 where rejected
Rule = Callable[[Predicted, Predicted, Costs, int], Answers]


def answer_all(_choose: Predicted, test: Predicted, _costs: Costs, _seed: int) -> Answers:
    """The most probable class, always."""
    return test.probabilities.argmax(axis=1)


def reject_all(_choose: Predicted, test: Predicted, _costs: Costs, _seed: int) -> Answers:
    """No answer, ever."""
    return np.full(len(test.labels), -1)


def cheapest_answers(_choose: Predicted, test: Predicted, costs: Costs, _seed: int) -> Answers:
    """The answer of lowest expected cost, always."""
    return chow(test.probabilities, rejection=costs.rejection, costs=costs.matrix).prediction


def one_threshold(choose: Predicted, test: Predicted, costs: Costs, seed: int) -> Answers:
    """The most probable class where its probability is above a threshold, that of lowest cost on rows to choose on."""
    threshold = _lowest(choose, choose.probabilities.max(axis=1), choose.probabilities.argmax(axis=1), costs, seed)
    return np.where(test.probabilities.max(axis=1) > threshold, test.probabilities.argmax(axis=1), -1)


def one_threshold_in_hindsight(_choose: Predicted, test: Predicted, costs: Costs, _seed: int) -> Answers:
    """The same with the threshold of lowest cost on the tested rows themselves, which no rule can know."""
    confidence, prediction = test.probabilities.max(axis=1), test.probabilities.argmax(axis=1)
    accepting, rejecting = costs.paid(prediction, test.labels)
    thresholds = np.append(np.unique(confidence), -np.inf)
    cost = [np.where(confidence > threshold, accepting, rejecting).sum() for threshold in thresholds]
    return np.where(confidence > thresholds[int(np.argmin(cost))], prediction, -1)


def threshold_per_class(choose: Predicted, test: Predicted, costs: Costs, seed: int) -> Answers:
    """The same with a threshold of lowest cost for each predicted class."""
    ours, theirs = (each.probabilities.argmax(axis=1) for each in (choose, test))
    answers = np.full(len(theirs), -1)
    for label in range(len(costs.matrix)):
        rows, goal = ours == label, theirs == label
        if rows.sum() < 3:
            continue  # too few to choose on: rejected
        some = Predicted(choose.probabilities[rows], choose.labels[rows])
        threshold = _lowest(some, some.probabilities.max(axis=1), ours[rows], costs, seed)
        answers[goal & (test.probabilities.max(axis=1) > threshold)] = label
    return answers


def chow_plug_in(_choose: Predicted, test: Predicted, costs: Costs, _seed: int) -> Answers:
    """The answer of lowest expected cost where rejecting is expected to cost more (Chow, 1970)."""
    decision = chow(test.probabilities, rejection=costs.rejection, costs=costs.matrix)
    return np.where(decision.accepted, decision.prediction, -1)


def empirical_minimiser(choose: Predicted, test: Predicted, costs: Costs, seed: int) -> Answers:
    """The answer of lowest expected cost where it saves more than a threshold, that of lowest cost on other rows."""
    ours, theirs = (chow(each.probabilities, rejection=costs.rejection, costs=costs.matrix) for each in (choose, test))
    threshold = _lowest(choose, ours.advantage, ours.prediction, costs, seed)
    return np.where(theirs.advantage > threshold, theirs.prediction, -1)


def _lowest(choose: Predicted, confidence: Floats, prediction: Answers, costs: Costs, seed: int) -> float:
    """The threshold of lowest cost, as `calibrate` chooses it: on a third of the rows."""
    accepting, rejecting = costs.paid(prediction, choose.labels)
    return minimal_cost(confidence, accepting, rejection=rejecting, largest=costs.largest, seed=seed).value


def cost_per_row(answers: Answers, labels: NDArray[np.int64], costs: Costs, /) -> Floats:
    """What each row costs."""
    accepting, rejecting = costs.paid(np.maximum(answers, 0), labels)
    return np.where(answers < 0, rejecting, accepting)


RULES: dict[str, Rule] = {
    "reject all": reject_all,
    "answer all": answer_all,
    "cheapest answers": cheapest_answers,
    "one threshold": one_threshold,
    "one threshold, in hindsight": one_threshold_in_hindsight,
    "threshold per class": threshold_per_class,
    "Chow, plug-in": chow_plug_in,
    "empirical minimiser": empirical_minimiser,
}
