"""The exception tree: every error raised on purpose is a leaf of it, and its message has one form."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain import Outputs, Risk, Sketch, calibrate, collect, errors, evaluate, metrics, scores, thresholds
from abstain._errors import AbstainError, InvalidInputError, RowError, foreign, reason_of
from abstain.monitor import RiskMonitor

LIBRARY = Path(abstain.__file__).parent
RULE = "`x` must work"
OTHERS = {"AttributeError", "Exit", "SystemExit", "NotFittedError", "OSError", "RuntimeError", "ValueError"}
"""Module attributes, the end of a command, scikit-learn's own, and those of `_is_excepted`."""

Z = np.array([[2.0, 0.0], [0.5, 1.0], [0.0, 3.0]])
OUTPUTS = Outputs(logits=Z, labels=[0, 0, 1])
CONFIDENCE, LOSSES = np.array([0.9, 0.5, 0.7]), np.array([0.0, 1.0, 0.0])

PROVOKED = {
    "logits in one column": (ValueError, lambda: Outputs(logits=[[1.0]])),
    "logits of texts": (TypeError, lambda: Outputs(logits=[["a", "b"]])),
    "logits and probabilities": (ValueError, lambda: Outputs(logits=Z, probabilities=Z)),
    "nothing": (ValueError, lambda: Outputs()),
    "logits that are ragged": (ValueError, lambda: Outputs(logits=[[1.0], [1.0, 2.0]])),
    "logits with NaN": (errors.RowError, lambda: Outputs(logits=[[np.nan, 1.0]])),
    "probabilities above 1": (errors.RowError, lambda: Outputs(probabilities=[[0.5, 0.9]])),
    "labels too many": (ValueError, lambda: Outputs(logits=Z, labels=[0, 1])),
    "labels out of range": (errors.RowError, lambda: Outputs(logits=Z, labels=[0, 1, 7])),
    "labels of floats": (TypeError, lambda: Outputs(logits=Z, labels=[0.5, 1, 1])),
    "unknown shift": (errors.RowError, lambda: Outputs(logits=Z, shift=["fog"] * 3)),
    "unknown nonfinite": (ValueError, lambda: Outputs(logits=Z, nonfinite="keep")),
    "ids of floats": (TypeError, lambda: Outputs(logits=Z, ids=[0.1, 0.2, 0.3])),
    "class names too few": (ValueError, lambda: Outputs(logits=Z, class_names=["a"])),
    "errors beside labels": (ValueError, lambda: Outputs(logits=Z, labels=[0, 0, 1], errors=[0, 1, 0])),
    "errors of threes": (ValueError, lambda: Outputs(confidences={"a": [0.5]}, errors=[3])),
    "given as a list": (TypeError, lambda: Outputs(confidences=[0.5])),
    "features too few": (ValueError, lambda: Outputs(logits=Z, features=np.ones((2, 4)))),
    "weight of other width": (ValueError, lambda: Outputs(logits=Z, features=np.ones((3, 4)), weight=np.ones((2, 5)))),
    "no head to check": (ValueError, lambda: OUTPUTS.check_head()),
    "errors without labels": (ValueError, lambda: Outputs(logits=Z).errors),
    "row out of range": (IndexError, lambda: OUTPUTS[7]),
    "mask of other length": (ValueError, lambda: OUTPUTS.select([True])),
    "no row selected": (ValueError, lambda: OUTPUTS.select([])),
    "rows of floats": (TypeError, lambda: OUTPUTS.select([0.5])),
    "fraction of a text": (TypeError, lambda: OUTPUTS.split("half")),
    "fraction of 2": (ValueError, lambda: OUTPUTS.split(2.0)),
    "nothing to join": (ValueError, lambda: Outputs.concat([])),
    "parts that are none": (TypeError, lambda: Outputs.concat([1, 2])),
    "a path that is a number": (TypeError, lambda: Outputs.load(3)),
    "a file that is not there": (FileNotFoundError, lambda: Outputs.load("/nowhere/at/all")),
    "a folder with nothing": (ValueError, lambda: Outputs.load("empty")),
    "a file that is a folder": (OSError, lambda: abstain.Selector.load("empty")),
    "an output path that is taken": (FileExistsError, lambda: OUTPUTS.save("taken")),
    "an output path below a file": (OSError, lambda: OUTPUTS.save("taken/note/run")),
    "an unknown score": (ValueError, lambda: evaluate(OUTPUTS, scores="max_sofmax")),
    "a score that is a number": (TypeError, lambda: evaluate(OUTPUTS, scores=[3])),
    "outputs that are an array": (TypeError, lambda: evaluate(Z)),
    "alpha of 2": (ValueError, lambda: evaluate(OUTPUTS, alphas=(2.0,))),
    "a row that is not there": (KeyError, lambda: evaluate(OUTPUTS, scores=["max_softmax"]).row("energy", "in", 0.3)),
    "lengths that differ": (ValueError, lambda: metrics.aurc(CONFIDENCE, LOSSES[:2])),
    "NaN confidence": (ValueError, lambda: metrics.aurc([np.nan, 1.0], [0, 1])),
    "negative losses": (ValueError, lambda: metrics.aurc(CONFIDENCE, -LOSSES)),
    "coverage of 2": (ValueError, lambda: metrics.risk_at_coverage(CONFIDENCE, LOSSES, coverage=2.0)),
    "temperature of 0": (ValueError, lambda: scores.energy(Z, temperature=0.0)),
    "k of 0": (ValueError, lambda: scores.KNN(k=0)),
    "a score that lacks features": (ValueError, lambda: scores.KNN().fit(OUTPUTS)),
    "no target": (ValueError, lambda: calibrate(OUTPUTS)),
    "risk of 2": (ValueError, lambda: calibrate(OUTPUTS, risk=2.0)),
    "delta of 0": (ValueError, lambda: calibrate(OUTPUTS, risk=0.1, delta=0.0)),
    "an unknown method": (ValueError, lambda: calibrate(OUTPUTS, Risk(0.1, method="sgd"))),
    "too few rows": (errors.NoSafeThresholdError, lambda: calibrate(OUTPUTS, risk=0.01)),
    "coverage beyond the rows": (errors.NoSafeThresholdError, lambda: calibrate(OUTPUTS, coverage=0.99)),
    "losses of 2 for a threshold": (ValueError, lambda: thresholds.step_down(CONFIDENCE, 2 * LOSSES, risk=0.1)),
    "a monitor of risk 2": (ValueError, lambda: RiskMonitor(risk=2.0, delta=0.1)),
    "a sketch of other lengths": (ValueError, lambda: Sketch.of([0.9], [0, 1])),
    "a model that is a number": (TypeError, lambda: collect.collect(3, collect.Data([1.0]), "run")),
    "data without samples": (
        ValueError,
        lambda: collect.collect(collect.CallableModel(np.array), collect.Data([]), "run"),
    ),
    "a part of nothing": (
        ValueError,
        lambda: collect.collect_part(collect.CallableModel(np.array), collect.Data([1.0]), "run", "3/2"),
    ),
    "a sample that cannot be read": (
        errors.SampleError,
        lambda: collect.collect(collect.CallableModel(np.array), collect.Data(_Unreadable()), "run"),
    ),
    "a folder of images that is none": (FileNotFoundError, lambda: collect.image_folder("nowhere")),
}
FREE_FORM = {"too few rows", "coverage beyond the rows", "a sample that cannot be read", "a row that is not there"}


