import numpy as np
import pytest

import abstain
from abstain import Outputs

Z = np.array([[2.0, 0.0, 1.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]])


def test_predictions_take_the_lowest_index_on_ties():
    assert Outputs(logits=Z).predictions.tolist() == [0, 1, 0, 2]


def test_an_unknown_class_is_always_an_error():
    outputs = Outputs(logits=Z, labels=[0, 0, -1, -7])
    assert outputs.errors.tolist() == [False, True, True, True]
    assert outputs.shift.tolist() == ["none", "none", "label", "label"]


def test_shift_and_domain_may_be_one_word_for_all():
    outputs = Outputs(logits=Z, labels=[0, 1, 2, 2], shift="covariate", domain="fog-3")
    assert set(outputs.shift) == {"covariate"}
    assert set(outputs.domain) == {"fog-3"}


def test_nothing_can_be_changed():
    outputs = Outputs(logits=Z, labels=[0, 1, 2, 2])
    with pytest.raises(ValueError, match="read-only"):
        outputs.logits[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        outputs.errors[0] = True
    with pytest.raises(AttributeError, match="cannot assign"):
        outputs.labels = None


def test_the_given_array_stays_writable():
    z = Z.copy()
    Outputs(logits=z)
    z[0, 0] = 5.0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
def test_float_types_are_kept(dtype):
    outputs = Outputs(logits=Z.astype(dtype))
    assert outputs.logits.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(outputs.logits, Z)


def test_torch_tensors_are_taken():
    import torch

    outputs = Outputs(logits=torch.tensor(Z, requires_grad=True), labels=torch.tensor([0, 1, 2, 2]))
    np.testing.assert_array_equal(outputs.logits, Z)


def test_lists_of_strings_and_object_arrays_of_strings_are_ids():
    ids = np.array(["a", "b", "b", "c"], dtype=object)
    assert Outputs(logits=Z, ids=ids).ids.tolist() == ["a", "b", "b", "c"]


BAD = [
    (
        {"logits": np.zeros(3)},
        ValueError,
        r"a column for each class, got \(3,\). For two classes pass np.c_\[-z / 2, z",
    ),
    ({"probabilities": np.ones(3)}, ValueError, r"`probabilities` must have shape \(n, K\).* pass np.c_\[1 - p, p\]"),
    ({"logits": np.zeros((3, 2, 2))}, ValueError, r"`logits` must have shape \(any, any\), got \(3, 2, 2\)"),
    ({"logits": np.zeros((0, 3))}, ValueError, "`logits` must not be empty"),
    ({"logits": np.zeros((3, 1))}, ValueError, "at least 2 columns.*binary_logits"),
    ({"logits": np.zeros((3, 2), dtype=int)}, TypeError, "`logits` must be float16, float32 or float64, got int64"),
    ({"logits": np.array([[object(), 1.0]])}, TypeError, "`logits` must hold numbers or strings"),
    ({"logits": [[0, np.nan], [0, 1], [np.inf, 1]]}, ValueError, "got nan in 2 of 3 rows, first in row 0"),
    ({"logits": [[0, 1.0], [-np.inf, -np.inf]]}, ValueError, "`logits` must be finite, got -inf in 1 of 2 rows"),
    ({"logits": Z, "labels": [0, 1, 2, 3]}, ValueError, r"number of classes \(3\), got 3 in row 3"),
    ({"logits": Z, "labels": [0.0, 1, 2, 2]}, TypeError, "`labels` must be integers, got float64"),
    ({"logits": Z, "labels": ["0", "1", "2", "-1"]}, TypeError, r"Convert class numbers with .astype\(int\)"),
    (
        {"logits": Z, "labels": list("abba")},
        ValueError,
        r"`labels` must have 3 different names, one for each class, got 2. Pass class_names=",
    ),
    ({"logits": Z, "labels": [True, False, True, True]}, TypeError, "`labels` must be integers, got bool"),
    ({"logits": Z, "labels": [0, 1]}, ValueError, r"`labels` must have shape \(4,\)"),
    ({"logits": Z, "features": np.zeros((3, 2))}, ValueError, r"`features` must have shape \(4, any\)"),
    ({"logits": Z, "features": np.full((4, 2), np.inf)}, ValueError, "`features` must be finite, got inf in 4 of 4"),
    ({"logits": Z, "weight": np.zeros((2, 2))}, ValueError, r"`weight` must have shape \(3, any\)"),
    ({"logits": Z, "weight": np.zeros((3, 5)), "features": np.zeros((4, 2))}, ValueError, r"shape \(3, 2\)"),
    ({"logits": Z, "weight": np.full((3, 2), np.nan)}, ValueError, "`weight` must be finite"),
    ({"logits": Z, "bias": np.zeros(2)}, ValueError, r"`bias` must have shape \(3\)"),
    ({"logits": Z, "bias": np.array([0, np.nan, 0])}, ValueError, "`bias` must be finite, got nan in 1 of 3"),
    ({"logits": Z, "shift": "fog"}, ValueError, "`shift` must be one of none, covariate, label, got 'fog' in row 0"),
    ({"logits": Z, "shift": [0, 1, 1, 0]}, TypeError, "`shift` must be strings"),
    (
        {"logits": Z, "labels": [0, 1, -1, 0], "shift": "none"},
        ValueError,
        "got shift 'none' with label -1 in row 2",
    ),
    (
        {"logits": Z, "labels": [0, 1, 1, 0], "shift": ["none", "label", "none", "none"]},
        ValueError,
        "got shift 'label' with label 1 in row 1",
    ),
    ({"logits": Z, "domain": ["a"]}, ValueError, r"`domain` must have shape \(4,\)"),
    ({"logits": Z, "ids": [0.5, 1, 2, 3]}, TypeError, "`ids` must be strings or integers"),
    ({"logits": Z, "class_names": ["a", "b"]}, ValueError, "`class_names` must name the 3 classes, got 2"),
    ({"logits": Z, "class_names": ["a", "b", "a"]}, ValueError, "`class_names` must be distinct, got 'a' twice"),
    ({"logits": Z, "class_names": "abc"}, TypeError, "`class_names` must be a list of names, got the string 'abc'"),
    ({"logits": Z, "nonfinite": "drop"}, ValueError, "`nonfinite` must be 'error' or 'reject'"),
]


@pytest.mark.parametrize(("fields", "error", "message"), BAD)
def test_bad_input_is_named(fields, error, message):
    with pytest.raises(error, match=message):
        Outputs(**fields)


def test_a_masked_class_is_legal():
    assert Outputs(logits=[[1.0, -np.inf], [0.0, 1.0]]).usable.all()


def test_nonfinite_rows_can_be_kept_as_rejected_errors():
    outputs = Outputs(logits=[[np.nan, 1.0], [1.0, 0.0]], labels=[0, 0], nonfinite="reject")
    assert outputs.usable.tolist() == [False, True]
    assert outputs.predictions.tolist() == [-1, 0]
    assert outputs.errors.tolist() == [True, False]
    assert outputs.select([0]).errors.tolist() == [True]


def test_errors_need_labels():
    with pytest.raises(ValueError, match="`outputs` must have labels for their errors to be known"):
        _ = Outputs(logits=Z).errors


def test_select_takes_masks_and_indices():
    outputs = Outputs(logits=Z, labels=[0, 1, 2, -1], ids=list("abcd"))
    assert outputs.select([3, 0]).ids.tolist() == ["d", "a"]
    assert outputs.select(np.array([True, False, False, True])).labels.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([True], ValueError, r"`rows` as a mask must have shape \(4,\)"),
        ([0.5], TypeError, "`rows` must be a mask or a list of indices"),
        ([False] * 4, ValueError, "`rows` must select at least one row"),
        ([], ValueError, "`rows` must select at least one row"),
        ([0, 99], IndexError, r"`rows` must be below the number of rows \(4\), got 99"),
    ],
)
def test_select_refuses_nonsense(rows, error, message):
    with pytest.raises(error, match=message):
        Outputs(logits=Z).select(rows)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_split_keeps_clusters_whole_and_loses_nothing(fraction):
    rng = np.random.default_rng(0)
    ids = rng.integers(200, size=1000)
    outputs = Outputs(logits=rng.normal(size=(1000, 3)), ids=ids)
    first, second = outputs.split(fraction, seed=3)
    assert not set(first.ids) & set(second.ids)
    assert len(first) + len(second) == 1000
    assert len(first) == pytest.approx(1000 * fraction, abs=20)
    again, _ = outputs.split(fraction, seed=3)
    np.testing.assert_array_equal(first.logits, again.logits)
    other, _ = outputs.split(fraction, seed=4)
    assert set(other.ids) != set(first.ids)


