"""The tests under other processors, threads, Pythons and versions, as this machine can imitate them.

    scripts/test --machines [--list] [--only WORD]… [pytest arguments]

A run combines several conditions, such as a Python, an OpenBLAS kernel and a NumPy without AVX2, so that few runs cover
each condition at least once; `--list` shows them. Each runs the README, the docs and the tests of commands, scores and
what they rest on, or the tests named. A condition that this machine cannot imitate is left out and named. `--only`
selects runs by a word in the name of a condition.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ("README.md", "docs", *(f"tests/{name}" for name in ("cli", "datasets", "evaluation", "metrics", "scores")))
EXTRAS = ("onnx", "report", "scale", "serve", "sklearn")  # those that do not bring PyTorch
TOOLS = ("hypothesis", "mpmath", "pandas", "playwright", "pytest", "pytest-timeout", "pytest-xdist")
NOTEBOOKS = ("nbclient", "nbformat", "pillow")  # what docs/notebooks.py imports
DEBUG = "libc_malloc_debug.so.0"


class CannotRunError(Exception):
    """The machine cannot imitate a condition."""


class TestsFailedError(Exception):
    """Tests failed in a run, or did not run."""


@dataclass(frozen=True)
class Condition:
    """Something that a result must not depend on, as variables of the environment and an interpreter."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    """``{new}`` in a value is an empty folder; ``{sets:REGEX}`` NumPy's optional instruction sets that match."""
    probe: str = ""
    """Python that exits with a message where the condition has no effect."""
    python: str = ""
    """The version of an interpreter with an environment of its own."""
    versions: str = ""
    """Whether that has the lowest or the newest versions of what is required."""


@dataclass(frozen=True)
class Run:
    """Conditions that hold together, and the tests they are about."""

    conditions: tuple[Condition, ...]
    tests: tuple[str, ...] = TESTS

    @property
    def name(self) -> str:
        """All conditions."""
        return " + ".join(condition.name for condition in self.conditions)


def blas(kind: str, threads: int) -> Condition:
    """An OpenBLAS kernel and its number of threads."""
    reported = {"Prescott": "Katmai"}.get(kind, kind)  # one set of kernels, known by the older name
    probe = (
        "import numpy, threadpoolctl\n"
        "kinds = {info.get('architecture') for info in threadpoolctl.threadpool_info()}\n"
        f"if {reported!r} not in kinds: raise SystemExit(f'OpenBLAS runs {{kinds}}')\n"
        "numbers = numpy.ones((669, 24))\n"
        "numbers.T @ numbers.copy()"  # where OpenBLAS 0.3.34 crashes with the kernels of AVX2
    )
    variables = {"OPENBLAS_CORETYPE": kind, "OPENBLAS_NUM_THREADS": str(threads)}
    return Condition(f"BLAS of {kind}, {threads} thread{'s' * (threads > 1)}", variables, probe)


def environment(python: str, versions: str) -> Condition:
    """A Python with the lowest or the newest versions."""
    return Condition(f"Python {python}, {versions} versions", python=python, versions=versions)


