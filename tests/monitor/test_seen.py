from dataclasses import replace

import pytest

from abstain.monitor import seen as module
from abstain.monitor.row import Row
from abstain.monitor.seen import Seen

DECISION = Row(accepted=True, confidence=0.5, id="a")
LABEL = Row(error=True, id="a")


def taken(*batches):
    """What is left of each row, batches after batches, through the text of the state."""
    seen, left = Seen(), []
    for batch in batches:
        fresh, notes = seen.fresh(batch)
        seen.add(notes)
        left += [None if one.again else one.row for one in fresh]
        seen = Seen.from_texts(*seen.to_texts())
    return left


def test_a_decision_counts_once_in_one_batch_or_two():
    assert taken([DECISION, DECISION]) == [DECISION, None]
    assert taken([DECISION], [DECISION]) == [DECISION, None]


def test_a_late_label_counts_once_alone_or_beside_its_decision():
    both = replace(DECISION, error=True)
    late = Row(accepted=True, error=True, id="a")
    assert taken([DECISION], [LABEL], [LABEL], [both]) == [DECISION, late, None, None]
    assert taken([DECISION], [both], [both], [LABEL]) == [DECISION, late, None, None]
    assert taken([both], [LABEL], [both]) == [both, None, None]


def test_a_label_that_comes_first_counts_once_and_so_does_its_decision():
    assert taken([LABEL], [replace(DECISION, error=True)]) == [LABEL, DECISION]


def test_a_late_label_of_a_rejected_sample_is_known_as_that():
    assert taken([replace(DECISION, accepted=False)], [LABEL])[1] == Row(accepted=False, error=True, id="a")


@pytest.mark.parametrize("change", [{"confidence": 0.6}, {"accepted": False}, {"domain": "fog"}])
def test_the_same_id_with_another_decision_is_another_row(change):
    other = replace(DECISION, **change)
    assert taken([DECISION], [other], [other, DECISION]) == [DECISION, other, None, None]


def test_a_label_alone_for_several_decisions_is_an_error():
    with pytest.raises(ValueError, match=r"must name one decision .* got several of 'a'\. Repeat"):
        taken([DECISION, replace(DECISION, confidence=0.6)], [LABEL])


def test_rows_without_ids_and_rows_that_say_nothing_are_left_alone():
    nameless = replace(DECISION, id=None)
    assert taken([nameless, nameless]) == [nameless, nameless]
    assert taken([Row(id="a")], [Row(id="a")], [DECISION]) == [Row(id="a"), Row(id="a"), DECISION]


def test_memory_is_bounded_and_what_was_forgotten_is_told(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 100)
    rows = [Row(confidence=0.5, id=str(k)) for k in range(250)]
    seen = Seen()
    for row in rows:
        seen.add(seen.fresh([row])[1])
    assert len(seen.newer) + len(seen.older) == 150
    assert seen.forgotten == 100
    assert [one.again for one in seen.fresh(rows)[0]] == [False] * 100 + [True] * 150


def test_rows_seen_again_push_nothing_out(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 100)
    rows = [Row(confidence=0.5, id=str(k)) for k in range(150)]
    seen = Seen()
    seen.add(seen.fresh(rows)[1])
    for row in rows:
        fresh, notes = seen.fresh([row])
        seen.add(notes)
        assert fresh[0].again
    assert seen.forgotten == 0
    assert len("".join(seen.to_texts())) <= 18 * 150