def test_split_without_ids_is_exact():
    first, second = Outputs(logits=Z).split(0.25)
    assert (len(first), len(second)) == (1, 3)


def test_split_refuses_what_cannot_be_split():
    with pytest.raises(ValueError, match="`fraction` must be between 0 and 1, got 1"):
        Outputs(logits=Z).split(1)
    with pytest.raises(ValueError, match="at least 2 different samples"):
        Outputs(logits=Z, ids=["a"] * 4).split(0.5)


def test_concat_joins_rows_and_keeps_the_head():
    weight = np.ones((3, 2))
    a = Outputs(logits=Z, labels=[0, 1, 2, 2], weight=weight, domain="a", class_names=list("xyz"))
    b = Outputs(logits=Z, labels=[-1] * 4, weight=weight, domain="bbb", class_names=list("xyz"))
    joined = Outputs.concat([a, b])
    assert len(joined) == 8
    assert joined.domain.tolist() == ["a"] * 4 + ["bbb"] * 4
    assert joined.shift.tolist() == ["none"] * 4 + ["label"] * 4
    assert joined.class_names == ("x", "y", "z")


def test_concat_refuses_different_classifiers():
    a = Outputs(logits=Z, weight=np.ones((3, 2)))
    with pytest.raises(ValueError, match="`weight` must be given in all parts or in none, got a difference in part 1"):
        Outputs.concat([a, Outputs(logits=Z)])
    with pytest.raises(ValueError, match="`weight` must be the same in all parts, got another in part 1"):
        Outputs.concat([a, Outputs(logits=Z, weight=np.zeros((3, 2)))])
    with pytest.raises(ValueError, match="`logits` must have 3 columns in all parts, got 2 in part 1"):
        Outputs.concat([Outputs(logits=Z), Outputs(logits=Z[:, :2])])
    with pytest.raises(TypeError, match="`ids` must be strings in all parts or numbers in all"):
        Outputs.concat([Outputs(logits=Z, ids=[1, 2, 3, 4]), Outputs(logits=Z, ids=list("abcd"))])
    with pytest.raises(ValueError, match="`parts` must hold at least one"):
        Outputs.concat([])


