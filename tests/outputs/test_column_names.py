import numpy as np
import pytest

from abstain import Outputs
from abstain.outputs.column_names import spelled, unused_words


def test_capitals_matter_only_where_two_names_differ_by_them():
    assert spelled(["ID", "Label", "town"]) == {"ID": "id", "Label": "label"}
    assert spelled(["label", "Label"]) == {"label": "label"}
    assert spelled(["LABEL", "Label"]) == {}
    assert spelled(["Logit_A", "Logit_a"]) == {"Logit_A": "logit_A", "Logit_a": "logit_a"}


def test_what_is_not_used_is_named_with_the_name_of_what_may_repeat():
    assert unused_words(["Confidence", "correct"]) is None
    assert unused_words(["id", "town", "confidence"]) == "Columns that are not used: town."
    words = unused_words(["confidence", *(f"c{j}" for j in range(12))])
    assert "c8 and 3 more. Rows count as independent: a column `id` names what may repeat." in words


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_in_capitals_is_the_same_table(ending, tmp_path):
    polars = pytest.importorskip("polars")
    z = np.random.default_rng(0).normal(size=(4, 2))
    columns = {"Logit_b": z[:, 0], "logit_a": z[:, 1], "LABEL": list("abab"), "Id": list("wxyz")}
    frame = polars.DataFrame(columns)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    result = Outputs.load(tmp_path / f"t{ending}")
    assert result.class_names == ("b", "a")
    assert result.labels.tolist() == [1, 0, 1, 0]
    assert result.ids.tolist() == list("wxyz")
