import json
from math import exp, sqrt

import numpy as np
import pytest

from abstain._io.records import from_json, to_json
from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, ScoreMonitor
from abstain.monitor.acceptance import share_error
from abstain.monitor.rate import RateEvidence, log_evidence


@pytest.mark.parametrize(
    ("errors", "n", "expected"),
    [(12, 100, 3.703196471), (5, 100, 0.03514203724), (20, 200, 3.476177573), (0, 50, 0.01960784314)],
)
def test_evidence_vectors(errors, n, expected):
    assert exp(log_evidence(errors, n, 0.05)) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("rate", [0.03, 0.05, 0.06, 0.2])
def test_the_largest_evidence_of_many_rows_is_that_of_one_row_after_the_other(rate):
    rng = np.random.default_rng(2)
    for _ in range(20):
        each = rng.random(300) < np.repeat([rate, 0.3, 0.01], [100, rng.integers(100), 200])[:300]
        single, blocks = RateEvidence(0.05), RateEvidence(0.05)
        for outcome in each:
            single = single.observe([outcome])
        for block in np.split(each, [40, 160]):
            blocks = blocks.observe(block)
        assert blocks.highest == single.highest


def test_interval_vectors():
    monitor = RiskMonitor(risk=0.05, delta=0.05)
    assert monitor.update(errors=12, n=100).interval() == pytest.approx((0.0400962894, 0.2535350456), rel=1e-6)
    assert monitor.update(errors=0, n=100).interval() == pytest.approx((0, 0.0732843734), rel=1e-6)
    assert monitor.interval() == (0.0, 1.0)


def first_alarm(rng, rate, steps, risk=0.05, delta=0.05):
    errors = np.cumsum(rng.random(steps) < rate)
    monitor = RiskMonitor(risk=risk, delta=delta)
    for step in range(1, steps + 1):
        if log_evidence(int(errors[step - 1]), step, risk) >= np.log(1 / delta):
            return step
    assert not monitor.alarm
    return None


def test_false_alarms_are_rare_over_all_steps_where_repeated_tests_are_not():
    from scipy.stats import binom

    rng = np.random.default_rng(0)
    false = naive = 0
    for _ in range(150):
        errors = np.cumsum(rng.random(5000) < 0.05)
        looks = range(50, 5001, 10)
        false += any(log_evidence(int(errors[t - 1]), t, 0.05) >= np.log(20) for t in looks)
        naive += any(binom.sf(int(errors[t - 1]) - 1, t, 0.05) <= 0.05 for t in looks)
    assert false / 150 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 150)
    assert naive / 150 > 0.2


def test_a_risk_three_times_too_high_is_found_soon():
    rng = np.random.default_rng(1)
    delays = [first_alarm(rng, 0.15, 2000) for _ in range(40)]
    assert None not in delays
    assert np.median(delays) < 120


def test_the_confidence_sequence_holds_at_all_times():
    rng, missed = np.random.default_rng(2), 0
    for _ in range(100):
        monitor = RiskMonitor(risk=0.05, delta=0.1)
        for _ in range(20):
            monitor = monitor.update(errors=int(rng.binomial(50, 0.08)), n=50)
            low, high = monitor.interval()
            if not low <= 0.08 <= high:
                missed += 1
                break
    assert missed / 100 <= 0.1 + 3 * sqrt(0.09 / 100)


def test_an_alarm_stays():
    monitor = RiskMonitor(risk=0.05, delta=0.05).update(errors=30, n=60)
    assert monitor.alarm
    assert monitor.update(errors=0, n=5000).alarm


def test_the_state_is_saved_and_resumed():
    monitor = RiskMonitor(risk=0.05, delta=0.05).update(errors=3, n=70)
    assert from_json(to_json(monitor), RiskMonitor) == monitor
    fresh = RiskMonitor(risk=0.05, delta=0.05)
    assert from_json(to_json(fresh), RiskMonitor) == fresh
    acceptance = AcceptanceMonitor.from_calibration(accepted=8, n=10).update(accepted=3, n=4)
    assert from_json(to_json(acceptance), AcceptanceMonitor) == acceptance
    with pytest.raises(ValueError, match="state of an AcceptanceMonitor"):
        from_json(to_json(monitor), AcceptanceMonitor)
    for text in ("", "{}", "[]", '{"risk": 2}'):
        with pytest.raises(ValueError, match="state of a RiskMonitor"):
            from_json(text, RiskMonitor)