def test_check_head_measures_the_deviation():
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=(50, 4)), rng.normal(size=(3, 4)), rng.normal(size=3)
    z = x @ w.T + b
    assert Outputs(logits=z, features=x, weight=w, bias=b).check_head().agrees
    z[17, 2] += 0.5
    check = Outputs(logits=z, features=x, weight=w, bias=b).check_head()
    assert not check.agrees
    assert check.row == 17
    assert check.deviation == pytest.approx(0.5)
    assert "does NOT make" in str(check)


def test_check_head_needs_features_and_weight():
    with pytest.raises(ValueError, match="`features and weight` must be given"):
        Outputs(logits=Z).check_head()


def test_repr_tells_what_is_there():
    text = repr(Outputs(logits=Z, labels=[0, 1, -1, 0]))
    assert text == "Outputs(n=4, classes=3, with logits, labels; shift: 1 label, 3 none)"


def test_rows_are_taken_as_by_numpy_and_viewed_where_they_follow_each_other():
    z = np.arange(24.0).reshape(12, 2)
    outputs = Outputs(logits=z, labels=np.zeros(12, dtype=int), ids=np.arange(12))
    for rows in (slice(3, 9), slice(None, None, -2), np.arange(12) % 3 == 0, [5, 1, 1], 7, -2):
        np.testing.assert_array_equal(outputs[rows].logits, np.atleast_2d(z[rows]))
    assert np.shares_memory(outputs[2:7].logits, outputs.logits)
    assert np.shares_memory(outputs.select((np.arange(12) > 3) & (np.arange(12) < 9)).logits, outputs.logits)
    assert not outputs[[1, 3]].logits.flags.writeable


def test_rows_that_were_checked_are_not_checked_again(monkeypatch):
    outputs = Outputs(logits=np.random.default_rng(0).normal(size=(9, 3)), labels=np.zeros(9, dtype=int))
    monkeypatch.setattr("abstain.outputs.outputs.checked_fields", None)
    parts = outputs[:4], outputs[outputs.labels == 0], *outputs.split(0.5)
    assert [len(part) for part in parts][:2] == [4, 9]
    assert len(Outputs.concat(parts)) == sum(map(len, parts))


