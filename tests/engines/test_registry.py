"""Every engine does the same."""

import pytest

from abstain.engines.registry import ENGINES, started


def test_an_engine_that_is_none_and_options_that_are_wrong():
    with pytest.raises(ValueError, match=r"`engine` must be one of local, ray, got 'rey'\. Did you mean ray"):
        started("rey")
    with pytest.raises(ValueError, match="`workers` must be at least 1, got 0"):
        started("local", workers=0)
    with (
        pytest.raises(ValueError, match="`address` must be left out with the engine local, got 'auto'"),
        started("local", address="auto"),
    ):
        pass


def test_results_come_in_order_and_few_are_at_work():
    begun = []
    with started("local", workers=2) as engine:
        found = engine.map(lambda item: begun.append(item) or item, range(50))
        assert next(found) == 0
        assert len(begun) <= 6
        assert list(found) == list(range(1, 50))


def test_the_first_error_in_the_order_of_items_ends_it():
    def work(item):
        if item >= 7:
            raise ValueError(f"`item` must be below 7, got {item}.")
        return item

    for workers in (1, 3):
        with started("local", workers=workers) as engine, pytest.raises(ValueError, match="got 7"):
            list(engine.map(work, range(50)))


def test_names():
    assert list(ENGINES) == ["local", "ray"]
