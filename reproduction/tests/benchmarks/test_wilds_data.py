import pytest

from abstain_reproduction.benchmarks.wilds_data import amazon as read_amazon
from abstain_reproduction.benchmarks.wilds_data import iwildcam as read_iwildcam


def test_iwildcam_has_its_two_test_splits(iwildcam):
    inside, outside = read_iwildcam(iwildcam, None, 0)
    assert (inside.domain, inside.shift, len(inside)) == ("id_test", "none", 12)
    assert (outside.domain, outside.shift, len(outside)) == ("test", "covariate", 12)
    assert inside.labels.tolist() == [number % 3 for number in range(4, 60, 5)]
    assert inside[0].size == (48, 40)
    assert inside.ids[0] == "sequence 1"


def test_amazon_has_its_two_test_splits(amazon):
    inside, outside = read_amazon(amazon, None, 0)
    assert (inside.shift, len(inside), outside.shift, len(outside)) == ("none", 20, "covariate", 20)
    assert all(inside[row].count("good") == label + 1 for row, label in enumerate(inside.labels))
    assert inside.ids[0] == "user user1"  # the sixth review, the second person


def test_a_limit_is_kept_in_each_split(iwildcam, amazon):
    assert [len(part) for part in read_iwildcam(iwildcam, 5, 0)] == [5, 5]
    assert [len(part) for part in read_amazon(amazon, 7, 0)] == [7, 7]


def test_missing_folders_say_what_is_expected_where(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"must hold iWildCam of WILDS \(metadata.csv and train/\) in iwildcam_v2"
    ):
        read_iwildcam(tmp_path, None, 0)
    with pytest.raises(FileNotFoundError, match=r"must hold Amazon of WILDS .* in amazon_v2.1 or amazon_v2.0, got"):
        read_amazon(tmp_path, None, 0)


def test_missing_files_and_columns_are_named(iwildcam, amazon):
    (amazon / "amazon_v2.1" / "splits" / "user.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"user.csv` must exist and be a table of WILDS"):
        read_amazon(amazon, None, 0)
    (iwildcam / "iwildcam_v2.0" / "train").rename(iwildcam / "iwildcam_v2.0" / "images")
    with pytest.raises(FileNotFoundError, match=r"must hold the images of iWildCam in .*train, got no .*image-4.jpg"):
        read_iwildcam(iwildcam, None, 0)
    table = iwildcam / "iwildcam_v2.0" / "metadata.csv"
    table.write_text(table.read_text().replace("sequence_remapped", "sequence"))
    with pytest.raises(ValueError, match="must have a column 'sequence_remapped', got split, location_remapped"):
        read_iwildcam(iwildcam, None, 0)


def test_tables_of_different_lengths_are_refused(amazon):
    file = amazon / "amazon_v2.1" / "splits" / "user.csv"
    file.write_text(file.read_text() + "3\n")
    with pytest.raises(ValueError, match="must have a split for every review, got tables of different lengths"):
        read_amazon(amazon, None, 0)


def test_an_empty_split_is_named(amazon):
    file = amazon / "amazon_v2.1" / "splits" / "user.csv"
    file.write_text(file.read_text().replace("4", "0"))
    with pytest.raises(ValueError, match="must have samples of the split 'id_test', got none"):
        read_amazon(amazon, None, 0)


def test_a_class_that_is_no_number_is_told_with_its_file(iwildcam):
    table = iwildcam / "iwildcam_v2.0" / "metadata.csv"
    table.write_text(table.read_text().replace('.jpg",0,', '.jpg","cat",'))
    with pytest.raises(ValueError, match=r"metadata.csv` must have a class number in every row, got ValueError: inv"):
        read_iwildcam(iwildcam, None, 0)
