"""Metrics that accumulate, by torchmetrics' own contract."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from abstain._extras import repair_torchvision  # noqa: E402
from abstain.metrics import augrc, aurc, risk_at_coverage  # noqa: E402
from abstain.scores import confidence_margin  # noqa: E402

repair_torchvision()
torchmetrics = pytest.importorskip("torchmetrics")

from abstain.torch import AUGRC, AURC, RiskAtCoverage  # noqa: E402

N, K = 600, 4


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, K, size=N)
    logits = (rng.normal(size=(N, K)) + 2 * np.eye(K)[np.maximum(labels, 0)]).astype(np.float32)
    return [(torch.from_numpy(logits[i : i + 100]), torch.from_numpy(labels[i : i + 100])) for i in range(0, N, 100)]


def all_rows(batches):
    logits = np.concatenate([np.asarray(z) for z, _ in batches])
    labels = np.concatenate([np.asarray(y) for _, y in batches])
    return confidence_margin(logits), (logits.argmax(axis=1) != labels) | (labels < 0)


@pytest.mark.parametrize(
    ("metric", "of_rows"),
    [
        (AURC(), aurc),
        (AURC(alpha=0.3), lambda c, e: aurc(c, e, alpha=0.3)),
        (AUGRC(), augrc),
        (RiskAtCoverage(coverage=0.7), lambda c, e: risk_at_coverage(c, e, coverage=0.7)),
    ],
    ids=["aurc", "aurc-0.3", "augrc", "risk"],
)
def test_the_value_of_all_batches_is_that_of_the_rows(metric, of_rows, batches):
    for batch in batches:
        metric.update(*batch)
    value = of_rows(*all_rows(batches))
    assert metric.bracket().contains(value)
    assert float(metric.compute()) == pytest.approx(value, rel=5e-3)
    metric.reset()


def test_bins_are_those_of_the_sketch():
    from abstain.sketch import Bins, Sketch

    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40, -1e-40, 3.0, -3.0, 1e300, -1e300, 0.1]
    values, errors = np.array(odd), np.arange(len(odd)) % 2
    for kind in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            some = values.astype(kind)
        metric = AURC(score=None, bits=20)
        metric.update(torch.from_numpy(some), torch.from_numpy(errors))
        ours, theirs = Sketch.of(some, errors, bins=Bins(20)).cells, metric.sketch().cells
        for name in ("slots", "counts", "errors"):
            assert np.array_equal(getattr(ours["confidence"], name), getattr(theirs["confidence"], name))


def test_forward_gives_the_batch_and_keeps_the_total(batches):
    metric, plain = AURC(), AURC()
    first = float(metric(*batches[0]))
    plain.update(*batches[0])
    assert first == float(plain.compute())
    metric(*batches[1])
    plain.update(*batches[1])
    assert float(metric.compute()) == float(plain.compute())


def test_reset_forgets_and_clone_is_its_own(batches):
    metric = AURC()
    metric.update(*batches[0])
    other = metric.clone()
    metric.reset()
    assert int(metric.counts.sum()) == 0
    assert int(other.counts.sum()) == 100


def test_state_travels_by_state_dict_and_by_torchmetrics_own_pickle(batches):
    metric = AURC()
    metric.persistent(True)
    metric.update(*batches[0])
    again = AURC()
    again.persistent(True)
    again.load_state_dict(metric.state_dict())
    again._update_count = 1
    assert float(again.compute()) == float(metric.compute())
    assert float(pickle.loads(pickle.dumps(metric)).compute()) == float(metric.compute())


def test_states_merge(batches):
    metric, other, both = AURC(), AURC(), AURC()
    metric.update(*batches[0])
    other.update(*batches[1])
    for batch in batches[:2]:
        both.update(*batch)
    metric.merge_state(other)
    assert float(metric.compute()) == float(both.compute())


def test_a_collection_counts_once_for_all(batches):
    collection = torchmetrics.MetricCollection({"aurc": AURC(), "augrc": AUGRC(), "risk": RiskAtCoverage()})
    for batch in batches:
        collection.update(*batch)
    result = collection.compute()
    assert set(result) == {"aurc", "augrc", "risk"}
    assert len(collection.compute_groups) == 1
    alone = AUGRC()
    for batch in batches:
        alone.update(*batch)
    assert float(result["augrc"]) == float(alone.compute())


def test_no_row_and_wrong_shapes_are_told():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torchmetrics' own, before the first update
        with pytest.raises(ValueError, match="must have counted rows"):
            AURC().compute()
    with pytest.raises(ValueError, match=r"`preds` must be logits of shape \(n, K\), got \(3,\)"):
        AURC().update(torch.zeros(3), torch.zeros(3))
    with pytest.raises(ValueError, match="nothing to fit"):
        AURC(score="knn")
    with pytest.raises(ValueError, match="`bits` must be"):
        AUGRC(bits=4)


PROCESS = """
import sys, torch
import torch.distributed as dist
from abstain.torch import AURC
rank, place = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=2)
generator = torch.Generator().manual_seed(0)
confidence = torch.randn(400, generator=generator)
errors = torch.rand(400, generator=generator) < 0.3
metric, whole = AURC(score=None), AURC(score=None, sync_on_compute=False)
metric.update(confidence[rank::2], errors[rank::2])
whole.update(confidence, errors)
assert float(metric.compute()) == float(whole.compute())
assert metric.bracket() == whole.bracket()
assert int(metric.counts.sum()) == 200  # its own again, after the sum
dist.destroy_process_group()
"""


def test_two_processes_add_up_to_the_whole(tmp_path, monkeypatch):
    meet = str(tmp_path / "meet")
    other = subprocess.Popen([sys.executable, "-W", "ignore", "-c", PROCESS, "1", meet])
    monkeypatch.setattr(sys, "argv", ["", "0", meet])
    exec(PROCESS, {})
    assert other.wait(timeout=300) == 0


@pytest.fixture
def lightning():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of loaders without workers, and of packages that Lightning imports
        yield pytest.importorskip("lightning")


def test_lightning_logs_the_value_of_the_whole_epoch(lightning):
    class Classifier(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.aurc = torch.nn.Linear(2, 3), AURC()

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def validation_step(self, batch, _):
            self.aurc.update(self.layer(batch[0]), batch[1])
            self.log("aurc", self.aurc, on_epoch=True)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(3, (300,), generator=generator)
    inputs = torch.randn(300, 2, generator=generator) + 3 * torch.nn.functional.one_hot(labels, 3)[:, :2]
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=50)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", enable_checkpointing=False, **quiet)
    model, plain = Classifier(), AURC()
    trainer.fit(model, loader, loader)
    plain.update(model.layer(inputs), labels)
    assert float(trainer.callback_metrics["aurc"]) == pytest.approx(float(plain.compute()), abs=1e-6)


def test_a_collection_joins_no_metrics_of_different_scores():
    rng = np.random.default_rng(0)
    logits, labels = torch.tensor(rng.normal(size=(200, 5))), torch.tensor(rng.integers(5, size=200))
    both = torchmetrics.MetricCollection(
        {"margin": AURC(score="confidence_margin"), "logit": AURC(score="max_logit"), "other": AUGRC(score="max_logit")}
    )
    alone = AURC(score="max_logit")
    for z, y in ((torch.tensor([[2.0, 0, 0, 0, 0]]), torch.tensor([0])), (logits, labels)):  # alike at first
        both.update(z, y)
        alone.update(z, y)
    assert float(both.compute()["logit"]) == float(alone.compute())


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_counted(kind):
    metric = AURC(score=None)
    metric.update(torch.tensor([0.5, 2.0, -3.0], dtype=kind), torch.tensor([0, 0, 1]))
    assert float(metric.compute()) == pytest.approx(1 / 9)


def test_empty_batches_add_nothing_and_errors_are_0_or_1():
    metric = AURC()
    metric.update(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))
    assert int(metric.counts.sum()) == 0
    with pytest.raises(ValueError, match="`target` must be 0 or 1 without a score"):
        AURC(score=None).update(torch.tensor([0.5]), torch.tensor([0.5]))
