import pytest

from abstain.datasets import digits
from abstain_reproduction import cache, claim_runs
from abstain_reproduction.cache import cached_outputs, findings_key
from abstain_reproduction.claim_runs import claim_experiments, run_all
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.findings import Findings


@pytest.fixture
def registered(monkeypatch):
    """Two experiments that note their runs, the first reading outputs of the second, and one that needs data."""
    runs = []

    def run(setting):
        runs.append(setting.folder.name)
        return Findings(words="Done.", verdicts=(ClaimVerdict("scale-limit", "held", "so", "this"),))

    experiments = {
        "late": Experiment("late", "Late", run, reads_others=True),
        "early": Experiment("early", "Early", run, takes=frozenset({"long"})),
        "elsewhere": Experiment("elsewhere", "Elsewhere", run, takes=frozenset({"data"})),
        "silent": Experiment("silent", "Silent", run, has_verdicts=False),
    }
    monkeypatch.setattr(claim_runs, "EXPERIMENTS", experiments)
    return runs


def test_all_that_test_claims_run_after_what_they_read(registered, tmp_path):
    assert [each.name for each in claim_experiments()] == ["early", "late"]
    assert list(run_all(tmp_path, long=True)) == [("early", True), ("early-long", True), ("late", True)]
    assert registered == ["early", "early-long", "late"]


def test_what_was_found_by_the_same_code_is_left_as_it_is(registered, tmp_path, monkeypatch):
    list(run_all(tmp_path))
    assert list(run_all(tmp_path)) == [("early", False), ("late", False)]
    digits().save(tmp_path / "other" / "outputs")  # which only the second reads
    assert list(run_all(tmp_path)) == [("early", False), ("late", True)]
    monkeypatch.setattr(cache, "source_digest", lambda *_: "other code")
    assert list(run_all(tmp_path)) == [("early", True), ("late", True)]
    assert len(registered) == 5


def test_a_run_that_was_stopped_goes_on(registered, tmp_path):
    first = iter(run_all(tmp_path))
    next(first)
    assert list(run_all(tmp_path)) == [("early", False), ("late", True)]
    assert registered == ["early", "late"]


def test_outputs_are_made_again_only_where_what_makes_them_changed(tmp_path, monkeypatch):
    made = []

    def make(folder, seed, _):
        made.append(seed)
        digits().save(folder)
        return digits()

    for seed in (0, 0, 1):
        cached_outputs(make, tmp_path / "outputs", seed=seed, progress=None)
    assert made == [0, 1]
    monkeypatch.setattr(cache, "source_digest", lambda *_: "other code")
    cached_outputs(make, tmp_path / "outputs", seed=1, progress=None)
    assert made == [0, 1, 1]


def test_findings_depend_on_code_and_outputs(tmp_path):
    before = findings_key(tmp_path, seed=0)
    assert findings_key(tmp_path, seed=1) != before
    digits().save(tmp_path / "one" / "outputs")
    assert findings_key(tmp_path, seed=0) != before


def test_what_needs_other_data_is_not_run():
    names = {each.name for each in claim_experiments()}
    assert "digits" in names
    assert not {"paper", "imagenet"} & names
