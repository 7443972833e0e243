"""Paragraphs in a terminal and elsewhere."""

import sys

from abstain.cli.printing import say

WORDS = " ".join(["word"] * 40)


def test_a_paragraph_is_one_line_where_nobody_looks(capsys):
    say(WORDS)
    assert capsys.readouterr().out == f"{WORDS}\n"


def test_a_paragraph_is_broken_between_words_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "62")
    monkeypatch.setenv("TERM", "xterm")
    say(f"[red] {WORDS}")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 62
    assert " ".join(" ".join(lines).split()) == f"[red] {WORDS}"


def test_a_line_to_copy_stays_whole_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "62")
    say(WORDS, whole=True)
    assert capsys.readouterr().out == f"{WORDS}\n"
