import os

import pytest

from abstain._kernels.blocks import for_each_block, usable_cores


@pytest.mark.parametrize("missing", [("process_cpu_count",), ("process_cpu_count", "sched_getaffinity")])
def test_every_core_is_used_where_the_platform_tells_less(missing, monkeypatch):
    for name in missing:
        monkeypatch.delattr(os, name, raising=False)
    assert usable_cores() >= 1
    assert usable_cores() <= os.cpu_count()


def test_one_core_where_nothing_is_known(monkeypatch):
    for name in ("process_cpu_count", "sched_getaffinity"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


def test_blocks_cover_all_rows_once(monkeypatch):
    monkeypatch.setattr("abstain._kernels.blocks.BLOCK_ELEMENTS", 10)
    seen = []
    for_each_block(lambda block: seen.extend(range(block.start, block.stop)), 23, 4)
    assert sorted(seen) == list(range(23))
