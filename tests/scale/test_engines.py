"""Every engine does the same."""

import pytest

from abstain.scale.engines import ENGINES, Execution


def test_an_engine_that_is_none_and_options_that_are_wrong():
    with pytest.raises(ValueError, match=r"`engine` must be one of local, ray, got 'rey'\. Did you mean ray"):
        Execution("rey").start()
    with pytest.raises(ValueError, match="`workers` must be at least 1, got 0"):
        Execution("local", workers=0).start()
    with (
        pytest.raises(ValueError, match="`address` must be left out with the engine `local`, got 'auto'"),
        Execution("local", address="auto").start(),
    ):
        pass


def test_results_come_in_order_and_few_are_at_work():
    begun = []
    with Execution("local", workers=2).start() as engine:
        result = engine.map(lambda item: begun.append(item) or item, range(50))
        assert next(result) == 0
        assert len(begun) <= 6
        assert list(result) == list(range(1, 50))


def test_the_first_error_in_the_order_of_items_ends_it():
    def work(item):
        if item >= 7:
            raise ValueError(f"`item` must be below 7, got {item}.")
        return item

    for workers in (1, 3):
        with Execution("local", workers=workers).start() as engine, pytest.raises(ValueError, match="got 7"):
            list(engine.map(work, range(50)))


def test_names():
    assert list(ENGINES) == ["local", "ray"]