def test_bad_counts_are_named():
    with pytest.raises(ValueError, match="`errors` must be between 0 and `n`, got 3 of 2"):
        RiskMonitor(risk=0.05, delta=0.05).update(errors=3, n=2)
    with pytest.raises(ValueError, match="`risk` must be between 0 and 1"):
        RiskMonitor(risk=0, delta=0.05)
    with pytest.raises(ValueError, match="`accepted` must be between 0 and `n`"):
        AcceptanceMonitor.from_calibration(accepted=5, n=10).update(accepted=3, n=2)


@pytest.mark.parametrize(
    ("delta", "message"), [(0.95, r"`delta` must be at most 0.5, .* Did you mean 0.05\?"), (0.0, "between 0 and 1")]
)
def test_a_delta_that_means_the_probability_of_being_right_is_refused(delta, message):
    for make in (
        lambda: RiskMonitor(0.05, delta),
        lambda: AcceptanceMonitor(0.5, 0.7, delta),
        lambda: AcceptanceMonitor.from_calibration(accepted=5, n=10, delta=delta, chosen_thresholds=1),
        lambda: ScoreMonitor.from_calibration([1.0, 2.0], delta=delta),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_acceptance_leaves_its_range_in_both_directions():
    monitor = AcceptanceMonitor.from_calibration(accepted=800, n=1000)
    assert not monitor.update(accepted=790, n=1000).alarm
    assert monitor.update(accepted=600, n=1000).alarm
    assert monitor.update(accepted=950, n=1000).alarm


def test_acceptance_false_alarms_are_rare():
    rng, false = np.random.default_rng(3), 0
    for _ in range(200):
        monitor = AcceptanceMonitor.from_calibration(accepted=int(rng.binomial(500, 0.7)), n=500)
        for _ in range(40):
            monitor = monitor.update(accepted=int(rng.binomial(50, 0.7)), n=50)
        false += monitor.alarm
    assert false / 200 <= 0.05


def test_everything_accepted_in_calibration_can_only_fall():
    monitor = AcceptanceMonitor.from_calibration(accepted=50, n=50)
    assert monitor.high == 1
    assert monitor.update(accepted=50, n=50).rise.highest == 0
    assert monitor.update(accepted=30, n=50).alarm


def test_scores_that_do_not_change_raise_few_alarms_over_5000_steps():
    rng = np.random.default_rng(4)
    alarms = 0
    for seed in range(150):
        calibration, stream = (np.round(rng.normal(size=n), 1) for n in (200, 5000))  # many ties
        alarms += ScoreMonitor.from_calibration(calibration, delta=0.1, seed=seed).observe(stream).alarm
    assert alarms / 150 <= 0.1 + 3 * sqrt(0.09 / 150)


@pytest.mark.parametrize("n", [100, 1000])
def test_ties_raise_few_alarms_with_the_seed_that_everybody_has(n):
    rng, runs = np.random.default_rng(1), 200
    drawn = (((rng.random(size) < 0.97).astype(float) for size in (n, 5000)) for _ in range(runs))
    alarms = sum(ScoreMonitor.from_calibration(calibration).observe(stream).alarm for calibration, stream in drawn)
    assert alarms / runs <= 0.05 + 2 * sqrt(0.05 * 0.95 / runs)


def test_a_score_that_never_changes_raises_no_alarm_where_draws_alone_would_at_some_sizes():
    """There everybody has the same draws, so that an alarm by them is certain, not rare."""
    stream = np.ones(2000)
    monitored = [ScoreMonitor.from_calibration(np.ones(n)).observe(stream) for n in range(20, 300)]
    assert not any(monitor.alarm for monitor in monitored)
    assert any(monitor.highest[0] > np.log(20) for monitor in monitored)


def test_scores_without_ties_need_no_draw(monkeypatch):
    import abstain.monitor.scores as module

    rng = np.random.default_rng(0)
    monitor, values = ScoreMonitor.from_calibration(rng.normal(size=500)), rng.normal(size=300)
    monkeypatch.setattr(module, "generator", None)
    monitored = monitor.observe(values)
    assert monitored.logs[:2] == monitored.logs[2:]
    assert monitored.highest[0] == monitored.highest[1]


def test_bets_on_parts_of_calibration_win_nothing_on_average():
    """The expected capital after two samples of Pólya's urn, summed over all pairs of parts."""
    monitor = ScoreMonitor.from_calibration([0.0, 1.0, 2.0, 3.0, 4.0])
    weights, middles = np.ones(6), np.arange(6) - 0.5
    expected = 0.0
    for each in range(6):
        after = weights + np.eye(6)[each]
        for other in range(6):
            chance = weights[each] / weights.sum() * after[other] / after.sum()
            expected += chance * monitor.observe(middles[[each, other]]).evidence
    assert expected == pytest.approx(1, rel=1e-12)


def test_the_naive_comparison_again_and_again_raises_many():
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(30):
        calibration, stream = rng.normal(size=5000), rng.normal(size=5000)
        alarms += any(ks_2samp(calibration, stream[:t]).pvalue <= 0.1 for t in range(20, 5001, 20))
    assert alarms / 30 > 0.3


@pytest.mark.parametrize(("shift", "scale"), [(-0.5, 1), (0.5, 1), (0, 1.7), (0, 0.6)])
def test_scores_that_fall_rise_spread_or_shrink_are_noticed(shift, scale):
    rng = np.random.default_rng(5)
    monitor = ScoreMonitor.from_calibration(rng.normal(size=1000)).observe(rng.normal(size=500))
    assert not monitor.alarm
    assert monitor.observe(rng.normal(size=800) * scale + shift).alarm


def test_the_places_of_new_scores_are_uniform_and_independent_whatever_their_distribution(monkeypatch):
    """The p-values behind the bets, against Kolmogorov and a correlation, with ties."""
    import abstain.monitor.scores as module

    def places(parts, first, last, weights, *others):
        counts = weights.copy()
        for part, u in zip(parts, rng.random(len(parts)), strict=True):
            result.append((counts[:part].sum() + u * counts[part]) / counts.sum())
            counts[part] += 1
        return original(parts, first, last, weights, *others)

    from scipy.stats import kstest, spearmanr

    original, result = module.jump, []
    monkeypatch.setattr(module, "jump", places)
    rng = np.random.default_rng(0)
    for seed in range(1500):
        values = np.round(rng.gamma(2.0, size=12), 1)
        ScoreMonitor.from_calibration(values[:9], seed=seed).observe(values[9:])
    p = np.reshape(result, (1500, 3))
    assert kstest(p.ravel(), "uniform").pvalue > 0.001
    assert kstest(p[:, 0], "uniform").pvalue > 0.001
    assert spearmanr(p[:, 0], p[:, 2]).pvalue > 0.001


def test_a_stream_cut_in_pieces_and_resumed_is_the_same_stream():
    rng = np.random.default_rng(7)
    start, values = ScoreMonitor.from_calibration(np.round(rng.normal(size=300), 1)), np.round(rng.normal(size=700), 1)
    whole, pieces = start.observe(values), start
    for piece in np.split(values, [1, 2, 100, 350]):
        pieces = from_json(to_json(pieces.observe(piece)), ScoreMonitor)
    assert pieces == whole
    assert start.observe([]) == start
    assert len(to_json(start.observe(np.repeat(values, 50)))) < 20_000


def test_one_by_one_is_as_by_array():
    rng = np.random.default_rng(8)
    errors = rng.random(300) < 0.2
    risk = RiskMonitor(risk=0.1, delta=0.05)
    acceptance = AcceptanceMonitor.from_calibration(accepted=700, n=1000)
    slow_risk, slow_acceptance = risk, acceptance
    for error in errors:
        slow_risk = slow_risk.update(errors=int(error), n=1)
        slow_acceptance = slow_acceptance.update(accepted=int(error), n=1)
    assert risk.observe(errors) == slow_risk
    assert acceptance.observe(errors) == slow_acceptance
    assert risk.observe([]).n == 0
    with pytest.raises(ValueError, match="must be a sequence of 0 and 1"):
        risk.observe([0.5])


def test_a_threshold_chosen_on_the_sample_widens_the_range():
    fixed, chosen = (
        AcceptanceMonitor.from_calibration(accepted=700, n=1000, chosen_thresholds=number) for number in (0, 1)
    )
    assert chosen.low < fixed.low < 0.7 < fixed.high < chosen.high
    assert chosen.high == pytest.approx(0.7 + sqrt(np.log(4 / 0.05) / 2000))


@pytest.mark.parametrize("groups", [2, 20])
def test_the_range_of_a_share_holds_for_the_worst_thresholds_of_several_groups(groups):
    """In each group the threshold at which the sample's share is furthest above the true one."""
    rng, n, level, beyond = np.random.default_rng(0), 1000, 0.05, []
    for _ in range(200):
        group, u = rng.integers(groups, size=n), rng.random(n)
        worst = 0.0
        for k in range(groups):
            inside = np.sort(u[group == k])  # accepted if below a threshold; the share of them is u / groups
            worst += max(0.0, (np.arange(1, len(inside) + 1) / n - inside / groups).max(initial=0.0))
        beyond.append(worst)
    assert np.mean(np.array(beyond) > share_error(n, level, groups)) <= level
    assert np.mean(np.array(beyond) > share_error(n, level, 1)) > 2 * level  # the range for one threshold
    assert np.mean(beyond) > 0.3 * share_error(n, level, groups)  # not met by a range without use


def test_switching_is_quick_after_a_long_good_time_and_seldom_wrong():
    """Risk 0.01 for 5,000 samples, then 0.2, guaranteed 0.05: the mixture alone pays for the good time."""
    rng = np.random.default_rng(10)
    good, bad = rng.random(5000) < 0.01, rng.random(400) < 0.2
    monitor = RiskMonitor(risk=0.05, delta=0.05).observe(good)
    assert not monitor.alarm
    assert monitor.observe(bad).alarm
    errors = np.cumsum(np.append(good, bad))
    assert log_evidence(errors, np.arange(1, 5401), 0.05).max() < np.log(20)
    false = sum(RiskMonitor(risk=0.05, delta=0.05).observe(rng.random(5000) < 0.05).alarm for _ in range(300))
    assert false / 300 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 300)


