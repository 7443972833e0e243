import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, uniform

from abstain.metrics import aurc, aurc_se
from abstain.scores import SCORES
from abstain_reproduction.gaussians import doubt
from abstain_reproduction.gaussians.cases import COMPARED
from abstain_reproduction.gaussians.mixture import DEVIATION, MEAN, POSTERIOR_SCALE, Mixture
from abstain_reproduction.gaussians.population import Population

SPREADS = [0.0, 0.5, 2.0]


@pytest.mark.parametrize("spread", SPREADS)
def test_tails_are_those_of_a_gaussian_and_a_uniform_variable(spread):
    mixture, size = Mixture(spread), np.array([0.0, 0.3, 1.7])
    for t, beyond in zip(size, mixture.wrong_beyond(size), strict=True):
        expected = norm.sf(t + MEAN, scale=DEVIATION)
        if spread:
            u = uniform(-spread, 2 * spread)
            expected = quad(lambda d, t=t, u=u: norm.sf(t + MEAN - d, scale=DEVIATION) * u.pdf(d), -spread, spread)[0]
        assert beyond == pytest.approx(expected, rel=1e-9)
    total = mixture.right_beyond(np.zeros(1)) + mixture.wrong_beyond(np.zeros(1))
    assert total == pytest.approx(1)


@pytest.mark.parametrize("spread", SPREADS)
def test_densities_are_slopes_of_the_tails(spread):
    mixture, h = Mixture(spread), 1e-5
    size = np.array([0.1, 0.9, 2.0])
    slope = (mixture.right_beyond(size - h) - mixture.right_beyond(size + h)) / (2 * h)
    np.testing.assert_allclose(mixture.right_density(size), slope, rtol=1e-6)


def test_the_margins_area_is_its_integral():
    mixture = Mixture(0.5)

    def integrand(t):
        t = np.array(t)
        right, wrong = mixture.right_beyond(t), mixture.wrong_beyond(t)
        slope = 2 * (right + wrong) * (mixture.right_density(t) + mixture.wrong_density(t))
        return wrong * (2 * right + wrong) / (right + wrong) ** 2 * slope

    exact = quad(integrand, 0, mixture.largest, epsabs=1e-12, limit=200)[0]
    assert Population(mixture, None).curve().aurc == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("name", COMPARED)
def test_a_point_of_the_curve_is_a_sum_over_a_fine_grid(name):
    mixture, corner = Mixture(0.5), 0.4
    population = Population(mixture, COMPARED[name])
    side = 1500
    edges = np.linspace(0, mixture.largest, side + 1)
    right, wrong = (-np.diff(beyond(edges)) for beyond in (mixture.right_beyond, mixture.wrong_beyond))
    middle = (edges[1:] + edges[:-1]) / 2
    grid = np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2)
    accepted = population.confidence(grid) > population.confidence(np.array([[corner, corner]]))
    mass = np.outer(right + wrong, right + wrong).ravel()
    errors = mass - np.outer(right, right).ravel()
    mass_accepted, wrong_accepted = population._accepted(np.array([corner]))
    assert mass_accepted[0] == pytest.approx(mass[accepted].sum(), abs=3e-3)
    assert wrong_accepted[0] == pytest.approx(errors[accepted].sum(), abs=1e-3)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("name", COMPARED)
def test_a_sample_ranked_by_the_library_agrees(name, spread):
    sample = Mixture(spread).draw(50_000, seed=3)
    confidence, errors = SCORES[name].fit(sample)(sample), sample.errors
    population = Population(Mixture(spread), COMPARED[name])
    assert abs(aurc(confidence, errors) - population.curve().aurc) < 4 * aurc_se(confidence, errors)
    ranked = np.argsort(confidence, kind="stable")
    assert (np.diff(population.confidence(sample.features)[ranked]) > -1e-9).all()


def test_softmax_at_the_right_scale_is_the_posterior():
    mixture = Mixture()
    best, softmax = (
        Population(mixture, each).curve() for each in (doubt.posterior(mixture), doubt.max_softmax(POSTERIOR_SCALE))
    )
    assert best.aurc == pytest.approx(softmax.aurc, rel=1e-6)


@pytest.mark.parametrize("spread", SPREADS)
def test_no_score_is_better_than_the_posterior(spread):
    mixture = Mixture(spread)
    best = Population(mixture, doubt.posterior(mixture)).curve().aurc
    others = [*COMPARED.values(), doubt.energy(1.0), doubt.small_scale_variance(), doubt.neg_entropy(8.0)]
    assert all(Population(mixture, each).curve().aurc >= best - 1e-7 for each in others)


@pytest.mark.parametrize(("name", "limit"), list(doubt.AT_ZERO.items()))
def test_small_and_large_scales_run_into_the_limits(name, limit):
    mixture = Mixture(0.5)
    small, large = (Population(mixture, doubt.SOFTMAX[name](scale)).curve().aurc for scale in (1e-3, 64.0))
    assert small == pytest.approx(Population(mixture, limit).curve().aurc, rel=5e-4)
    assert large == pytest.approx(Population(mixture, None).curve().aurc, rel=1e-3)


def test_the_margins_smallest_radius_cuts_off_a_fifth():
    mixture = Mixture()
    radius = Population(mixture, None).smallest_radius(0.8)
    size = np.array([radius])
    assert (mixture.right_beyond(size) + mixture.wrong_beyond(size))[0] ** 2 == pytest.approx(0.8)


@pytest.mark.parametrize("scale", [1.0, 2.0, 6.0])
def test_the_smallest_radius_is_approached_by_samples_from_above(scale):
    population = Population(Mixture(), doubt.max_softmax(scale))
    x = np.asarray(Mixture().draw(400_000, seed=1).features)
    selected = x[population.confidence(x) > population.threshold(0.8)]
    assert len(selected) / len(x) == pytest.approx(0.8, abs=0.003)
    smallest = abs(selected).min()
    assert population.smallest_radius(0.8) <= smallest < population.smallest_radius(0.8) + 0.02
