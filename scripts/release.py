"""Build wheel and source archive, check what they hold, and use them in clean environments, as a user would.

    scripts/release [--artifacts] [--extra NAME]…

An extra is tried by installing the wheel with it and nothing else, running what the extra is for, and walking the pages
of docs/start that name it. The last line is the command that uploads.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

OUTPUTS = "import abstain; from abstain.datasets import digits; outputs = digits()\n"
TRIALS = {
    "": OUTPUTS + "print(abstain.calibrate(outputs, risk=0.05).summary()); abstain.evaluate(outputs)",
    "report": OUTPUTS + "abstain.evaluate(outputs).to_html('report.html')",
    "scale": (
        "import abstain, polars; rows = polars.DataFrame({'confidence': [0.9, 0.2], 'correct': [1, 0]})\n"
        "rows.write_parquet('t.parquet'); print(abstain.Outputs.load('t.parquet'))"
    ),
    "ray": "import ray, abstain.scale.ray",
    "sklearn": (
        "from abstain.sklearn import SelectiveClassifier; from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.datasets import load_digits; x, y = load_digits(return_X_y=True)\n"
        "model = SelectiveClassifier(LogisticRegression(max_iter=2000), risk=0.05).fit(x / 16, y)\n"
        "print((model.predict(x / 16) == -1).mean())"
    ),
    "torch": OUTPUTS
    + (
        "import torch; from abstain.torch import SelectiveModel\n"
        "selector = abstain.calibrate(outputs, risk=0.05)\n"
        "print(SelectiveModel(torch.nn.Linear(4, outputs.n_classes).eval(), selector)(torch.zeros(2, 4)))"
    ),
    "torchmetrics": "import abstain.torch.metrics",
    "onnx": (
        "import numpy as np, onnxruntime, abstain; from onnx import TensorProto as T, helper as h, numpy_helper, save\n"
        "weight = numpy_helper.from_array(np.eye(4, 3, dtype=np.float32), 'w')\n"
        "ends = [h.make_tensor_value_info(name, T.FLOAT, ['n', k]) for name, k in (('x', 4), ('z', 3))]\n"
        "graph = h.make_graph([h.make_node('MatMul', ['x', 'w'], ['z'])], 'g', ends[:1], ends[1:], [weight])\n"
        "save(h.make_model(graph, opset_imports=[h.make_opsetid('', 18)], ir_version=9), 'model.onnx')\n"
        "rng = np.random.default_rng(0); labels = rng.integers(3, size=900)\n"
        "logits = rng.normal(size=(900, 3)); logits[np.arange(900), labels] += 4\n"
        "selector = abstain.calibrate(abstain.Outputs(logits=logits, labels=labels), risk=0.1)\n"
        "abstain.onnx.attach('model.onnx', selector, 'decides.onnx')\n"
        "print(onnxruntime.InferenceSession('decides.onnx').run(None, {'x': np.ones((2, 4), np.float32)}))"
    ),
    "images": (
        "import numpy as np, abstain\n"
        "print(abstain.shifts.corrupt(np.zeros((32, 32, 3), np.uint8), 'fog', severity=3).shape)"
    ),
    "mlflow": OUTPUTS
    + (
        "import mlflow; mlflow.set_tracking_uri('sqlite:///mlflow.db')\n"
        "with mlflow.start_run(): abstain.mlflow.log_evaluation(abstain.evaluate(outputs, scores=['max_softmax']))"
    ),
    "serve": "import abstain.serve, starlette, uvicorn",
    "otel": "import abstain.telemetry, opentelemetry.sdk",
    "hf": "import abstain.collect.hf_model, abstain.collect.hf_dataset, transformers, datasets, torch",
    "timm": "import abstain.collect.timm_model, PIL, timm, torch",
}
"""By extra, what a user would do with it; under "" without any."""
PAGES = sorted({*(ROOT / "docs" / "start").glob("*.md")} - {ROOT / "docs" / "start" / "index.md"})
"""Each says which extra it needs."""
OUTSIDE = ("tests/", "reproduction/", "docs/", "benchmarks/", "fuzz/")
"""What has no place in a wheel."""


class NotReleasableError(Exception):
    """Something that a release must not have."""


def check_versions() -> str:
    """The version, which the package, the changelog and the citation must agree on."""
    version = PROJECT["version"]
    stated = {
        "src/abstain/__init__.py": r'__version__ = "(.*)"',
        "CHANGELOG.md": r"## \[(\d.*?)\]",
        "CITATION.cff": r"(?m)^version: (.*)",
    }
    for file, pattern in stated.items():
        match = re.search(pattern, (ROOT / file).read_text())
        if match is None or match[1] != version:
            raise NotReleasableError(f"{file} must state version {version}, got {match and match[1]}.")
    check_dates(*((ROOT / file).read_text() for file in ("CHANGELOG.md", "CITATION.cff")), version)
    return version


def check_dates(changelog: str, citation: str, version: str) -> None:
    """The same date in both, or "unreleased" in the changelog and no date in the citation."""
    stated = re.search(rf"(?m)^## \[{re.escape(version)}\] - (\S+)", changelog)
    cited = re.search(r"(?m)^date-released: (\S+)", citation)
    if (stated and stated[1]) != (cited[1] if cited else "unreleased"):
        raise NotReleasableError(
            f"CITATION.cff must have the date of CHANGELOG.md, got {cited and cited[1]} and {stated and stated[1]}."
        )


def extra_of(page: Path) -> str:
    """The extra in the line of a page that says how to install."""
    match = re.search(r"(?m)^Install: `pip install (?:-c constraints\.txt )?(?:\.|'\.\[(\w+)\]')`", page.read_text())
    if match is None:
        raise NotReleasableError(f'{page.name} must have a line "Install: `pip install …`".')
    return match[1] or ""


def build() -> list[Path]:
    """Wheel and source archive in an empty dist/, as their metadata must be."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], check=True, stdout=subprocess.DEVNULL)
    files = [next(DIST.glob("*.tar.gz")), next(DIST.glob("*.whl"))]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    return files


