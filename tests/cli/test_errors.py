"""What the command says of input that is wrong: one true line that names it."""

import functools
import subprocess
import sys
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

from abstain import Outputs, Sketch, calibrate
from abstain._errors import FileAccessError
from abstain.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=200)
    outputs = Outputs(logits=rng.normal(size=(200, 3)) + 3 * np.eye(3)[labels], labels=labels)
    outputs.save("run")
    calibrate(outputs, risk=0.2).save("s.abstain")
    np.savez("in.npz", inputs=np.zeros((2, 4), dtype=np.float32))
    Sketch.of([0.9, 0.4], [0, 1]).save("a.sketch")
    contents = {
        "x.csv": b"a,b\n1,2\n",
        "t.csv": b"confidence,correct\n0.5,1\n",
        "g.csv": b"logit_0,logit_1,logit_2,label,group\n1,0,0,0,a\n",
        "junk": b"\xff\x01\x02",
        "latin.txt": b"caf\xe9",
        "deep.json": b"[" * 200_000,
        "wrong_syntax.py": b"def f(:\n",
        "modules.py": b"import torch\n\n\ndef narrow():\n    return torch.nn.Linear(9, 2)\n",
        "factories.py": b"def fails():\n    raise RuntimeError('boom')\ndef number():\n    return 3\nconstant = 3\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def said(monkeypatch, capsys, line):
    monkeypatch.setattr(sys, "argv", ["abstain", *line.split()])
    with pytest.raises(SystemExit) as info:
        main()
    shown = capsys.readouterr()
    assert info.value.code == 1
    assert shown.out == ""
    notes, errors = [], []
    for message in shown.err.strip().splitlines():
        (notes if message.endswith("is taken from the current folder.") else errors).append(message)
    assert len(errors) == 1
    return errors[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate x.csv", "`x.csv` must have a column confidence, or columns logit_… or proba_…, got a, b."),
        ("evaluate nosuch", "abstain: `nosuch` must exist, got no such file or folder."),
        (
            "report a.sketch",
            "`a.sketch` must hold rows, got a sketch, which holds counts only. It is for evaluate, cal",
        ),
        ("compare a.sketch run", "`a.sketch` must hold rows, got a sketch"),
        ("certify s.abstain --on a.sketch", "`a.sketch` must hold rows, got a sketch"),
        ("calibrate a.sketch --score best --risk 0.2 -o t", "got 'best', which needs the rows to choose on."),
        ("evaluate s.abstain", "`s.abstain` must be a whole .npz file without pickled objects, got another kind of"),
        ("evaluate run --figure no/x.png", "`no/x.png` must be in a folder that exists, got none. Make no first."),
        ("evaluate run --figure x.foo", "`--figure` must end in .png, .svg or .pdf, got x.foo."),
        ("evaluate run -o x.xls", "`--output` must end in .md, .tex, .csv or .parquet, got x.xls."),
        ("evaluate run -o no/t.md", "`no/t.md` must be in a folder that exists, got none. Make no first."),
        ("evaluate run --alpha nan", "`alpha` must be above 0 and at most 1, got nan."),
        ("sensitivity t.csv", "`outputs` must have logits to be scaled, got confidences alone."),
        ("calibrate run --risk 0.2 -o no/s", "`no/s` must be in a folder that exists"),
        ("calibrate run --risk 0.2 -o /dev/null", "`/dev/null` must be a file to write, got a device."),
        ("calibrate run --cost 0.1 --costs none -o t", "`none` must exist and be a table of costs"),
        ("calibrate run --cost 0.1 --costs latin.txt -o t", "`latin.txt` must be a table of costs in UTF-8, got the"),
        ("calibrate run --cost 0.1 --costs x.csv -o t", "`x.csv` must h"),
        ("select run run -o d.csv", "`run` must be a selector or a cascade, got a folder."),
        ("select none run -o d.csv", "`none` must exist and be a selector"),
        ("monitor t.csv --risk 0.1 --state run", "`run` must be a file to write, got a folder."),
        (
            "recertify s.abstain t.csv --state t.csv",
            "`t.csv` must be the state of a Recertification, got text that is not JSON. Use a copy of it, or name",
        ),
        (
            "recertify s.abstain t.csv --state deep.json",
            "`deep.json` must be the state of a Recertification, got",
        ),
        ("recertify s.abstain t.csv --state latin.txt", "`latin.txt` must be the state of a Recertification in UTF-8"),
        ("calibrate t.csv --risk 0.2 -o t.csv", "`--output` must be another file than those that are read, got t.csv."),
        ("evaluate t.csv -o x.csv -o t.csv", "`--output` must be another file than those that are read, got t.csv."),
        ("certify s.abstain --on g.csv --group-column nope", "`g.csv` must have a column nope"),
        ("calibrate run --miss-rate 1=0.1 --miss-rate 1=0.2 -o t", "`--miss-rate` must be given once for a class, got"),
        ("calibrate run --cost inf -o t", "`cost` must be at least 0 and finite, got inf."),
        ("collect torch:os:getcwd in.npz -o c", "must be or make a torch.nn.Module, got str from 'getcwd'"),
        ("collect torch:wrong_syntax:f in.npz -o c", "a module that can be imported, got 'wrong_syntax': SyntaxError"),
        ("collect torch:no_such:f in.npz -o c", "got 'no_such': none of that name here or installed."),
        (
            "collect torch:factories:fails in.npz -o c",
            "must be made without an error, here 'fails', got RuntimeError: boom.",
        ),
        ("collect torch:factories:number in.npz -o c", "must be or make a torch.nn.Module, got int from 'number'."),
        ("collect torch:factories:constant in.npz -o c", "must be or make a torch.nn.Module, got int from 'constant'."),
        ("collect torch:modules:narrow in.npz -o c", "`model` must run on the data, got RuntimeError"),
        ("collect sklearn:junk in.npz -o c", "`junk` must be an estimator written by skops, got BadZipFile"),
        ("collect onnx:junk in.npz -o c", "`model` must be an ONNX model with all its data"),
        ("collect onnx:junk in.npz -o c --class-names latin.txt", "`latin.txt` must be class names in UTF-8"),
        ("attach none s.abstain -o a.onnx", "`none` must exist and be an ONNX model, got no such file."),
        ("attach deep.json s.abstain -o a.onnx", "`model` must be an ONNX model with all its data"),
        ("demo --folder x.csv", "`--folder` must be a folder, got the file x.csv."),
        ("plan --risk 1e-300", "`risk` must be one that 100,000,000 accepted rows certify"),
    ],
)
@pytest.mark.usefixtures("files")
def test_wrong_input_is_named_in_one_true_line(monkeypatch, capsys, line, message):
    if line.startswith("collect torch:"):
        pytest.importorskip("torch")
    assert message in said(monkeypatch, capsys, line)