def test_switching_is_what_its_definition_says():
    each = np.random.default_rng(0).random(40) < 0.3
    rates = 1 / (1 + np.exp(-(np.log(0.1 / 0.9) + np.array([0, 0.25, 0.5, 1, 1.6, 2.4]))))
    capital = np.full(6, 1 / 6)
    for item in each:
        capital = 0.999 * capital + 0.001 * capital.sum() / 6
        capital = capital * np.where(item, rates / 0.1, (1 - rates) / 0.9)
    result = RateEvidence(0.1).observe(each)
    assert result.log_switching == pytest.approx(np.log(capital.sum()), rel=1e-10)
    assert result.value == pytest.approx((capital.sum() + np.exp(log_evidence(each.sum(), 40, 0.1))) / 2, rel=1e-10)


def test_evidence_agrees_with_quadrature_and_keeps_its_digits():
    from mpmath import mp, mpf, quad

    mp.dps = 40
    for errors, n, risk in ((12, 100, 0.05), (0, 400, 0.2), (300, 400, 0.1)):
        r = mpf(risk)
        integral = quad(lambda q: (q / r) ** errors * ((1 - q) / (1 - r)) ** (n - errors), [r, (r + 1) / 2, 1])  # noqa: B023
        assert float(log_evidence(errors, n, risk)) == pytest.approx(float(mp.log(integral / (1 - r))), rel=1e-9)


