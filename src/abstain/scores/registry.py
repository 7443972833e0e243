"""Scores by name, as people type them: with options, given with the outputs, or a function of the user."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, get_type_hints

from abstain._errors import InvalidInputError, InvalidTypeError, reason_of
from abstain._io.records import built
from abstain._names import called, check_name
from abstain.outputs import Outputs
from abstain.scores.given_confidence import Given, Own
from abstain.scores.score import Score, Stored

AnyScore = str | Score | Callable[[Outputs], Any]
DEFAULT = "confidence_margin"
BEST = "--score best chooses one on a fifth of the rows"
SCORES: dict[str, Score] = {}
"""Every score with its usual options, by name, as `abstain.scores` lists them."""


def as_score(asked: AnyScore, outputs: Outputs | None = None, /, *, what: str = "score") -> Score:
    """The score that is meant: a score itself, a function of outputs, or a name.

    Parameters
    ----------
    asked : str, Score or function
        A name is that of a confidence given with the outputs or one of `SCORES`, with options if wanted: ``knn(k=5)``.
    outputs : Outputs, optional
        Whose given confidences can be named.
    what : str
        The argument's name in errors.

    Returns
    -------
    Score
        With its options.

    Examples
    --------
    >>> as_score("knn(k=5)")
    KNN(k=5, space='features')
    """
    if isinstance(asked, Score):
        return asked
    if isinstance(asked, type | Stored):
        raise InvalidTypeError(
            f"`{what}` must be a score with its options, such as KNN() or KNN(k=5), got {asked!r:.60}."
        )
    if not isinstance(asked, str):
        if callable(asked):
            return Own.of(asked)
        raise InvalidTypeError(
            f"`{what}` must be a name, a score or a function of outputs, got {type(asked).__name__}."
        )
    if outputs is not None and asked in outputs.confidence_names:
        return Given(asked)
    name, options = called(what, asked)
    given = () if outputs is None else outputs.confidence_names
    there = f"There are {', '.join(given)}; `abstain scores` lists others." if given else "`abstain scores` lists them."
    check_name(what, name, (*given, *SCORES), rule="be a known score", otherwise=there)
    return replace(SCORES[name], **_typed(name, options)) if options else SCORES[name]  # type: ignore[type-var]


def as_scores(asked: AnyScore | Iterable[AnyScore], outputs: Outputs, /, *, what: str = "scores") -> list[Score]:
    """Several scores, each once.

    Parameters
    ----------
    asked : str, Score, function or several
        "all" stands for those given with the outputs and those of `SCORES` that are not on request.
    outputs : Outputs
        Whose given confidences can be named.
    what : str
        The argument's name in errors.

    Returns
    -------
    list of Score
        Of different names.
    """
    alone = isinstance(asked, str) or not hasattr(asked, "__iter__")
    each: list[Any] = [asked] if alone else list(asked)  # type: ignore[arg-type]
    if not each:
        raise InvalidInputError(f"`{what}` must name at least one score, got none. `abstain scores` lists them.")
    usual = {name: score for name, score in SCORES.items() if not score.on_request}
    known = [score for name, score in usual.items() if name not in outputs.confidence_names]
    known = known if outputs.n_classes or not outputs.confidence_names else []  # or none could be computed
    known += [SCORES["learned"]] if _only_learned(outputs) else []
    every: list[Score] = []
    for item in each:
        every += [*map(Given, outputs.confidence_names), *known] if item == "all" else [as_score(item, outputs)]
    by_name = {score.name: score for score in every}
    for score in every:
        if by_name[score.name] is not score and not _equal(by_name[score.name], score):
            raise InvalidInputError(f"`{what}` must have different names, got two of the name {score.name!r}.")
    return list(by_name.values())


def _only_learned(outputs: Outputs) -> bool:
    """Whether confidences have missing values, which single ones do not take."""
    return not outputs.n_classes and any(Given(name).flaw(outputs) for name in outputs.confidence_names)


def _equal(score: Score, other: Score) -> bool:
    try:
        return bool(score == other)
    except ValueError:  # arrays among their options
        return False


def split_names(text: str, /) -> list[str]:
    """Names with commas between them; those within brackets are part of a name.

    >>> split_names("knn(k=5, space=logits), ash(pruned=0.5, score=gen(top=3))")
    ['knn(k=5, space=logits)', 'ash(pruned=0.5, score=gen(top=3))']
    """
    names, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return [name.strip() for name in names]


def _typed(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, each one that the score has and of its type."""
    types = get_type_hints(type(SCORES[name]))
    known = [field.name for field in fields(SCORES[name])]  # type: ignore[arg-type]
    if not known:
        raise InvalidInputError(f"`score` must be {name} alone, which has no options, got {', '.join(options)}.")
    for option in options:
        check_name(f"option of {name}", option, known)
    return {option: _of_type(name, option, value, types[option]) for option, value in options.items()}


def _of_type(name: str, option: str, value: Any, kind: Any) -> Any:
    """An option of a score, or the score that it names where it is one."""
    if isinstance(kind, type) and issubclass(kind, Score):
        if isinstance(score := as_score(value), kind):
            return score
        raise InvalidInputError(f"`{option}` of {name} must be a score with nothing to fit, got {value}.")
    try:
        return built(list(value) if isinstance(value, tuple) else value, kind, where=option)
    except ValueError as error:
        raise InvalidInputError(f"`score` must be {name} with options of their kind, got {reason_of(error)}.") from None


def default_score(names: Sequence[str], /) -> str:
    """`confidence_margin`, or the only score there is: settled before any row is looked at, which costs no guarantee.

    >>> default_score(["energy", "confidence_margin"]), default_score(["vendor"])
    ('confidence_margin', 'vendor')
    """
    if DEFAULT in names:
        return DEFAULT
    if len(names) == 1:
        return names[0]
    raise InvalidInputError(
        f"`score` must name one of {', '.join(names)}, as the default, {DEFAULT}, is not among them, got none. "
        "`learned` combines them."
    )


def default_words(score: str, /) -> str:
    """Which score a command chose by default, why, and how to choose another."""
    if score != DEFAULT:
        return f"Score: {score}, the only one that can be used here."
    return f"Score: {score}, the default. {BEST}; --score NAME takes another."


def recommended_words(score: str, /) -> str:
    """How to use a score that a comparison on some rows recommends."""
    return f"{BEST}; --score {score} takes the recommended one, on other rows."
