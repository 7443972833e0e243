"""Names that are looked up: an error about an unknown name suggests the nearest known name."""

import ast
import difflib
from collections.abc import Iterable
from typing import Any

from abstain._errors import InvalidInputError, InvalidTypeError


def check_name(
    what: str, name: Any, known: Iterable[str], /, *, rule: str | None = None, otherwise: str | None = None
) -> None:
    """Refuse a name that is not known: `what` must <rule>, with the nearest name or else a hint where to look.

    >>> check_name("method", "sgd", ("step_down", "sgr"))
    Traceback (most recent call last):
    abstain._errors.InvalidInputError: `method` must be one of step_down, sgr, got 'sgd'. Did you mean sgr?
    """
    names = [*known]
    if isinstance(name, str) and name in names:
        return
    rule = rule or f"be one of {', '.join(names)}"
    message = f"`{what}` must {rule}, got {name!r}. {did_you_mean(name, names, otherwise=otherwise or '')}".rstrip()
    raise InvalidInputError(message) if isinstance(name, str) else InvalidTypeError(message)


def did_you_mean(name: Any, known: Iterable[str], /, *, otherwise: str) -> str:
    """The question "Did you mean" with the nearest known name, whatever its case and dashes; else ``otherwise``."""
    alike = {_plain(candidate): candidate for candidate in known}
    near = difflib.get_close_matches(_plain(str(name)), alike, n=1)
    return f"Did you mean {alike[near[0]]}?" if near else otherwise


def called(what: str, asked: str, /) -> tuple[str, dict[str, Any]]:
    """The name and the options of ``name`` or ``name(option=value, …)``; strings need no quotation marks.

    >>> called("score", "knn(k=5)")
    ('knn', {'k': 5})
    >>> called("score", "rmds(covariance=empirical)")
    ('rmds', {'covariance': 'empirical'})
    """
    if "(" not in asked:
        return asked, {}
    try:
        call = ast.parse(asked, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        return call.func.id, {str(option.arg): _value(option.value) for option in call.keywords}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise InvalidInputError(f"`{what}` must be a name, or name(option=value), got {asked!r:.60}.") from None


def _value(written: ast.expr) -> Any:
    return ast.unparse(written) if isinstance(written, ast.Name | ast.Call) else ast.literal_eval(written)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