def test_the_deployment_monitor_keeps_all_three_and_resumes():
    rng = np.random.default_rng(9)
    scores = ScoreMonitor.from_calibration(rng.normal(size=500))
    watch = DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05), AcceptanceMonitor(0.5, 0.7, 0.05), scores)
    watch = watch.observe_accepted(rng.random(200) < 0.6).observe_confidence(np.append(rng.normal(size=199), np.nan))
    watch = watch.observe_errors(rng.random(100) < 0.02)
    assert watch.alarms == ()
    again = DeploymentMonitor.from_json(watch.to_json())
    assert again == watch
    worse = again.observe_errors(np.ones(30)).observe_accepted(np.zeros(500))
    worse = worse.observe_confidence(rng.normal(size=500) - 2)
    assert worse.alarms == ("risk", "acceptance", "scores")
    assert DeploymentMonitor.from_json(DeploymentMonitor().to_json()) == DeploymentMonitor()
    for text in ("", "[]", "{}", watch.to_json().replace('"distribution"', '"lore"')):
        with pytest.raises(ValueError, match="must be the state of a"):
            DeploymentMonitor.from_json(text)


def test_a_bound_of_zero_is_exceeded_by_one_event_and_extreme_bounds_keep_their_state():
    assert AcceptanceMonitor(1.0, 1.0, 0.05).update(accepted=999, n=1000).alarm
    assert AcceptanceMonitor(0.0, 0.0, 0.05).update(accepted=1, n=1000).alarm
    assert not AcceptanceMonitor(1.0, 1.0, 0.05).update(accepted=1000, n=1000).alarm
    extreme = AcceptanceMonitor.from_calibration(accepted=1, n=10**6, delta=1e-9).observe([False] * 10)
    assert from_json(to_json(extreme), AcceptanceMonitor) == extreme
    single = RiskMonitor(np.float32(0.05), 0.05).observe([1, 0])
    assert from_json(to_json(single), RiskMonitor).n == 2