NO_AVX512 = Condition("NumPy without AVX-512", {"NPY_DISABLE_CPU_FEATURES": "{sets:AVX512|X86_V4}"}, "import numpy")
NO_AVX2 = Condition(
    "NumPy without AVX-512 and AVX2", {"NPY_DISABLE_CPU_FEATURES": "{sets:AVX|FMA3|X86_V[34]}"}, "import numpy"
)
GENERIC = Condition("Numba for any x86-64", {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": "{new}"}, "import numba")
AVX2_ALONE = Condition(
    "a processor with AVX2 alone",
    {
        "NPY_DISABLE_CPU_FEATURES": "{sets:AVX512|X86_V4}",
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CACHE_DIR": "{new}",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "import numpy, numba",
)
MEMORY = Condition(
    "checked memory",
    {"LD_PRELOAD": DEBUG, "MALLOC_CHECK_": "3"},
    f"import ctypes\ntry: ctypes.CDLL({DEBUG!r})\nexcept OSError as error: raise SystemExit(str(error))",
)
BOUNDS = Condition("checked bounds", {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": "{new}"})

RUNS = (
    Run((AVX2_ALONE, blas("Haswell", 2))),
    Run((NO_AVX2, GENERIC, blas("Prescott", 1))),  # the oldest processor, with PyTorch, which the next six lack
    Run((environment("3.11", "lowest"), blas("Haswell", 1), NO_AVX512)),
    Run((environment("3.11", "newest"), blas("Sandybridge", 2), GENERIC)),
    Run((environment("3.12", "lowest"), blas("Prescott", 2), NO_AVX2)),
    Run((environment("3.12", "newest"), blas("Haswell", 2), NO_AVX512)),
    Run((environment("3.13", "lowest"), blas("Sandybridge", 1), GENERIC)),
    Run((environment("3.13", "newest"), blas("Prescott", 1), NO_AVX2)),
    Run((MEMORY,), ("reproduction/tests/train", "tests/kernels")),
    Run((BOUNDS,), ("tests/kernels",)),
)
"""Every condition at least once, those of memory and bounds alone."""


def variables_of(condition: Condition, python: str, new: str) -> dict[str, str]:
    """The variables for this interpreter."""

    def filled(value: str) -> str:
        pattern = re.fullmatch(r"\{sets:(.*)\}", value)
        return instruction_sets(python, pattern[1]) if pattern else value.replace("{new}", new)

    return {name: filled(value) for name, value in condition.variables.items()}


def instruction_sets(python: str, pattern: str) -> str:
    """The instruction sets that this interpreter's NumPy chooses at run time, those that match."""
    code = (
        "from numpy._core._multiarray_umath import __cpu_dispatch__ as d, __cpu_features__ as f\n"
        "print(*(name for name in d if f.get(name)))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return " ".join(name for name in done.stdout.split() if re.search(pattern, name))


def interpreter(condition: Condition) -> str:
    """The interpreter of a condition, in an environment of its own."""
    base = next((path for path in _installed(condition.python) if _runs(path)), None)
    if base is None:
        raise CannotRunError("not installed")
    folder = ROOT / f".venv-{condition.python}-{condition.versions}"
    python, stamp = folder / "bin" / "python", folder / ".installed"
    required = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != required:
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
        _install(python, condition.versions)
        stamp.write_text(required)
    return str(python)


def _installed(version: str) -> Iterator[str]:
    """The interpreter on the path, which may be a shim that runs nothing, and those that pyenv has."""
    if (command := shutil.which(f"python{version}")) is not None:
        yield command
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from (str(path) for path in sorted(root.glob(f"versions/{version}.*/bin/python{version}"), reverse=True))


def _runs(python: str) -> bool:
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def _install(python: Path, versions: str) -> None:
    """Install the project with what does not need PyTorch, direct requirements at their lowest or newest version."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        if versions == "lowest":
            constraints.write("\n".join(_floors()))
            constraints.flush()
            command += ["-c", constraints.name]
        subprocess.run([*command, "-e", f"{ROOT}[{','.join(EXTRAS)}]", *TOOLS, *NOTEBOOKS], check=True)


def _floors() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    return sorted({line.replace(">=", "==") for line in lines if not line.startswith("abstain[")})


def prepared(run: Run, new: str) -> tuple[str, dict[str, str], list[str]]:
    """The interpreter and the variables of the conditions that hold here, and why the others do not."""
    python, variables, missing = sys.executable, dict[str, str](), list[str]()
    for condition in run.conditions:
        try:
            if condition.python:
                python = interpreter(condition)
                continue
            own = variables_of(condition, python, new)
            probe = [python, "-W", "error", "-c", condition.probe]
            done = subprocess.run(probe, env=os.environ | own, capture_output=True, text=True, check=False)
            if done.returncode < 0:
                raise CannotRunError(f"this NumPy crashes under it ({signal.Signals(-done.returncode).name})")
            if done.returncode:
                raise CannotRunError((done.stderr.strip() or "no reason").splitlines()[-1])
            variables |= own
        except CannotRunError as error:
            missing.append(f"{condition.name}: {error}")
    if len(missing) == len(run.conditions):
        raise CannotRunError("; ".join(missing))
    return python, variables, missing


def _imports_torch(python: str) -> bool:
    code = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def pages_with_torch() -> list[str]:
    """The pages whose examples cannot run without PyTorch."""
    pages = sorted(ROOT.glob("docs/**/*.md"))
    return [str(page.relative_to(ROOT)) for page in pages if ">>> import torch" in page.read_text()]


def outcome(run: Run, arguments: list[str]) -> str:
    """Run the tests; the closing line of pytest, and which conditions could not be imitated."""
    with tempfile.TemporaryDirectory() as new:
        python, variables, missing = prepared(run, new)
        tests = arguments or [
            *run.tests,
            "-n",
            f"{(os.cpu_count() or 1) + 1}",
            "--dist",
            "loadfile",
            "--no-loadscope-reorder",
        ]
        pages = [] if _imports_torch(python) else pages_with_torch()
        missing += [f"{page}: no PyTorch" for page in pages]
        own = [f"--deselect={page}" for page in pages]
        if run.conditions[0].versions == "lowest":  # where newer indirect requirements deprecate what these call
            own += ["-W", "ignore::DeprecationWarning"]
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", *own, *tests]
        done = subprocess.run(
            command, env=os.environ | variables, cwd=ROOT, capture_output=True, text=True, check=False
        )
    lines = (done.stdout + done.stderr).splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR")) or "worker died" in line]
    print(*failed, sep="\n", end="\n" * bool(failed), flush=True)
    closing = next((line.strip("= ") for line in reversed(lines) if " in " in line), f"exit code {done.returncode}")
    if done.returncode:
        raise TestsFailedError(closing)
    return closing + "".join(f"; without {reason}" for reason in missing)


def main() -> int:
    """Make every run in turn; 1 if a test failed in any."""
    parser = argparse.ArgumentParser(prog="scripts/test --machines", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="runs with this word in their name")
    parser.add_argument("--list", action="store_true", help="print the conditions of each run, and run nothing")
    options, arguments = parser.parse_known_args()
    chosen = [run for run in RUNS if all(word.lower() in run.name.lower() for word in options.only)]
    if options.list:
        print(*(f"{number:2}. {run.name}" for number, run in enumerate(chosen, start=1)), sep="\n")
        return 0
    failures = skips = 0
    for run in chosen:
        start = time.monotonic()
        try:
            result = outcome(run, arguments)
        except CannotRunError as error:
            result, skips = f"skipped: {error}", skips + 1
        except (TestsFailedError, subprocess.CalledProcessError) as error:
            result, failures = f"FAILED: {error}", failures + 1
        print(f"{run.name}\n    {time.monotonic() - start:.0f} s  {result}", flush=True)
    print(f"{len(chosen) - failures - skips} passed, {failures} failed, {skips} skipped")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
