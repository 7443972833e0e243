"""One evaluation with every kind of row, and a browser for the pages."""

import numpy as np
import pytest

from abstain import Outputs, evaluate


def drawn(n=1500, seed=0, **options):
    rng = np.random.default_rng(seed)
    labels = rng.integers(5, size=n)
    shift = rng.choice(["none", "covariate", "label"], size=n, p=[0.6, 0.3, 0.1])
    size = np.select([shift == "none", shift == "covariate"], [3.5, 2.0], 0.0)
    logits = rng.normal(size=(n, 5)) + size[:, None] * np.eye(5)[labels]
    domain = np.where(shift == "none", "clean", np.where(shift == "label", "new", rng.choice(["fog", "rain"], size=n)))
    known = {"domain": domain, "ids": np.array([f"img-{k}" for k in range(n)])} | options
    return Outputs(logits=logits, labels=np.where(shift == "label", -1, labels), shift=shift, **known)


@pytest.fixture(scope="package")
def evaluation():
    return evaluate(drawn(), scores=["max_softmax", "confidence_margin", "energy", "doctor"], metrics=["augrc"])


@pytest.fixture
def opened(chromium, tmp_path):
    """Open the HTML of a page from disk; any error, warning or request fails the test."""
    contexts, complaints = [], []

    def open_page(html, **options):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
