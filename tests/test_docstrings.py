"""The help of public functions: numpydoc sections that name every parameter, and signatures that a person can read."""

import importlib
import inspect
import pydoc
import re

import pytest

import abstain

MODULES = (
    "collect",
    "datasets",
    "evaluation",
    "evaluation.runs",
    "metrics",
    "outputs",
    "scale",
    "scores",
    "selector",
    "shifts",
    "sketch",
    "thresholds",
)


PUBLIC = [(module, name) for module in MODULES for name in importlib.import_module(f"abstain.{module}").__all__]
VALUES = {f"{module}.{name}": getattr(importlib.import_module(f"abstain.{module}"), name) for module, name in PUBLIC}
FUNCTIONS = {name: value for name, value in VALUES.items() if inspect.isfunction(value)}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_public_function_documents_its_parameters_and_what_it_returns(function):
    doc, signature = inspect.getdoc(function), inspect.signature(function)
    if signature.parameters:
        names = re.findall(r"^(\S.*?)(?: : .*)?$", doc.partition("Parameters\n----------\n")[2], re.MULTILINE)
        documented = {name.strip(" *") for line in names for name in line.split(",")}
        assert set(signature.parameters) <= documented
    assert signature.return_annotation in (None, "None") or "\nReturns\n-------\n" in doc


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
