"""Arrays that NumPy reads with a loss: taken as they are meant, or refused in one line."""

import numpy as np
import pytest

from abstain import Outputs, scores
from abstain.metrics import aurc
from abstain.sketch import Sketch
from abstain.thresholds import target_coverage

LOGITS = np.array([[2.0, 0.0], [0.5, 1.0], [0.0, 3.0]])
LARGE = np.array([2**53 + 1, 2**53, 5])
WRONG = np.array([0, 1, 0])


def masked(values):
    return np.ma.masked_array(values, mask=np.arange(np.size(values)).reshape(np.shape(values)) == 1)


@pytest.mark.parametrize(
    "use",
    [
        lambda: Outputs(logits=masked(LOGITS)),
        lambda: Outputs(logits=LOGITS, labels=masked([0, 1, 1])),
        lambda: Outputs(confidences={"a": masked([0.5, 0.1, 0.2])}, errors=WRONG),
        lambda: scores.energy(masked(LOGITS)),
        lambda: aurc(masked([0.5, 0.1, 0.2]), WRONG),
        lambda: aurc(np.array([0.5, 0.1, 0.2]), masked(WRONG)),
        lambda: target_coverage(masked([0.5, 0.1, 0.2]), coverage=0.5),
        lambda: Sketch.of(masked([0.5, 0.1, 0.2]), WRONG),
    ],
)
def test_a_mask_is_never_ignored(use):
    with pytest.raises(
        ValueError, match=r"` must have a value everywhere, got 1 masked values. Drop these rows, or fill"
    ):
        use()


def test_a_mask_that_hides_nothing_is_taken():
    assert len(Outputs(logits=np.ma.masked_array(LOGITS))) == 3


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.longdouble])
@pytest.mark.parametrize(
    "use",
    [
        lambda values: Outputs(confidences={"a": values}, errors=WRONG),
        lambda values: aurc(values, WRONG),
        lambda values: target_coverage(values, coverage=0.5),
        lambda values: Sketch.of(values, WRONG),
    ],
)
def test_different_confidences_never_tie_by_rounding(use, kind):
    if kind is np.longdouble and np.finfo(kind).nmant == 52:
        pytest.skip("no wider floats here")
    with pytest.raises(
        ValueError, match=r"` must be exact in float64, got 9007199254740993(\.0)? in row 0. Pass ranks"
    ):
        use(LARGE.astype(kind))
    use((LARGE - 1).astype(kind))


def test_bfloat16_is_taken_exactly_and_sparse_matrices_are_refused():
    torch = pytest.importorskip("torch")
    result = Outputs(logits=torch.tensor(LOGITS, dtype=torch.bfloat16, requires_grad=True))
    assert result.logits.dtype == np.float32
    np.testing.assert_array_equal(result.logits, LOGITS)
    with pytest.raises(TypeError, match=r"`features` must be a dense array, got a sparse one. .* with .to_dense\(\)"):
        Outputs(logits=LOGITS, features=torch.tensor(LOGITS).to_sparse())


def test_a_sparse_matrix_is_refused_in_one_line():
    sparse = pytest.importorskip("scipy.sparse")
    for kind in (sparse.csr_matrix, sparse.coo_array):
        with pytest.raises(TypeError, match=r"`logits` must be a dense array, got a sparse one. .* with .toarray\(\)"):
            Outputs(logits=kind(LOGITS))
