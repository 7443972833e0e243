"""Whoever misspells a name is told the one that was meant, wherever names are looked up."""

import re

import numpy as np
import pytest

import abstain
from abstain import Cost, Risk
from abstain._names import check_name, did_you_mean
from abstain.collect import CallableModel, Data, collect
from abstain.collect.specs import model_from
from abstain.metrics import aurc, ood_aupr
from abstain.scores import KNN, as_score, geometric_margin
from abstain.shifts import corrupt
from abstain.thresholds import weighted_risk

Z = np.random.default_rng(0).normal(size=(50, 3))
OUTPUTS = abstain.Outputs(logits=Z, labels=np.zeros(50, dtype=int), features=Z)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: abstain.evaluate(OUTPUTS, scores="Max-Softmax"), "max_softmax"),
        (lambda: abstain.calibrate(OUTPUTS, score="max_sofmax", risk=0.9), "max_softmax"),
        (lambda: abstain.calibrate(OUTPUTS, score=["energi", "doctor"], risk=0.9), "energy"),
        (lambda: abstain.calibrate(OUTPUTS, Risk(0.9, method="stepdown")), "step_down"),
        (lambda: abstain.calibrate(OUTPUTS, Cost(0.9, method="chou")), "chow"),
        (lambda: abstain.calibrate(OUTPUTS, Risk(0.9, per="clas")), "class"),
        (lambda: aurc([1, 2], [0, 1], convention="fdshifts"), "fd_shifts"),
        (lambda: ood_aupr([1, 2], [0, 1], positive="outs"), "out"),
        (lambda: geometric_margin(Z, np.eye(3), form="toptwo"), "top_two"),
        (lambda: KNN(space="logit").fit(OUTPUTS), "logits"),
        (lambda: corrupt(np.zeros((8, 8), dtype=np.uint8), "fogg"), "fog"),
        (lambda: weighted_risk([1.0], [0], [1.0], risk=0.5, largest=1.0, by="beting"), "betting"),
        (lambda: abstain.Outputs(logits=Z, nonfinite="rejct"), "reject"),
        (lambda: abstain.Outputs(logits=Z, shift="covariates"), "covariate"),
        (lambda: collect(CallableModel(np.stack), Data(Z), "nowhere", on_error="skp"), "skip"),
        (lambda: model_from("tim:resnet18"), "timm"),
    ],
)
def test_the_nearest_name_is_told(call, meant):
    with pytest.raises(ValueError, match=rf"Did you mean {meant}\?$"):
        call()


def test_a_name_like_no_other_is_told_where_to_look():
    with pytest.raises(ValueError, match=r"`score` must be a known score, got 'zzz'\. `abstain scores` lists them\.$"):
        abstain.calibrate(OUTPUTS, score="zzz", risk=0.9)
    assert did_you_mean("zzz", ["a"], otherwise="Look there.") == "Look there."


def test_what_is_no_name_is_a_type_error():
    with pytest.raises(TypeError, match=r"`method` must be one of a, b, got 3\.$"):
        check_name("method", 3, ("a", "b"))


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("ras(score=max_softmax)", "ras(score=max_softmax)"),
        ("ash(score='gen(top=3)', pruned=0.5)", "ash(pruned=0.5, score=gen(top=3))"),
        ("rmds(covariance=empirical, normalize=True)", "rmds_norm(covariance='empirical')"),
    ],
)
def test_scores_and_words_are_options_by_name(asked, name):
    result = as_score(asked)
    assert result.name == name
    assert as_score(name) == result


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("ras(score=knn)", "`score` of ras must be a score with nothing to fit, got knn"),
        ("ras(score=max_sofmax)", "got 'max_sofmax'. Did you mean max_softmax?"),
        ("ash(pruned=much)", "'much' where pruned must be a number"),
    ],
)
def test_options_of_another_kind_are_named(asked, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_score(asked)
