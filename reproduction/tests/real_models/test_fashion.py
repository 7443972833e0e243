from dataclasses import replace

import pytest

from abstain_reproduction.real_models import fashion


def test_missing_data_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(fashion, "FASHION", replace(fashion.FASHION, folder=tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match=r"must have Fashion-MNIST in .*none, got none.$"):
        fashion.run(tmp_path / "run", 0, None)
