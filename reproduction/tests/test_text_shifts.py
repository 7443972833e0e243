from hypothesis import given
from hypothesis import strategies as st

from abstain_reproduction.text_shifts import BYTE_SHIFTS, byte_noise, fold_case, reencode, truncate, typos


@given(st.binary(min_size=1), st.integers(0, 1000))
def test_byte_shifts_are_seeded_and_never_empty(content, seed):
    for shift in BYTE_SHIFTS.values():
        assert shift(content, seed=seed) == shift(content, seed=seed)
        assert shift(content, seed=seed)


def test_truncation_keeps_the_beginning():
    assert truncate(b"0123456789", share=0.3) == b"012"
    assert truncate(b"x", share=0.1) == b"x"


def test_byte_noise_changes_about_the_share_asked_for():
    content = bytes(20_000)
    changed = sum(a != b for a, b in zip(content, byte_noise(content, share=0.1), strict=True))
    assert 0.08 < changed / len(content) < 0.12


def test_case_and_encoding():
    assert fold_case(b"def f(): \xff") == b"DEF F(): \xff"
    assert reencode("é".encode()).decode("utf-16") == "é"
    assert reencode(b"\xff").decode("utf-16") == "ÿ"


@given(st.text(max_size=200), st.integers(0, 100))
def test_typos_are_seeded(text, seed):
    assert typos(text, seed=seed) == typos(text, seed=seed)


def test_typos_change_letters_only():
    text = "The quick brown fox jumps over the lazy dog. " * 20
    mistyped = typos(text, share=0.2, seed=1)
    assert mistyped != text
    assert typos("1234 !?", share=1.0) == "1234 !?"
    assert typos(text, share=0.0) == text
