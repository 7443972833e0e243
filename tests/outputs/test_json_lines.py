import pytest

from abstain import Outputs
from abstain.outputs.json_lines import read_json_lines


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"confidence": 0.5, " confidence": 0.9, "correct": 1}', "the key 'confidence' twice in line 1"),
        (f'{{"confidence": 1{"0" * 400}, "correct": 1}}', "must have numbers in column confidence, got 1000"),
        ('{"confidence": [], "correct": 1}', r"must have numbers in column confidence, got \[\] in row 1"),
    ],
)
def test_a_value_that_would_be_hidden_or_is_no_number_is_refused(tmp_path, line, message):
    (tmp_path / "t.jsonl").write_text(f'{line}\n{{"confidence": 0.4, "correct": 0}}\n')
    with pytest.raises(ValueError, match=message):
        Outputs.load(tmp_path / "t.jsonl")


def test_a_key_in_other_capitals_is_the_same_column_unless_a_row_has_both(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"confidence": 1, "correct": 1}\n{"Confidence": 2, "correct": 0}\n')
    assert read_json_lines(file) == {"confidence": [1, 2], "correct": [1, 0]}
    file.write_text('{"confidence": 1, "Confidence": 3}\n{"Confidence": 2}\n')
    assert read_json_lines(file) == {"confidence": [1, None], "Confidence": [3, 2]}