def test_an_error_that_no_line_raised_on_purpose_is_ours(monkeypatch, capsys):
    monkeypatch.setattr("abstain.cli.app.app", lambda: [][1])
    assert "This is a bug in abstain (IndexError" in said(monkeypatch, capsys, "scores")


def test_too_little_memory_is_no_mistake_of_ours(monkeypatch, capsys):
    monkeypatch.setattr("abstain.cli.app.app", lambda: np.empty(1 << 50))
    assert "There is not enough memory. Unable to allocate" in said(monkeypatch, capsys, "scores")


@pytest.mark.usefixtures("files")
def test_standard_input_that_is_not_utf8_is_no_mistake_of_ours(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b'{"error": 0}\n\xff\n'), encoding="utf-8"))
    line = said(monkeypatch, capsys, "monitor - --risk 0.1")
    assert line == "abstain: `standard input` must be decisions in UTF-8, got the byte 0xff. Save it in UTF-8."


def test_an_error_without_a_leaf_is_ours_whatever_built_in_kind_it_is(monkeypatch, capsys):
    for kind in (OSError, ImportError, ValueError, UnicodeError):
        monkeypatch.setattr("abstain.cli.app.app", functools.partial(_raise, kind("`x` must be y, got z.")))
        assert f"This is a bug in abstain ({kind.__name__}" in said(monkeypatch, capsys, "scores")
    monkeypatch.setattr("abstain.cli.app.app", functools.partial(_raise, FileAccessError("`x` must be y, got z.")))
    assert said(monkeypatch, capsys, "scores") == "abstain: `x` must be y, got z."


def _raise(error):
    raise error


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
from abstain.cli import main
main()
"""


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, name):
    outputs = Outputs(logits=np.random.default_rng(0).normal(size=(50, 3)))
    outputs.save(tmp_path / "run")
    calibrate(outputs, coverage=0.5).save(tmp_path / "s.abstain")
    words = ["select", "s.abstain", "run", "-o", name]
    done = subprocess.run(
        [sys.executable, "-c", FULL, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"abstain: `{name}` cannot be read or written: File too large.\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run", "s.abstain"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    code = f"{FULL.partition('from')[0]}from abstain import Outputs; Outputs(logits=[[2.0, 0.0]]).save('run')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "run'" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