class _Unreadable(collect.SampleInputs):
    def __len__(self):
        return 1

    def __getitem__(self, row):
        raise RuntimeError("torn")


@pytest.mark.parametrize("what", PROVOKED)
def test_a_wrong_call_raises_a_leaf_whose_message_names_rule_and_value(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note").write_text("mine")
    kind, provoke = PROVOKED[what]
    with pytest.raises(AbstainError) as info:
        provoke()
    assert isinstance(info.value, kind)
    assert type(info.value) is not AbstainError
    assert type(info.value).__name__ in errors.__all__
    message = str(info.value)
    assert "\n" not in message
    if what not in FREE_FORM:
        assert re.search(r"`[^`]+` (\w+ )*must .+, got .+[.?]$", message), message


def test_every_leaf_is_public():
    def leaves(kind):
        return {kind} | {leaf for child in kind.__subclasses__() for leaf in leaves(child)}

    ours = {kind.__name__ for kind in leaves(AbstainError) if kind.__module__.startswith("abstain.")}
    assert ours | {"AbstainError"} == set(errors.__all__)


def test_the_tree_in_the_docstring_names_every_leaf():
    assert set(re.findall(r"(?m)^    [│├└─ ]*(\w+Error)\b", abstain._errors.__doc__)) == set(errors.__all__)


def _raised(tree):
    """The names of what is raised, and whether with arguments."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Raise) or node.exc is None:
            continue
        for call in (node.exc.body, node.exc.orelse) if isinstance(node.exc, ast.IfExp) else (node.exc,):
            name = call.func if isinstance(call, ast.Call) else call
            yield node, name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", ""), call


def _makers():
    """Functions that make an error, by name, with the class that they are declared to return."""
    for file in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                yield node.name, ast.unparse(node.returns).strip("'\"")


def _is_excepted(name, call):
    """An OSError with a file name, an error of a worker that cannot travel, and a jump to an except just below."""
    arguments = len(call.args) if isinstance(call, ast.Call) else 0
    return {"OSError": arguments == 3, "RuntimeError": arguments == 1, "ValueError": arguments == 0}.get(name, True)


def test_what_the_library_raises_is_a_leaf_or_one_of_the_few_exceptions():
    leaves, makers, strangers = set(errors.__all__), {}, []
    for name, kind in _makers():
        makers.setdefault(name, set()).add(kind)
    for file in sorted(LIBRARY.rglob("*.py")):
        for node, name, call in _raised(ast.parse(file.read_text(encoding="utf-8"))):
            made = makers.get(name, set())
            is_variable = isinstance(call, ast.Name | ast.Attribute) and name not in OTHERS
            is_ours = name in leaves or made & leaves or name in ("within", "later", "with_advice") or is_variable
            if not is_ours and not (name in OTHERS and _is_excepted(name, call)):
                strangers.append(f"{file.relative_to(LIBRARY)}:{node.lineno} {name}")
    assert strangers == []


def test_an_error_of_others_gets_the_rule_and_one_of_ours_stays():
    with pytest.raises(ValueError, match=r"^`x` must work, got ZeroDivisionError: division by zero.$"), foreign(RULE):
        _ = 1 / 0
    with pytest.raises(ValueError, match=r"^`logits` must have at least 2 columns"), foreign(RULE):
        Outputs(logits=[[1.0]])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InvalidInputError("`k` must be from 1 to 4, got 10."), "10 where `k` must be from 1 to 4"),
        (InvalidInputError("A head must fit, got 2. Make it 3."), "2 where a head must fit. Make it 3"),
        (InvalidInputError("`a` must fit, got 'x' where b must be a list."), "'x' where b must be a list"),
        (RowError("`labels` must be below 3, got 7 in row", 2), "7 in row 2 where `labels` must be below 3"),
        (InvalidInputError("a header with other fields"), "a header with other fields"),
        (KeyError("score"), "KeyError: 'score'"),
    ],
)
def test_an_error_that_is_the_reason_for_another_says_what_was_got_first(error, reason):
    assert reason_of(error) == reason


def test_an_accident_is_no_abstain_error():
    with pytest.raises(TypeError, match="not subscriptable") as info:
        Outputs(logits=[[1.0, 2.0]])._with(None)
    assert not isinstance(info.value, AbstainError)
