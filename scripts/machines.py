"""The tests under other processors, threads, Pythons and versions, as this machine can imitate them.

    scripts/test --machines [--only WORD]… [pytest arguments]

Each setting runs the README, the docs and the tests of commands, scores and what they rest on, or the tests named. A
setting that this machine cannot run is reported as skipped. `--only` takes those whose name contains a word.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ["README.md", "docs", *(f"tests/{name}" for name in ("cli", "datasets", "evaluation", "metrics", "scores"))]
EXTRAS = ("onnx", "report", "scale", "sklearn")  # those that do not bring PyTorch
TOOLS = ("griffelib", "hypothesis", "mpmath", "pandas", "playwright", "pytest", "pytest-timeout", "pytest-xdist")
BLAS = ("Haswell", "Sandybridge", "Prescott")
PYTHONS = ("3.11", "3.12", "3.13")
DEBUG = "libc_malloc_debug.so.0"


class CannotRunError(Exception):
    """The machine cannot imitate a setting."""


class TestsFailedError(Exception):
    """Tests failed under a setting, or did not run."""


@dataclass(frozen=True)
class Setting:
    """Variables of the environment, and what is asked of the interpreter to see that they took effect."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    probe: str = ""
    """Python that exits with a message where the setting is not available."""
    tests: tuple[str, ...] = ()
    """Those that it is about; none for the usual ones."""
    python: str = ""
    versions: str = ""


def settings() -> Iterator[Setting]:
    """All of them, the cheapest to prepare first."""
    for name in BLAS:
        for threads in "12":
            yield Setting(
                f"BLAS of {name}, {threads} thread{'s' * (threads > '1')}",
                {"OPENBLAS_CORETYPE": name, "OPENBLAS_NUM_THREADS": threads},
                f"import numpy, threadpoolctl\n"
                f"found = {{b.get('architecture') for b in threadpoolctl.threadpool_info()}}\n"
                f"if {name!r} not in found: raise SystemExit(f'OpenBLAS runs {{found}}')",
            )
    for name, pattern in (("AVX-512", r"AVX512|X86_V4"), ("AVX-512 and AVX2", r"AVX|FMA3|X86_V[34]")):
        yield Setting(f"NumPy without {name}", {"NPY_DISABLE_CPU_FEATURES": _dispatched(pattern)}, "import numpy")
    yield Setting("Numba for any x86-64", {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": "{new}"}, "import numba")
    yield Setting(
        "a processor with AVX2 alone",
        {
            "OPENBLAS_CORETYPE": "Haswell",
            "NPY_DISABLE_CPU_FEATURES": _dispatched(r"AVX512|X86_V4"),
            "NUMBA_CPU_NAME": "haswell",
            "NUMBA_CACHE_DIR": "{new}",
            "ATEN_CPU_CAPABILITY": "avx2",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
            "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        },
        "import numpy, numba",
    )
    training = ("tests/train", "tests/kernels")
    yield Setting("checked memory", {"LD_PRELOAD": DEBUG, "MALLOC_CHECK_": "3"}, _preloaded(), training)
    yield Setting("checked bounds", {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": "{new}"}, "", ("tests/kernels",))
    for python in PYTHONS:
        for versions in ("lowest", "newest"):
            yield Setting(f"Python {python}, {versions} versions", python=python, versions=versions)


def _dispatched(pattern: str) -> str:
    """The instruction sets that NumPy chooses at run time, those that match, separated by blanks."""
    code = (
        "from numpy._core._multiarray_umath import __cpu_dispatch__ as d, __cpu_features__ as f\n"
        "print(*(name for name in d if f.get(name)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return " ".join(name for name in done.stdout.split() if re.search(pattern, name))


def _preloaded() -> str:
    return f"import ctypes\ntry: ctypes.CDLL({DEBUG!r})\nexcept OSError as error: raise SystemExit(str(error))"


def interpreter(setting: Setting) -> str:
    """The interpreter of a setting, in an environment of its own where it is not this one."""
    if not setting.python:
        return sys.executable
    found = next((path for path in _installed(setting.python) if _runs(path)), None)
    if found is None:
        raise CannotRunError("not installed")
    folder = ROOT / f".venv-{setting.python}-{setting.versions}"
    python = folder / "bin" / "python"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = folder / ".installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([found, "-m", "venv", "--clear", folder], check=True)
        _install(python, setting.versions)
        stamp.write_text(wanted)
    return str(python)


def _installed(version: str) -> Iterator[str]:
    """The interpreter on the path, which may be a shim that runs nothing, and those that pyenv has."""
    found = shutil.which(f"python{version}")
    if found:
        yield found
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
        subprocess.run([*command, "-e", f"{ROOT}[{','.join(EXTRAS)}]", *TOOLS], check=True)


def _floors() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    return sorted({line.replace(">=", "==") for line in lines})


def run(setting: Setting, arguments: list[str]) -> str:
    """Run the tests; the closing line of pytest, or why they were not run."""
    with tempfile.TemporaryDirectory() as new:
        variables = {name: value.format(new=new) for name, value in setting.variables.items()}
        environment = os.environ | variables
        python = interpreter(setting)
        probe = [python, "-W", "error", "-c", setting.probe]
        done = subprocess.run(probe, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotRunError((done.stderr.strip() or "no reason").splitlines()[-1])
        wanted = arguments or [*(setting.tests or TESTS), "-n", "auto", "--dist", "loadfile"]
        command = [python, "-m", "pytest", "-p", "no:cacheprovider", *wanted]
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command, env=environment, cwd=ROOT, stdout=output, stderr=output, text=True, check=False
            )
            output.seek(0)
            lines = output.read().splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR")) or "worker died" in line]
    print(*failed, sep="\n", end="\n" * bool(failed), flush=True)
    closing = next((line.strip("= ") for line in reversed(lines) if " in " in line), f"exit code {done.returncode}")
    if done.returncode:
        raise TestsFailedError(closing)
    return closing


def main() -> int:
    """Run every setting in turn; 1 if a test failed in any."""
    parser = argparse.ArgumentParser(prog="scripts/test --machines", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--list", action="store_true", help="the settings, and nothing else")
    options, arguments = parser.parse_known_args()
    chosen = [one for one in settings() if all(word.lower() in one.name.lower() for word in options.only)]
    if options.list:
        print(*(setting.name for setting in chosen), sep="\n")
        return 0
    failures = skips = 0
    for setting in chosen:
        start = time.monotonic()
        try:
            outcome = run(setting, arguments)
        except CannotRunError as error:
            outcome, skips = f"skipped: {error}", skips + 1
        except (TestsFailedError, subprocess.CalledProcessError) as error:
            outcome, failures = f"FAILED: {error}", failures + 1
        print(f"{setting.name:32} {time.monotonic() - start:5.0f} s  {outcome}", flush=True)
    print(f"{len(chosen) - failures - skips} passed, {failures} failed, {skips} skipped")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
