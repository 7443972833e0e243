"""Paragraphs in a terminal and elsewhere."""

import sys

import pytest

from abstain.cli.printing import Paragraph, show

WORDS = " ".join(["word"] * 40)


def test_a_paragraph_is_one_line_where_nobody_looks(capsys):
    show(WORDS)
    assert capsys.readouterr().out == f"{WORDS}\n"


def test_a_paragraph_is_broken_between_words_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "62")
    monkeypatch.setenv("TERM", "xterm")
    show(f"[red] {WORDS}")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 62
    assert " ".join(" ".join(lines).split()) == f"[red] {WORDS}"


def test_a_line_to_copy_stays_whole_in_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "62")
    show(Paragraph(WORDS, whole=True))
    assert capsys.readouterr().out == f"{WORDS}\n"


@pytest.mark.parametrize("width", [80, 60])
def test_a_table_that_is_too_wide_breaks_lines_and_cuts_nothing(run, width):
    plan = ("plan", "--risk", "0.01", "--coverage", "0.55", "--error-rate", "0.005", "--delta", "0.1")
    done = run(*plan, width=width).stdout
    assert "…" not in done
    assert {"8,186", "4,259", "4,093", "2,545", "11,017"} <= set(done.split())
