import warnings

import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.schedule import Cosine, Steps  # noqa: E402


def rates(make, epochs):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    schedule = make(optimizer)
    for _ in range(epochs):
        yield optimizer.param_groups[0]["lr"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no step is made
            schedule.step()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Steps(every=3, factor=0.5), lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 3, gamma=0.5)),
        (Cosine(), lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)),
    ],
    ids=["steps", "cosine"],
)
def test_the_rate_is_that_of_pytorch_in_every_epoch(ours, theirs):
    assert [0.1 * ours.share(epoch, 10) for epoch in range(10)] == pytest.approx(list(rates(theirs, 10)), rel=1e-12)
