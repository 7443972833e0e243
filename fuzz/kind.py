"""A kind of hostile input: how it is made, and what must hold of whatever comes of it."""

import contextlib
import os
import re
import sys
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from abstain.cli import main
from abstain.cli.app import error_line
from abstain.cli.terminal import ESCAPED

OURS = "This is a bug in abstain"
NESTED = re.compile(r"Invalid(Input|Type)Error|RowError|, got `[^`]*` must |, got [^`,]* must [^,]*, got |[^.]\.\.$")
"""An error inside the message of another one, which says the same twice."""
NOTES = ("no monitor reads these columns:", "Columns that are not used:", "counted as accepted", "`--require` needs")


class Wrong(Exception):  # noqa: N818
    """A result that the input does not justify, or an error that is not told as it should be."""


class Kind(ABC):
    """Prepared once in a folder of its own, then tried often. The docstring of a kind says what a wrong result is."""

    name: ClassVar[str]
    share: ClassVar[float] = 1.0
    """Of the tries asked for, less for what is slow."""

    @abstractmethod
    def __init__(self, folder: Path) -> None:
        """Make the originals."""

    @abstractmethod
    def attempt(self, rng: np.random.Generator) -> str:
        """Make one hostile input and use it: "refused" or "taken"; `Wrong`, or any other error, is a finding."""


def expect(holds: Any, words: str) -> None:
    """A condition on a result."""
    if not holds:
        raise Wrong(words)


def taken(call: Callable[[], Any]) -> Any:
    """What a call makes of an input, or None where it refuses it in one line."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            if OURS in error_line(error):
                raise
            expect(len(error_line(error).splitlines()) == 1, f"an error of several lines or none: {str(error)[:200]!r}")
            expect(not NESTED.search(str(error)), f"an error within an error: {str(error)[:300]!r}")
            expect("allocate" not in str(error) and not isinstance(error, MemoryError), f"memory first: {error}")
            result = None
    expect(not seen, f"a warning: {seen[0].message if seen else ''}")
    return result


@dataclass(frozen=True)
class Run:
    """What a command line came to."""

    code: Any
    output: str
    errors: str


def command(*arguments: Any) -> Run:
    """Run `abstain` in this process; what libraries write past Python counts too."""
    before = sys.argv
    sys.argv = ["abstain", *map(str, arguments)]
    try:
        with captured(1) as output, captured(2) as errors:
            try:
                main()
                code: Any = 0
            except SystemExit as stop:
                code = stop.code
        run = Run(code, output[0], errors[0])
    finally:
        sys.argv = before
    if OURS in run.errors:
        raise RuntimeError(run.errors)
    words = "\n".join(line for line in run.errors.strip().splitlines() if not any(note in line for note in NOTES))
    controls = [letter for letter in run.output + run.errors if ord(letter) in ESCAPED]
    expect(not controls, f"a control character for the terminal: {controls[:1]}")
    if run.code == 1:
        expect(words.startswith("abstain: ") and "\n" not in words, f"an error that is not one line: {words[:300]!r}")
        expect(not NESTED.search(words), f"an error within an error: {words[:300]!r}")
    return run


@contextlib.contextmanager
def captured(descriptor: int) -> Iterator[list[str]]:
    """What is written to standard output (1) or error (2), in a list once the with block has ended."""
    name = {1: "stdout", 2: "stderr"}[descriptor]
    result: list[str] = []
    stream, kept = getattr(sys, name), os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        stream.flush()
        os.dup2(file.fileno(), descriptor)
        replaced = open(os.dup(descriptor), "w", encoding="utf-8")  # noqa: SIM115
        setattr(sys, name, replaced)
        try:
            yield result
        finally:
            replaced.close()
            setattr(sys, name, stream)
            os.dup2(kept, descriptor)
            os.close(kept)
            file.seek(0)
            result.append(file.read().decode("utf-8", "replace"))
