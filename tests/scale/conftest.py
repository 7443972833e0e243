"""Parquet shards to read."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def _table(n, *, k=5, seed=0, ids=False):
    rng = np.random.default_rng(seed)
    labels, shift = rng.integers(k, size=n), rng.choice(["none", "none", "covariate", "label"], size=n)
    z = rng.normal(size=(n, k)).astype(np.float32).round(1) + (2.5 * np.eye(k, dtype=np.float32))[labels]
    columns = {
        "logits": pa.FixedSizeListArray.from_arrays(pa.array(z.ravel()), k),
        "label": pa.array(np.where(shift == "label", -1, labels)),
        "shift": pa.array(shift),
    }
    return pa.table(columns | ({"id": pa.array([f"s{i % (n // 2 + 1)}" for i in range(n)])} if ids else {}))


def _write(folder, whole, sizes, *, group=7):
    folder.mkdir(parents=True)
    first = 0
    for number, size in enumerate(sizes):
        pq.write_table(whole.slice(first, size), folder / f"{number:03d}.parquet", row_group_size=group)
        first += size
    assert first == len(whole)
    return folder


def _cells(sketch):
    result = {
        (name, what): getattr(cells, what).tolist()
        for name, cells in sketch.cells.items()
        for what in ("slots", "counts", "errors")
    }
    return result | {"strata": sketch.strata, "rounded": sketch.rounded}


@pytest.fixture(scope="session")
def make_table():
    """n rows of every kind of shift, with many ties."""
    return _table


@pytest.fixture(scope="session")
def write_shards():
    """The rows of a table in files of given sizes."""
    return _write


@pytest.fixture(scope="session")
def cells_of():
    """All counts of a sketch, to compare to the last one."""
    return _cells


@pytest.fixture
def shards(tmp_path):
    """100 rows in four files, row groups of seven."""
    return _write(tmp_path / "data", _table(100), (30, 1, 40, 29))
