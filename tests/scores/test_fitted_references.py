"""Each fitted score against an independent re-derivation: scikit-learn, SciPy, or plain loops."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax
from sklearn import decomposition
from sklearn.covariance import ledoit_wolf
from sklearn.neighbors import NearestNeighbors

from abstain import Outputs
from abstain.metrics import aurc
from abstain.scores import (
    ASH,
    CTM,
    DICE,
    FDBD,
    KNN,
    MDS,
    NCI,
    PCA,
    RAS,
    RMDS,
    SCALE,
    SCORES,
    SHE,
    SIRC,
    DeltaKNN,
    DeltaMDS,
    FeatureNorm,
    KLMatching,
    MarginMix,
    MaxLogitPNorm,
    NNGuide,
    ReAct,
    Residual,
    TemperatureScaled,
    ViM,
    confidence_margin,
    gen,
    max_logit_pnorm,
    max_softmax,
    pairwise_margin,
)
from abstain.scores.covariance import estimated_covariance
from abstain.scores.held_out import dealt
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import MaxSoftmax
from abstain.scores.score import FittedScore
from abstain.scores.sirc import FittedSIRC

W = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]])
B = np.array([0.5, -1, 0.25])
X = np.array([[1, 1, 0.5]])
Z = X @ W.T + B
V = np.array([[2, 1, 0.1, -1]])


def make(n, seed, *, k=4, d=9):
    rng = np.random.default_rng(seed)
    weight, bias = np.random.default_rng(77).normal(size=(k, d)), np.random.default_rng(78).normal(size=k)
    x = rng.normal(size=(n, d)) * np.linspace(0.2, 2, d) + 0.3
    z = x @ weight.T + bias
    labels = np.where(rng.random(n) < 0.75, z.argmax(1), rng.integers(k, size=n))
    return Outputs(logits=z, labels=labels, features=x, weight=weight, bias=bias)


CAL, OUT = make(150, 1), make(80, 2)
FEW, WIDE = make(30, 1, d=80), make(60, 2, d=80)  # fewer rows than features


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


# Vectors


def test_knn_vector():
    bank = Outputs(logits=np.zeros((4, 2)), features=np.array([[1.0, 0], [0, 1], [1, 1], [-1, 0]]))
    query = Outputs(logits=np.zeros((1, 2)), features=np.array([[2.0, 1.0]]))
    expected = [0.1026334, 0.21114562, 1.10557281, 3.78885438]
    result = [-KNN(k=k).fit(bank)(query)[0] for k in (1, 2, 3, 4)]
    assert result == pytest.approx(expected, abs=1e-7)
    assert result[1] == pytest.approx(0.21114561800017, rel=1e-12)


def test_sirc_vector():
    class Secondary(FittedScore):
        def formula(self, inputs):
            return np.full(len(inputs.logits), -1.2)

    result = FittedSIRC((Secondary(),), np.array([-2.0]), np.array([2.5]), 0.0).formula(
        Inputs(np.array([[30.0, 5, 4, 0]]))
    )
    assert result[0] == pytest.approx(24.5548965597287, rel=1e-13)


def test_pairwise_margin_vector():
    assert pairwise_margin(Z, W)[0] == pytest.approx(0.2041241452, rel=1e-9)


def test_fdbd_vector():
    calibration = Outputs(logits=np.zeros((1, 3)), features=np.array([[0.2, 0.1, 0.4]]), weight=W)
    result = FDBD().fit(calibration)(Outputs(logits=Z, features=X))[0]
    assert result == pytest.approx(0.3948193805, rel=1e-9)
    assert 2 * result == pytest.approx(0.7896387611, rel=1e-9)  # the sum that OpenOOD prints


@pytest.mark.parametrize(
    ("p", "expected"), [(2, 0.6658277112), (3, 0.7732999637), (4, 0.8248440783), (np.inf, 0.9672131148)]
)
def test_pnorm_vectors(p, expected):
    assert max_logit_pnorm(V, p=p)[0] == pytest.approx(expected, rel=1e-9)


def test_gen_vectors():
    assert gen(V, top=4)[0] == pytest.approx(-3.194639386, rel=1e-9)
    assert gen(V, top=3)[0] == pytest.approx(-2.488653194, rel=1e-9)


# Re-derivations


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("space", ["features", "logits"])
def test_knn_agrees_with_scikit_learn(k, space):
    bank, queries = (unit(getattr(o, space)) for o in (CAL, OUT))
    distances, _ = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(bank).kneighbors(queries)
    np.testing.assert_allclose(KNN(k=k, space=space).fit(CAL)(OUT), -(distances[:, -1] ** 2), rtol=1e-7)


def residual_by_svd(calibration, outputs, dim):
    origin = -np.linalg.pinv(calibration.weight) @ calibration.bias
    _, _, vt = np.linalg.svd(calibration.features - origin)
    outside = vt[dim:]
    return np.linalg.norm((outputs.features - origin) @ outside.T, axis=1)


@pytest.mark.parametrize("dim", [0, 3, 8])
def test_residual_agrees_with_a_singular_value_decomposition(dim):
    np.testing.assert_allclose(Residual(dim).fit(CAL)(OUT), -residual_by_svd(CAL, OUT, dim), rtol=1e-8)


@pytest.mark.parametrize("dim", [0, 1, 7, 30])
def test_residual_of_few_rows_agrees_too(dim):
    np.testing.assert_allclose(Residual(dim).fit(FEW)(WIDE), -residual_by_svd(FEW, WIDE, dim), rtol=1e-8)


def test_rows_that_lie_in_the_subspace_have_no_residual():
    np.testing.assert_allclose(Residual(30).fit(FEW)(FEW), 0.0, atol=1e-13)


def test_the_subspace_has_half_the_dimensions_by_default():
    np.testing.assert_allclose(Residual().fit(CAL)(OUT), -residual_by_svd(CAL, OUT, 4), rtol=1e-8)
    np.testing.assert_allclose(Residual().fit(FEW)(WIDE), -residual_by_svd(FEW, WIDE, 15), rtol=1e-8)


def test_the_origin_is_found_where_the_head_has_dependent_rows():
    """Weights that add up to zero, as softmax heads often do."""
    weight = CAL.weight - CAL.weight.mean(0)
    sample = Outputs(logits=CAL.logits, features=CAL.features, weight=weight, bias=CAL.bias)
    expected = -np.linalg.pinv(weight, rcond=1e-10) @ CAL.bias
    np.testing.assert_allclose(Residual(3).fit(sample).origin, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["knn", "knn_logits", "vim", "residual", "react", "nnguide", "rmds", "delta_mds", "delta_knn"]
)
def test_float32_outputs_are_scored_as_exactly_as_the_same_numbers_in_float64(name):
    """A fit in float64 scores float32 rows; neighbours, which round the rows as the bank, are fitted on float32."""
    out = make(70, 3, k=30, d=96)
    arrays = {name: getattr(out, name).astype(np.float32) for name in ("logits", "features", "weight", "bias")}
    wide = {name: array.astype(np.float64) for name, array in arrays.items()}
    cal = make(200, 4, k=30, d=96)
    if name in ("knn", "knn_logits", "nnguide", "delta_knn"):
        bank = {name: getattr(cal, name).astype(np.float32) for name in arrays}
        cal = Outputs(**bank, labels=cal.labels)
    fitted = SCORES[name].fit(cal)
    np.testing.assert_allclose(fitted(Outputs(**arrays)), fitted(Outputs(**wide)), rtol=1e-12, atol=1e-12)


def residual_by_others(calibration, dim):
    """Of each row of the sample by the axes of the nine tenths that it is not in."""
    fold, result = dealt(calibration, number=10), np.empty(len(calibration))
    for number in range(10):
        others, here = calibration.select(fold != number), calibration.select(fold == number)
        result[fold == number] = residual_by_svd(others, here, dim)
    return result


def test_vim_by_hand():
    residual, bank_residual = residual_by_svd(CAL, OUT, 4), residual_by_others(CAL, 4)
    alpha = CAL.logits.max(1).mean() / bank_residual.mean()
    np.testing.assert_allclose(ViM().fit(CAL)(OUT), logsumexp(OUT.logits, axis=1) - alpha * residual, rtol=1e-8)


def test_sirc_literal_is_the_papers_formula():
    s2, bank = -residual_by_svd(CAL, OUT, 4), -residual_by_others(CAL, 4)
    a, b = bank.mean() - 3 * bank.std(), 1 / bank.std()
    expected = -(1 - softmax(OUT.logits, axis=1).max(1)) * (1 + np.exp(-b * (s2 - a)))
    result = SCORES["sirc"].literal(SIRC().fit(CAL)(OUT))
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_sirc_with_two_secondary_scores_subtracts_both_penalties():
    both = SIRC((Residual(), KNN())).fit(CAL)(OUT)
    single, other = (SIRC((s,)).fit(CAL)(OUT) for s in (Residual(), KNN()))
    odds = np.logaddexp(0, max_softmax(OUT.logits))
    np.testing.assert_allclose(both - odds, (single - odds) + (other - odds), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["energy", "confidence_margin", "geometric_margin"])
def test_react_by_hand(name):
    clip = np.quantile(CAL.features, 0.9)
    clipped = np.minimum(OUT.features, clip) @ OUT.weight.T + OUT.bias
    expected = SCORES[name](Outputs(logits=clipped, weight=OUT.weight))
    np.testing.assert_allclose(ReAct(score=SCORES[name]).fit(CAL)(OUT), expected, rtol=1e-9)


def of_features(o, x):
    """The same outputs with other features, and the logits that the head makes of them."""
    return Outputs(logits=x @ o.weight.T + o.bias, labels=o.labels, features=x, weight=o.weight, bias=o.bias)


def rectified(o):
    return of_features(o, np.maximum(o.features, 0))


INNER = pytest.mark.parametrize("inner", ["energy", "confidence_margin", "geometric_margin", "max_softmax"])
RECTIFIED = pytest.mark.parametrize("change", [rectified, lambda o: o], ids=["rectified", "any sign"])


def inner_score(name, x, o):
    return SCORES[name](Outputs(logits=x @ o.weight.T + o.bias, weight=o.weight))


@INNER
@RECTIFIED
@pytest.mark.parametrize("pruned", [0, 0.3, 0.65, 0.9, 0.99])
def test_ash_and_scale_by_hand(inner, change, pruned):
    o = change(OUT)
    left, scaled = np.zeros_like(o.features), np.zeros_like(o.features)
    for row, x in enumerate(o.features):
        k = max(1, len(x) - round(pruned * len(x)))
        top = sorted(range(len(x)), key=lambda j, x=x: -x[j])[:k]
        factor = np.exp(sum(x) / sum(x[j] for j in top)) if sum(x[j] for j in top) > 0 else 0.0
        left[row, top] = factor * x[top]
        scaled[row] = factor * x
    for score, x in ((ASH, left), (SCALE, scaled)):
        expected = inner_score(inner, x, o)
        np.testing.assert_allclose(score(pruned=pruned, score=SCORES[inner])(o), expected, rtol=1e-9, atol=1e-12)


@INNER
def test_dice_by_hand(inner):
    o = rectified(CAL)
    mean = [sum(column) / len(column) for column in o.features.T]
    contributions = sorted(o.weight[k, j] * mean[j] for k in range(4) for j in range(9))
    last = contributions[int(0.7 * 35)]  # 0.7 is not at a place of the 36
    weight = np.array([[w if w * m > last else 0 for w, m in zip(row, mean, strict=True)] for row in o.weight])
    assert np.count_nonzero(weight) == 11
    expected = SCORES[inner](Outputs(logits=OUT.features @ weight.T + OUT.bias, weight=weight))
    np.testing.assert_allclose(DICE(pruned=0.7, score=SCORES[inner]).fit(o)(OUT), expected, rtol=1e-9)


@INNER
@pytest.mark.parametrize("decimals", [12, 0], ids=["distinct", "ties"])
def test_ras_by_hand(inner, decimals):
    """A feature gets the mean of the profile over all places it could have among its equals."""
    cal, out = (of_features(o, np.round(o.features, decimals)) for o in (CAL, OUT))
    profile = np.mean([sorted(x) for x in cal.features], axis=0)
    shifted = np.array([[np.mean(profile[sum(x < v) : sum(x <= v)]) for v in x] for x in out.features])
    expected = inner_score(inner, shifted, out)
    np.testing.assert_allclose(RAS(score=SCORES[inner]).fit(cal)(out), expected, rtol=1e-9, atol=1e-12)


def test_ras_does_not_depend_on_where_a_feature_is_stored():
    def permuted(o):
        order = [4, 0, 8, 2, 6, 1, 3, 7, 5]
        return Outputs(logits=o.logits, features=np.round(o.features)[:, order], weight=o.weight[:, order], bias=o.bias)

    cal, out = (of_features(o, np.round(o.features)) for o in (CAL, OUT))
    np.testing.assert_allclose(RAS().fit(permuted(CAL))(permuted(OUT)), RAS().fit(cal)(out), rtol=1e-12)


@INNER
@pytest.mark.parametrize("n", [150, 6], ids=["more rows than features", "fewer"])
@pytest.mark.parametrize("variance", [0.5, 0.9, 1.0])
def test_pca_agrees_with_scikit_learn(inner, n, variance):
    cal = CAL.select(np.arange(n))
    axes = decomposition.PCA(svd_solver="full").fit(cal.features)
    m = np.searchsorted(np.cumsum(axes.explained_variance_ratio_), variance - 1e-12) + 1
    reference = decomposition.PCA(n_components=int(m), svd_solver="full").fit(cal.features)
    projected = reference.inverse_transform(reference.transform(OUT.features))
    along = OUT.weight @ reference.components_.T  # in which distances are measured
    expected = SCORES[inner](Outputs(logits=projected @ OUT.weight.T + OUT.bias, weight=along))
    result = PCA(variance=variance, score=SCORES[inner]).fit(cal)(OUT)
    np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-9)


def test_kl_matching_agrees_with_scipy():
    from scipy.stats import entropy

    p, q = softmax(CAL.logits, axis=1), softmax(OUT.logits, axis=1)
    typical = [p[CAL.predictions == k].mean(0) for k in range(4)]
    expected = [-min(entropy(row, d) for d in typical) for row in q]
    np.testing.assert_allclose(KLMatching().fit(CAL)(OUT), expected, rtol=1e-9, atol=1e-12)


def test_kl_matching_of_confident_rows_agrees_with_mpmath():
    import mpmath

    cal, out = (Outputs(logits=30 * o.logits[:20]) for o in (CAL, OUT))
    result = KLMatching().fit(cal)(out)

    def probabilities(z):
        powers = [mpmath.exp(mpmath.mpf(v) - max(z)) for v in z]
        return [power / mpmath.fsum(powers) for power in powers]

    with mpmath.workdps(400):
        p, q = ([probabilities(z) for z in o.logits.tolist()] for o in (cal, out))
        for row, value in zip(q, result, strict=True):
            divergences = []
            for k in set(cal.predictions.tolist()):
                own = [x for x, predicted in zip(p, cal.predictions, strict=True) if predicted == k]
                typical = [mpmath.fsum(column) / len(own) for column in zip(*own, strict=True)]
                terms = [a * mpmath.log(a / b) for a, b in zip(row, typical, strict=True)]
                divergences.append(mpmath.fsum(terms))
            assert value == pytest.approx(-float(min(divergences)), rel=1e-9, abs=1e-12)


def test_kl_matching_ranks_rows_near_their_class_as_mpmath_does():
    """Of rows as typical as can be, divergences of 1e-15 and less, entropy and likelihood cancel."""
    import mpmath

    rng = np.random.default_rng(5)
    typical = np.array([[3.0, 1.0, 0.0, -1.0], [0.0, 4.0, -2.0, 1.0]])
    nearness = 10.0 ** rng.uniform(-9, -1, size=(60, 1))
    near = typical[rng.integers(2, size=60)] + nearness * rng.normal(size=(60, 4))
    result = KLMatching().fit(Outputs(logits=typical))(Outputs(logits=near))

    def logs(z):
        total = mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(v)) for v in z))
        return [mpmath.mpf(v) - total for v in z]

    with mpmath.workdps(50):
        classes = [logs(z) for z in typical.tolist()]
        rows = [logs(z) for z in near.tolist()]
        exact = [
            -min(mpmath.fsum(mpmath.exp(a) * (a - b) for a, b in zip(row, d, strict=True)) for d in classes)
            for row in rows
        ]
        assert np.argsort(result).tolist() == sorted(range(60), key=lambda i: exact[i])
    np.testing.assert_allclose(result, np.array(exact, dtype=float), rtol=1e-5)


def test_the_first_norm_ties_rows_of_one_class_above_the_mean_whatever_the_order_of_classes():
    """There max c is half of Σ|c|, exactly, and rounding is no rank."""
    z = np.random.default_rng(6).normal(size=(2000, 3)) * 7
    alone = ((z - z.mean(axis=1, keepdims=True)) > 0).sum(axis=1) == 1
    errors = np.random.default_rng(7).random(2000) < 0.3
    torch = pytest.importorskip("torch")
    for logits in (z, z.astype(np.float32), torch.tensor(z)):
        for order in ([0, 1, 2], [2, 0, 1]):
            result = np.asarray(max_logit_pnorm(logits[:, order], p=1))
            assert (result[alone] == 0.5).all()
            assert aurc(result, errors) == pytest.approx(aurc(np.asarray(max_logit_pnorm(z, p=1)), errors), abs=1e-4)
    expected = (z - z.mean(axis=1, keepdims=True)).max(axis=1) / np.abs(z - z.mean(axis=1, keepdims=True)).sum(axis=1)
    np.testing.assert_allclose(max_logit_pnorm(z, p=1), expected, rtol=1e-12)


def test_she_by_hand():
    fitted = SHE().fit(CAL)
    for x, k, result in zip(OUT.features, OUT.predictions, fitted(OUT), strict=True):
        mean = CAL.features[(CAL.predictions == k) & (CAL.labels == k)].mean(0)
        assert result == pytest.approx(x @ mean, rel=1e-12)


def test_she_takes_the_mean_of_all_where_a_class_has_no_correct_sample():
    some = CAL.select((CAL.predictions != 2) | CAL.errors)
    own = OUT.select(OUT.predictions == 2)
    expected = own.features @ some.features[~some.errors].mean(0)
    np.testing.assert_allclose(SHE().fit(some)(own), expected, rtol=1e-12)


def test_ctm_by_hand():
    means = [CAL.features[CAL.labels == k].mean(0) for k in range(4)]
    expected = [max(x @ m / np.linalg.norm(x) / np.linalg.norm(m) for m in means) for x in OUT.features]
    np.testing.assert_allclose(CTM().fit(CAL)(OUT), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.001, 0.5])
def test_nci_by_hand(alpha):
    result = NCI(alpha=alpha).fit(CAL)(OUT)
    for x, k, value in zip(OUT.features, OUT.predictions, result, strict=True):
        apart = x - CAL.features.mean(0)
        expected = OUT.weight[k] @ apart / np.linalg.norm(apart) + alpha * np.abs(x).sum()
        assert value == pytest.approx(expected, rel=1e-9)


def test_the_feature_norm_is_that_of_numpy():
    np.testing.assert_allclose(FeatureNorm()(OUT), np.linalg.norm(OUT.features, ord=1, axis=1))


def test_pnorm_chooses_the_lowest_area_or_softmax():
    areas = {p: aurc(max_logit_pnorm(CAL.logits, p=p), CAL.errors) for p in range(10)}
    fitted = MaxLogitPNorm().fit(CAL)
    softmax_area = aurc(max_softmax(CAL.logits), CAL.errors)
    assert min(areas.values()) < softmax_area
    assert fitted.p == min(areas, key=areas.get)
    fallback = MaxLogitPNorm(norms=(max(areas, key=areas.get),)).fit(CAL)
    np.testing.assert_array_equal(fallback(OUT), max_softmax(OUT.logits))


def test_pairwise_margin_is_the_distance_to_the_boundary():
    """Walking that far towards the nearest boundary makes two logits equal, and no shorter walk does."""
    result = pairwise_margin(OUT.logits, OUT.weight)
    for x, z, distance in zip(OUT.features, OUT.logits, result, strict=True):
        own = z.argmax()
        lengths = []
        for j in set(range(len(z))) - {own}:
            direction = OUT.weight[j] - OUT.weight[own]
            lengths.append((z[own] - z[j]) / np.linalg.norm(direction))
        nearest = min(lengths)
        assert distance == pytest.approx(nearest)
        j = [j for j in range(len(z)) if j != own][int(np.argmin(lengths))]
        step = (OUT.weight[j] - OUT.weight[own]) / np.linalg.norm(OUT.weight[j] - OUT.weight[own])
        moved = (x + distance * step) @ OUT.weight.T + OUT.bias
        assert moved[own] == pytest.approx(moved[j])


def test_pairwise_margin_agrees_between_numpy_and_torch():
    torch = pytest.importorskip("torch")
    result = pairwise_margin(torch.as_tensor(OUT.logits.copy()), torch.as_tensor(OUT.weight.copy()))
    np.testing.assert_allclose(result, pairwise_margin(OUT.logits, OUT.weight), rtol=1e-12)


@pytest.mark.parametrize("score", [gen, lambda z: max_logit_pnorm(z, p=3)], ids=["gen", "pnorm"])
def test_plain_functions_agree_between_numpy_torch_and_jax(score):
    torch, jnp = pytest.importorskip("torch"), pytest.importorskip("jax.numpy")
    z = OUT.logits.astype(np.float32)
    for make_array in (torch.as_tensor, jnp.asarray):
        result = score(make_array(z))
        assert type(result) is type(make_array(z))
        np.testing.assert_allclose(np.asarray(result), score(z), rtol=1e-4)


def test_gen_by_hand():
    p = -np.sort(-softmax(OUT.logits, axis=1))[:, :3]
    np.testing.assert_allclose(gen(OUT.logits, top=3), -(p**0.1 * (1 - p) ** 0.1).sum(1), rtol=1e-9)


def test_nnguide_by_hand():
    bank = unit(CAL.features) * logsumexp(CAL.logits, axis=1)[:, None]
    guidance = -np.sort(-(unit(OUT.features) @ bank.T), axis=1)[:, :10].mean(1)
    np.testing.assert_allclose(NNGuide().fit(CAL)(OUT), logsumexp(OUT.logits, axis=1) * guidance, rtol=1e-9)


def test_shrinkage_agrees_with_scikit_learn():
    for n in (5, 60, 400):
        x = np.random.default_rng(n).normal(size=(n, 12)) * np.linspace(0.1, 3, 12)
        x -= x.mean(0)
        np.testing.assert_allclose(
            estimated_covariance(x, "ledoit_wolf"), ledoit_wolf(x, assume_centered=True)[0], rtol=1e-9
        )


def mahalanobis(x, mean, covariance):
    apart = x - mean
    return np.einsum("nd,de,ne->n", apart, np.linalg.inv(covariance), apart)


@pytest.mark.parametrize(
    ("covariance", "cal", "out"), [("ledoit_wolf", CAL, OUT), ("empirical", CAL, OUT), ("ledoit_wolf", FEW, WIDE)]
)
@pytest.mark.parametrize("normalize", [False, True])
def test_mds_and_rmds_by_hand(covariance, normalize, cal, out):
    estimate = {
        "ledoit_wolf": lambda x: ledoit_wolf(x, assume_centered=True)[0],
        "empirical": lambda x: np.cov(x.T, bias=True),
    }[covariance]
    x, new = (unit(o.features) if normalize else o.features for o in (cal, out))
    means = {c: x[c == cal.labels].mean(0) for c in np.unique(cal.labels)}
    shared = estimate(x - np.array([means[c] for c in cal.labels]))
    nearest = np.max([-mahalanobis(new, mean, shared) for mean in means.values()], axis=0)
    np.testing.assert_allclose(MDS(covariance, normalize).fit(cal)(out), nearest, rtol=1e-7)
    relative = nearest + mahalanobis(new, x.mean(0), estimate(x - x.mean(0)))
    np.testing.assert_allclose(RMDS(covariance, normalize).fit(cal)(out), relative, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("cal", "out"), [(CAL, OUT), (FEW, WIDE)])
def test_delta_mds_by_hand(cal, out):
    x, y, wrong = cal.features, cal.labels, cal.errors
    means = {(e, c): x[(wrong == e) & (y == c)].mean(0) for e in (False, True) for c in np.unique(y[wrong == e])}
    centred = x - np.array([means[e, c] for e, c in zip(wrong, y, strict=True)])
    shared = ledoit_wolf(centred, assume_centered=True)[0]
    best = {
        e: np.min([mahalanobis(out.features, mean, shared) for (side, _), mean in means.items() if side == e], axis=0)
        for e in (False, True)
    }
    np.testing.assert_allclose(DeltaMDS().fit(cal)(out), best[True] - best[False], rtol=1e-7, atol=1e-8)


def test_delta_knn_by_hand():
    def mean_log(bank):
        d = ((unit(OUT.features)[:, None] - bank[None]) ** 2).sum(2)
        return np.log(np.sort(d, axis=1)[:, :10] + 1e-6).mean(1)

    bank = unit(CAL.features)
    expected = mean_log(bank[CAL.errors]) - mean_log(bank[~CAL.errors])
    np.testing.assert_allclose(DeltaKNN().fit(CAL)(OUT), expected, rtol=1e-8, atol=1e-10)


def test_the_mix_is_its_standardized_parts():
    fitted = MarginMix(DeltaKNN()).fit(CAL)
    base = (DeltaKNN().fit(CAL)(OUT) - fitted.mean[0]) / fitted.spread[0]
    margin = (confidence_margin(OUT.logits) - confidence_margin(CAL.logits).mean()) / confidence_margin(
        CAL.logits
    ).std()
    np.testing.assert_allclose(fitted(OUT), base + fitted.share * margin, rtol=1e-9)


def test_temperature_minimizes_the_log_loss():
    overconfident = Outputs(logits=3 * CAL.logits, labels=CAL.labels)

    def log_loss(temperature):
        return -log_softmax(overconfident.logits / temperature, axis=1)[np.arange(len(CAL)), CAL.labels].mean()

    best = minimize_scalar(log_loss, bounds=(0.5, 20), method="bounded", options={"xatol": 1e-8}).x
    fitted = TemperatureScaled(MaxSoftmax()).fit(overconfident)
    assert fitted.temperature == pytest.approx(best, rel=1e-4)
    np.testing.assert_allclose(fitted(OUT), max_softmax(OUT.logits / fitted.temperature), rtol=1e-9)
