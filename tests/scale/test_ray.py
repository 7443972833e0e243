"""A real Ray cluster of two workers on loopback: the same digits as on this machine, also where a worker dies."""

import ipaddress
import os
import signal
import sys
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from abstain import Outputs, calibrate
from abstain.scale import Execution, SketchSettings, data, select, sketch

SOME = ["max_softmax", "energy"]
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX, if another test imported it


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    pytest.importorskip("ray")
    with Execution("ray", workers=2).start():
        yield


@pytest.fixture
def many(tmp_path, make_table, write_shards, monkeypatch):
    """400 rows in 20 files, a portion for each row group."""
    monkeypatch.setattr(data, "PORTION", 1)
    return write_shards(tmp_path / "data", make_table(400), [20] * 20, group=10)


def test_the_counts_are_those_of_this_machine(many, cells_of):
    assert cells_of(sketch(many, execution=Execution("ray")).sketch) == cells_of(sketch(many).sketch)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_of_the_cluster_listens_beyond_loopback(many):
    sketch(many, execution=Execution("ray"))  # so that there are workers
    addresses = _listening()
    assert len(addresses) >= 4  # this process, the head, the node and a worker at least
    assert set().union(*addresses.values()) <= {"127.0.0.1", "::1", "::ffff:7f00:1"}


def test_fitted_scores_travel_as_arrays(many, cells_of):
    scores = ["knn(space=logits)", "max_logit_pnorm", "energy"]
    here, there = (sketch(many, scores=scores, execution=Execution(engine)) for engine in ("local", "ray"))
    assert cells_of(there.sketch) == cells_of(here.sketch)
    assert there.notes == here.notes


def test_the_head_travels(many, make_table, cells_of):
    table = make_table(50, seed=1)
    z = np.stack(table["logits"].to_numpy())
    fitting = Outputs(logits=z, labels=table["label"].to_numpy(), weight=np.eye(5) + 1)
    here, there = (
        sketch(many, scores="geometric_margin", settings=SketchSettings(fitting=fitting), execution=Execution(each))
        for each in ("local", "ray")
    )
    assert cells_of(there.sketch) == cells_of(here.sketch)


def test_decisions_are_those_of_this_machine(many, make_table, tmp_path):
    table = make_table(500, seed=1)
    outputs = Outputs(logits=np.stack(table["logits"].to_numpy()), labels=table["label"].to_numpy())
    selector = calibrate(outputs, coverage=0.5)
    result = [select(selector, many, tmp_path / engine, execution=Execution(engine)) for engine in ("local", "ray")]
    assert result[0] == result[1]
    for file in (tmp_path / "local").iterdir():
        assert file.read_bytes() == (tmp_path / "ray" / file.name).read_bytes()


def test_an_error_of_a_worker_is_the_same_line(many):
    (many / "017.parquet").write_bytes((many / "016.parquet").read_bytes()[:300] + b"PAR1")
    said = []
    for engine in ("local", "ray"):
        with pytest.raises(ValueError, match=r"017.parquet` must be a valid Parquet file") as error:
            sketch(many, execution=Execution(engine))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_bad_row_is_the_same_line(tmp_path, make_table, write_shards):
    path = write_shards(tmp_path / "bad", make_table(100), [50, 50])
    table = pq.read_table(path / "001.parquet")
    pq.write_table(table.set_column(1, "label", pa.array([0] * 48 + [7, 7])), path / "001.parquet")
    said = []
    for engine in ("local", "ray"):
        with pytest.raises(ValueError, match=r"got 7 in row 49 of .*001.parquet") as error:
            sketch(path, execution=Execution(engine))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_function_of_the_users_cannot_travel(many):
    with pytest.raises(ValueError, match=r"`scores` must be scores of abstain.* got the function _own. Use the engine"):
        sketch(many, scores=[_own], execution=Execution("ray"))


def _own(outputs):
    return outputs.logits.max(axis=1)


def test_a_worker_that_is_killed_counts_once(tmp_path):
    with Execution("ray").start() as engine:
        result = list(engine.map(_DiesOnce(str(tmp_path)), range(8)))
    assert result == [number * number for number in range(8)]
    assert len(os.listdir(tmp_path)) == 2  # two of them died on the way


class _DiesOnce:
    """Items 2 and 5 kill their worker the first time."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, number):
        if number in (2, 5):
            mark = f"{self.folder}/{number}"
            if not os.path.exists(mark):
                open(mark, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return number * number


@pytest.mark.thorough
def test_workers_killed_in_the_middle_of_a_sketch_leave_no_trace(tmp_path, make_table, write_shards, cells_of):
    path = write_shards(tmp_path / "data", make_table(240_000, k=100), [20_000] * 12, group=20_000)
    ray = pytest.importorskip("ray")
    killed = []

    def kill(done, total):
        if done < total / 2:
            for worker in _at_work():
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    sketched = sketch(path, scores=SOME, execution=Execution("ray"), progress=kill)
    assert killed
    assert ray.is_initialized()
    assert cells_of(sketched.sketch) == cells_of(sketch(path, scores=SOME).sketch)


def _listening():
    """By process below this one or itself, the addresses on which it accepts connections."""
    owner = {}
    for number in _parents():
        if number == os.getpid() or _is_below(number, _parents()):
            with suppress(OSError):
                owner |= {os.readlink(link.path): number for link in os.scandir(f"/proc/{number}/fd")}
    result = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as lines:
            for _, local, _, state, *rest in (line.split() for line in lines.readlines()[1:]):
                if state == "0A" and (number := owner.get(f"socket:[{rest[5]}]")):
                    words = bytes.fromhex(local.partition(":")[0])
                    address = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
                    result.setdefault(number, set()).add(str(ipaddress.ip_address(address)))
    return result


def _parents():
    parents = {}
    for number in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError), open(f"/proc/{number}/stat") as stat:
            parents[number] = int(stat.read().rpartition(")")[2].split()[1])
    return parents


def _at_work():
    """Processes below this one that name themselves after the task they run."""
    parents, names = _parents(), {}
    for number in parents:
        with suppress(OSError), open(f"/proc/{number}/cmdline", "rb") as command:
            names[number] = command.read()
    return [number for number in names if names[number].startswith(b"ray::alone") and _is_below(number, parents)]


def _is_below(number, parents):
    while number in parents and number != os.getpid():
        number = parents[number]
    return number == os.getpid()