def check_contents(files: list[Path]) -> None:
    """Print what is in the archives; the wheel holds the library alone, with its data, types and templates."""
    archive, wheel = files
    names = zipfile.ZipFile(wheel).namelist()
    strays = [name for name in names if name.startswith(OUTSIDE) or not name.startswith(("abstain/", "abstain-"))]
    missing = {"abstain/py.typed", "abstain/datasets/digits.npz"} - set(names)
    if strays or missing:
        raise NotReleasableError(f"{wheel.name} must hold the library alone, got {strays} more and {missing} less.")
    with tarfile.open(archive) as tar:
        source = [name.partition("/")[2] for name in tar.getnames()]
    lacking = {f"src/{name}" for name in names if name.startswith("abstain/")} - set(source)
    if lacking:
        raise NotReleasableError(f"{archive.name} must hold all that the wheel has, got none of {sorted(lacking)[:3]}.")
    with zipfile.ZipFile(wheel) as zipped:
        description = zipped.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    if relative := re.findall(r"\]\((?!https?:|#)[^)]*\)", description):
        raise NotReleasableError(f"the description of {wheel.name} must have no relative links, got {relative[:3]}.")
    for file, held in ((wheel, names), (archive, source)):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB, {len(held)} files")
        print(*(f"  {name}" for name in sorted(filter(None, held))), sep="\n")


def try_out(file: Path, extra: str) -> float:
    """Install the file with an extra in a new environment and run what the extra is for; the seconds it took."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/env"], check=True)
        python = f"{folder}/env/bin/python"
        name = f"{file}[{extra}]" if extra else str(file)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", ROOT / "constraints.txt", name], check=True)
        version = subprocess.run([f"{folder}/env/bin/abstain", "--version"], check=True, capture_output=True, text=True)
        if version.stdout.strip() != PROJECT["version"]:
            raise NotReleasableError(f"abstain --version must print {PROJECT['version']}, got {version.stdout!r}.")
        subprocess.run([python, "-W", "error::DeprecationWarning:abstain", "-c", TRIALS[extra]], check=True, cwd=folder)
        path = {**os.environ, "PATH": f"{folder}/env/bin:{os.environ['PATH']}"}
        for page in (page for page in PAGES if extra_of(page) == extra):
            subprocess.run([python, ROOT / "scripts" / "walk_page.py", page], check=True, cwd=folder, env=path)
    return time.monotonic() - start


def main() -> int:
    """Make the files and try them out; an error ends it."""
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__.partition("\n")[0])
    parser.add_argument("--extra", action="append", help="try this extra alone; several times for several")
    options = parser.parse_args()
    version = check_versions()
    files = build()
    check_contents(files)
    archive, wheel = files
    print(f"source archive: {try_out(archive, ''):.0f} s", flush=True)
    for extra in options.extra or TRIALS:
        print(f"{extra or 'no extra'}: {try_out(wheel, extra):.0f} s", flush=True)
    print(f"{version} is ready. To upload it: git tag v{version} && twine upload dist/*")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