def test_what_is_known_of_the_rows_stays_true():
    z = np.random.default_rng(0).normal(size=(6, 3))
    outputs = Outputs(logits=z, labels=np.zeros(6, dtype=int))
    abstain.scores.SCORES["max_softmax"](outputs)
    with pytest.raises(ValueError, match="read-only"):
        outputs.predictions[:] = 0
    masked = z.copy()
    masked[2] = -np.inf  # not usable, so that it masks nothing
    assert not Outputs(logits=masked, nonfinite="reject").is_masked
    masked[2, 0] = 1.0
    rows = Outputs(logits=masked)
    assert rows.is_masked
    assert rows[2:3].is_masked
    assert not rows[:2].is_masked
    assert Outputs.concat([rows[:2], rows[2:]]).is_masked
    signed, unsigned = (Outputs(logits=z, ids=np.arange(6, dtype=kind)) for kind in (np.int64, np.uint64))
    with pytest.raises(TypeError, match="`ids` must have one integer type in all parts, got uint64 in part 1"):
        Outputs.concat([signed, unsigned])


LOGITS = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2], [0, 0, 3]])


@pytest.mark.parametrize("kind", [list, np.array, lambda names: np.array(names, dtype=object)])
def test_labels_may_be_names_of_classes(kind):
    names = kind(["cat", "ant", "dog", "fish"])
    outputs = Outputs(logits=LOGITS, labels=names, class_names=np.array(["cat", "ant", "dog"]))
    assert outputs.labels.tolist() == [0, 1, 2, -1]
    assert outputs.shift.tolist() == ["none", "none", "none", "label"]
    assert outputs.class_names == ("cat", "ant", "dog")


def test_names_alone_are_in_sorted_order():
    outputs = Outputs(logits=LOGITS, labels=["ant", "cat", "dog", "ant"])
    assert outputs.class_names == ("ant", "cat", "dog")
    assert outputs.errors.tolist() == [False, False, False, True]


def test_names_alone_are_refused_where_the_columns_are_in_another_order():
    with pytest.raises(
        ValueError, match=r"sorted order, ant, cat, dog, got 50\.0% right answers where another .*100\.0%"
    ):
        Outputs(logits=LOGITS, labels=["cat", "ant", "dog", "dog"])


def test_names_of_which_none_is_known_are_refused():
    message = r"among the classes cat, ant, dog, got 'Cat' and no name that is one. Did you mean cat\?"
    with pytest.raises(ValueError, match=message):
        Outputs(logits=LOGITS, labels=["Cat", "Ant", "Dog", "Dog"], class_names=["cat", "ant", "dog"])


@pytest.mark.parametrize("names", [np.array([-1, 1]), [-1, 1], np.array([-1.0, 1.0])])
def test_integer_classes_are_what_integer_labels_name(names):
    outputs = Outputs(logits=[[2.0, 0.0], [0.0, 1.0], [0.0, 3.0]], labels=[-1, 1, -7], class_names=names)
    assert outputs.labels.tolist() == [0, 1, -1]
    assert outputs.errors.tolist() == [False, False, True]
    assert outputs.shift.tolist() == ["none", "none", "label"]


def test_integer_classes_in_another_order_are_followed_and_saved(tmp_path):
    outputs = Outputs(logits=2 * np.eye(3), labels=[2, 0, 1], class_names=[2, 0, 1])
    outputs.save(tmp_path / "o")
    again = Outputs.load(tmp_path / "o")
    assert not outputs.errors.any()
    assert again.labels.tolist() == outputs.labels.tolist() == [0, 1, 2]
    assert again.class_names == ("2", "0", "1")


def test_an_integer_label_that_is_no_class_is_named():
    with pytest.raises(ValueError, match=r"`labels` must be among the classes 2, 5, got 1 in row 1. Use a negative"):
        Outputs(logits=2 * np.eye(2), labels=[2, 1], class_names=[2, 5])


def test_names_in_writing_leave_class_numbers():
    assert Outputs(logits=2 * np.eye(2), labels=[0, 1], class_names=["1", "0"]).labels.tolist() == [0, 1]


def test_two_classes_that_seem_to_be_called_by_their_signs_are_warned_of():
    labels = np.tile([-1, 1], 20)
    with pytest.warns(UserWarning, match=r"pass class_names=\[-1, 1\]"):
        Outputs(logits=np.zeros((40, 2)), labels=labels)
    named = Outputs(logits=np.zeros((40, 2)), labels=labels, class_names=[-1, 1])
    assert named.errors.mean() == 0.5
