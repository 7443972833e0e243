import pytest

from abstain.report.page import Section, TableCell, document, name, table

HOSTILE = [
    "<script>window.bad = 1</script>",
    '"><img src=x onerror="window.bad=1">',
    "</script><b>",
    "'; --",
    "\u202eevil",
    "\x00\ud800",
    "é漢字🎉",
]


def a_section(**options):
    return Section(name="part", title="Part", html="", **options)


def test_what_others_wrote_is_shown_as_text(opened):
    rows = [[TableCell(name(words)), TableCell("1", 1.0)] for words in HOSTILE]
    html = table(["name", "n"], rows, caption=HOSTILE[1], numbers=(1,))
    page = opened(
        document(HOSTILE[0], [Section(name="part", title=HOSTILE[2], html=html, data=HOSTILE[:5])], subtitle=HOSTILE[1])
    )
    assert page.evaluate("window.bad") is None
    assert page.title() == HOSTILE[0]
    assert page.locator("tbody th").all_text_contents() == [*HOSTILE[:5], "\ufffd\ufffd", HOSTILE[6]]
    assert page.evaluate("abstain.data('part')") == HOSTILE[:5]
    assert page.locator("img, b").count() == 0


def test_a_script_that_is_not_the_page_s_own_does_not_run(chromium, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(document("t", [a_section()]).replace("<main", "<script>window.bad = 1</script><main"))
    page = chromium.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("window.bad") is None
    page.close()


def test_long_names_are_cut_and_open_to_the_whole(opened):
    page = opened(document("t", [Section(name="part", title="Part", html=name("x" * 10_000))]))
    assert page.locator("summary").inner_text() == "x" * 59 + "…"
    page.locator("summary").click()
    assert len(page.locator("details > bdi").inner_text()) == 10_000


def test_tables_are_sorted_by_the_key_of_a_cell(opened):
    rows = [
        [TableCell(name(word)), TableCell(f"{number:,}", number)] for word, number in (("b", 1000), ("a", 20), ("c", 3))
    ]
    page = opened(
        document(
            "t",
            [
                Section(
                    name="part",
                    title="Part",
                    html=table(["w", "n"], rows, caption="c", numbers=(1,)),
                )
            ],
        )
    )
    names = page.locator("tbody th")
    page.get_by_role("button", name="n").click()
    assert names.all_text_contents() == ["c", "a", "b"]
    page.get_by_role("button", name="n").click()
    assert names.all_text_contents() == ["b", "a", "c"]
    page.get_by_role("button", name="w").press("Enter")
    assert names.all_text_contents() == ["a", "b", "c"]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"


def test_the_same_sections_give_the_same_bytes():
    assert document("t", [a_section(data={"a": [1, 2]})]) == document("t", [a_section(data={"a": [1, 2]})])


def test_data_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="Out of range float"):
        document("t", [a_section(data=float("nan"))])


def test_pages_without_charts_do_not_carry_a_library():
    assert len(document("t", [a_section()])) < 30_000
