"""The help of public functions: numpydoc sections that name every parameter, and signatures that a person can read."""

import importlib
import inspect
import pydoc
import re
from dataclasses import is_dataclass

import pytest

import abstain

MODULES = (
    "answers",
    "collect",
    "datasets",
    "decision_log",
    "evaluation",
    "evaluation.runs",
    "metrics",
    "monitor",
    "outputs",
    "scale",
    "scores",
    "selector",
    "shifts",
    "sketch",
    "serve",
    "sklearn",
    "telemetry",
    "thresholds",
    "torch",
)


PUBLIC = [(module, name) for module in MODULES for name in importlib.import_module(f"abstain.{module}").__all__]
VALUES = {f"{module}.{name}": getattr(importlib.import_module(f"abstain.{module}"), name) for module, name in PUBLIC}
FUNCTIONS = {name: value for name, value in VALUES.items() if inspect.isfunction(value)}
CLASSES = {name: value for name, value in VALUES.items() if inspect.isclass(value)}


def parts(kind):
    """What a class is made of: its own fields, or what its constructor takes."""
    if getattr(kind, "_is_protocol", False):
        return set()
    if "__init__" in vars(kind) and not is_dataclass(kind):
        return set(inspect.signature(kind).parameters)
    own = {name: str(annotation) for name, annotation in vars(kind).get("__annotations__", {}).items()}
    fields = {name for name, annotation in own.items() if "ClassVar" not in annotation}
    return fields & set(inspect.signature(kind).parameters) if is_dataclass(kind) else fields


def documented(value, *sections):
    """The names that sections of the docstring describe."""
    bodies = [inspect.getdoc(value).partition(f"{name}\n{'-' * len(name)}\n")[2] for name in sections]
    lines = [line for body in bodies for line in re.findall(r"^(\S.*?)(?: : .*)?$", body, re.MULTILINE)]
    return {name.strip(" *") for line in lines for name in line.split(",")}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_public_function_documents_its_parameters_and_what_it_returns(function):
    doc, signature = inspect.getdoc(function), inspect.signature(function)
    assert set(signature.parameters) <= documented(function, "Parameters")
    assert signature.return_annotation in (None, "None") or "\nReturns\n-------\n" in doc


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_documented_parameter_has_its_type(value):
    bodies = re.findall(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n|\Z)", inspect.getdoc(value) or "", re.M | re.S)
    untyped = [line for body in bodies for line in body.splitlines() if not line.startswith(" ") and " : " not in line]
    assert untyped == []


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_a_public_class_documents_what_it_is_made_of(kind):
    assert parts(kind) <= documented(kind, "Parameters", "Attributes")


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_signature_names_its_types_instead_of_listing_what_they_stand_for(function):
    signature = str(inspect.signature(function))
    assert "numpy._typing" not in signature
    assert "SupportsArray" not in signature


@pytest.mark.parametrize("function", [abstain.calibrate, abstain.evaluate])
def test_help_fits_a_screen(function):
    lines = pydoc.plain(pydoc.render_doc(function)).splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 400
