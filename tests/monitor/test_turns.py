import pytest

from abstain.monitor.turns import Turn, Turns


def counted(turns):
    """(right, wrong) of those whose turn has come."""
    return [(turn.right, turn.wrong) for turn in turns.due()]


def waiting(*keys, window=10):
    turns = Turns(window=window)
    for key in keys:
        turns.add(Turn(1, pending=[key]))
    return turns


def test_a_label_waits_for_those_of_earlier_decisions():
    turns = waiting(1, 2, 3)
    turns.label(3, True)
    turns.label(2, False)
    assert counted(turns) == []
    assert (turns.waiting, turns.pending) == (2, 1)
    turns.label(1, False)
    assert counted(turns) == [(1, 0), (1, 0), (0, 1)]
    assert (turns.waiting, turns.pending, turns.kept()) == (0, 0, ())


def test_a_label_is_given_up_after_the_window_and_left_out_when_it_comes():
    turns = waiting(1, 2, window=2)
    turns.label(2, True)
    assert counted(turns) == []
    turns.add(Turn(1, right=1))  # the second row accepted since the first
    assert counted(turns) == [(0, 0), (0, 1), (1, 0)]
    turns.label(1, True)
    assert (counted(turns), turns.late) == ([], 1)


def test_with_no_window_a_label_comes_with_its_decision_or_never():
    turns = waiting(1, window=0)
    assert counted(turns) == [(0, 0)]


def test_rows_of_a_cluster_count_together_and_copies_share_a_label():
    turns = Turns()
    turns.add(Turn(4, wrong=1, pending=[7, 7]))
    turns.label(7, False)
    assert counted(turns) == [(2, 1)]


def test_what_accepts_nothing_waits_for_nothing():
    turns = Turns()
    turns.add(Turn(3))
    assert (counted(turns), turns.kept()) == ([], ())


def test_the_queue_is_kept_in_plain_numbers():
    turns = waiting(1, 2)
    turns.add(Turn(3, 1, 1))
    again = Turns(turns.kept())
    again.label(1, True)
    again.label(2, False)
    assert counted(again) == [(0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("kept", [((1,),), ((1, 1, 1),), ((1, 0, -1),), ((0, 0, 0, 5),)])
def test_queues_that_no_decisions_lead_to_are_refused(kept):
    with pytest.raises(ValueError, match="must be the state of a monitor, got labels that wait"):
        Turns(kept)