def test_states_that_no_stream_leads_to_are_refused():
    def altered(monitor, *path, value):
        document = json.loads(to_json(monitor))
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return json.dumps(document)

    scores = ScoreMonitor.from_calibration(np.arange(1000.0)).observe([1.0, 2.0])
    risk = RiskMonitor(risk=0.05, delta=0.05).observe([1, 0])
    acceptance = AcceptanceMonitor.from_calibration(accepted=5, n=10).observe([1, 0])
    edges = json.loads(to_json(scores))["distribution"]["edges"]
    for monitor, path, value in (
        (scores, ("distribution", "edges"), list(range(200_000))),
        (scores, ("distribution", "edges"), edges[::-1]),
        (scores, ("distribution", "edges"), [float("nan")] * len(edges)),
        (scores, ("distribution", "weights"), [0] * (len(edges) + 1)),
        (scores, ("counts",), [-1] * (len(edges) + 1)),
        (scores, ("counts",), [5]),
        (scores, ("shares",), [[1.0]]),
        (scores, ("logs",), [float("nan"), 0.0]),
        (scores, ("highest",), [float("nan"), 0.0]),
        (scores, ("highest",), [0.0]),
        (scores, ("n",), 10**400),
        (risk, ("excess", "bound"), 0.9),
        (risk, ("excess", "log_switching"), float("nan")),
        (risk, ("excess", "highest"), float("nan")),
        (risk, ("excess", "ones"), 7),
        (risk, ("excess", "shares"), [1.0]),
        (risk, ("excess", "n"), 2.5),
        (risk, ("risk",), 10**400),
        (acceptance, ("rise", "bound"), 0.1),
        (acceptance, ("fall",), None),
    ):
        with pytest.raises(ValueError, match="must"):
            from_json(altered(monitor, *path, value=value), type(monitor))
    with pytest.raises(ValueError, match="must be the state of a RiskMonitor"):
        from_json("[" * 200_000, RiskMonitor)


def test_scores_must_be_numbers():
    monitor = ScoreMonitor.from_calibration([1.0, 2.0])
    with pytest.raises(ValueError, match="`confidence` must not be NaN"):
        monitor.observe([np.nan])
    with pytest.raises(ValueError, match="without NaN"):
        ScoreMonitor.from_calibration([np.nan])
    with pytest.raises(ValueError, match="at least 1"):
        ScoreMonitor.from_calibration([])
    assert monitor.observe([-np.inf, np.inf]).n == 2


def test_a_share_outside_the_range_without_proof_is_not_called_within():
    monitored = AcceptanceMonitor(0.381, 0.447, 0.05).update(accepted=677, n=1500)
    assert not monitored.alarm
    assert monitored.words() == ("Share accepted: no alarm. 0.451, 677 of 1500; calibration allows 0.381–0.447.")


def test_nothing_is_said_of_the_share_of_no_decisions():
    assert AcceptanceMonitor(0.4, 0.6, 0.05).words() == (
        "Share accepted: unknown, no decisions yet (calibration allows 0.400–0.600)."
    )


def test_nothing_is_said_of_the_risk_without_labels():
    assert RiskMonitor(0.05, 0.05).words() == (
        "Risk: unknown, no labels of accepted samples yet (guaranteed: at most 0.05)."
    )


def test_evidence_is_explained_and_beyond_a_million_not_counted():
    calm = ScoreMonitor.from_calibration(np.arange(1000.0))
    assert "0 confidences; largest evidence of a change 1, alarm at 20." in calm.words()
    assert "largest evidence of a change over 1,000,000, alarm at 20" in calm.observe(np.full(500, -1.0)).words()


def test_print_shows_a_line_of_each_monitor():
    monitor = DeploymentMonitor(risk=RiskMonitor(risk=0.05, delta=0.05))
    head, *lines = str(monitor).splitlines()
    assert head.split()[:2] == ["monitored", "rows"]
    assert [line.split()[0] for line in lines] == ["risk"]


def test_an_alarm_whose_interval_holds_the_guaranteed_risk_is_explained():
    alarmed = RiskMonitor(risk=0.03, delta=0.025).observe([0] * 200 + ([1] + [0] * 15) * 50)
    assert alarmed.alarm
    assert alarmed.interval()[0] < 0.03
    assert alarmed.words().endswith("at all times; the test of the alarm looks at one side only.")
    assert RiskMonitor(risk=0.05, delta=0.05).update(errors=2, n=100).words().endswith("0.95, at all times.")
