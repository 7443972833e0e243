"""Certificates in Markdown and on a page; names that others chose are shown as text."""

import re
from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs, calibrate, certify
from abstain.selector.certificate_page import SHOWN, certificate_markdown, certificate_page, slice_tables

HOSTILE = ["<script>alert(1)</script>", "a|b\n**bold**", '"quoted" & \u202eturned', "x" * 10_000, "half \ud800"]


def rows(seed, domains):
    rng = np.random.default_rng(seed)
    u = rng.random(2000)
    domain = np.array(domains)[np.arange(2000) % len(domains)]
    return Outputs(confidences={"vendor": 1 - u}, errors=rng.random(2000) < 0.3 * u**2, domain=domain)


@pytest.fixture(scope="module")
def certificate():
    sources = {"selector": "<s>.abstain", "on": "fresh/"}
    return certify(calibrate(rows(0, HOSTILE), risk=0.06), rows(1, HOSTILE), sources=sources)


def test_the_page_says_guarantee_verdict_data_and_versions(certificate, tmp_path):
    certificate.to_html(tmp_path / "c.html")
    result = (tmp_path / "c.html").read_text()
    for words in ("is at most 0.06", "SHA-256", certificate.calibration.digest, "numpy", "Fresh rows, by group"):
        assert words in result
    assert result == certificate_page(certificate)


def test_the_page_opens_without_a_complaint_and_sorts(certificate, opened):
    page = opened(certificate_page(certificate))
    assert page.locator("h2").first.text_content() == "The guarantee"
    names = page.locator("#slices table").last.locator("tbody th summary, tbody th > bdi").all_text_contents()
    assert HOSTILE[0] in names
    page.locator("#slices thead button").first.click()


@pytest.mark.parametrize("write", [certificate_page, certificate_markdown])
def test_names_are_text(certificate, write):
    result = write(certificate)
    assert "<script>alert" not in result
    assert "&lt;script&gt;alert" in result
    assert "<s>.abstain" not in result


def test_a_row_of_markdown_is_a_line_with_every_cell(certificate):
    lines = [line for line in certificate_markdown(certificate).splitlines() if line.startswith("|")]
    assert {len(re.sub(r"\\\|", "", line).split("|")) for line in lines} == {4, 9}


def test_of_many_slices_some_are_left_out_and_that_is_said():
    many = [f"d{number}" for number in range(SHOWN + 10)]
    result = certify(calibrate(rows(0, many), risk=0.06))
    [table] = slice_tables(result).values()
    assert len(table) == SHOWN + 1
    assert table[-1][0] == "10 more"


def test_a_refuted_guarantee_is_marked_on_the_page():
    selector = calibrate(rows(0, ["a"]), risk=0.06)
    bad = Outputs(confidences={"vendor": np.full(200, 0.99)}, errors=np.ones(200, dtype=bool))
    assert 'class="note bad"' in certificate_page(certify(selector, bad))


def test_too_little_data_is_a_caution_on_the_page():
    selector = calibrate(rows(0, ["a"]), risk=0.06)
    few = Outputs(confidences={"vendor": [0.99]}, errors=[False])
    assert 'class="note caution"' in certificate_page(certify(selector, few))
    assert 'class="note caution"' in certificate_page(certify(selector))


def test_a_selector_that_keeps_no_rows_says_so_in_every_form():
    selector = replace(calibrate(rows(0, ["a"]), risk=0.06), seen=None)
    result = certify(selector, rows(1, ["a"]))
    assert "not known: the selector keeps no hashes of its rows" in certificate_markdown(result)
    assert "Which of the fresh rows calibrated it is not known" in certificate_page(result)


def test_a_very_long_group_is_folded_and_no_letter_turns_the_text():
    fresh = Outputs(confidences={"vendor": np.full(600, 0.99)}, errors=np.arange(600) < 300, domain=HOSTILE[2:4] * 300)
    result = certify(calibrate(rows(0, HOSTILE), risk=0.06), fresh)
    page = re.sub(r"<bdi>[^<]*</bdi>", "", certificate_page(result))
    [item] = [each for each in re.findall(r"<li>.*?</li>", page) if "xxxx" in each]
    assert item.startswith('<li><details class="long"><summary>In the group xxx')
    assert "significantly more than is guaranteed for all rows together.</summary>" in item
    assert "\u202e" not in page + certificate_markdown(result)
