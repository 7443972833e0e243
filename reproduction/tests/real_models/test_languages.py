import numpy as np
import pytest

from abstain_reproduction.real_models import languages

pytest.importorskip("langid")
pytest.importorskip("eld")


@pytest.fixture(scope="module")
def model():
    return languages.Langid()


def test_logits_are_those_of_langid(model):
    texts = ["Wer andern eine Grube gräbt, fällt selbst hinein.", "Ce n'est pas la mer à boire.", "日本語の文"]
    logits, counts = model(texts)
    for text, row in zip(texts, logits, strict=True):
        language, value = model.identifier.classify(text)
        assert model.class_names[row.argmax()] == language
        assert row.max() == pytest.approx(value, rel=1e-5)
    assert counts.shape == (3, 7480)


def test_sentences_are_drawn_by_language_each_once(model):
    known, unknown = languages.sentences(model.class_names, 0)
    assert len(known) == 59 * languages.PER_LANGUAGE == len(set(known.inputs))
    assert np.unique(known.labels, return_counts=True)[1].tolist() == [languages.PER_LANGUAGE] * 59
    assert len(unknown) == languages.UNKNOWN
    assert unknown.labels is None
    again, other = (languages.sentences(model.class_names, seed)[0] for seed in (0, 1))
    assert again.inputs == known.inputs != other.inputs


def test_a_sentence_that_is_there_twice_is_taken_once(tmp_path, monkeypatch):
    import eld

    monkeypatch.setattr(eld, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "tests" / "data").mkdir(parents=True)
    (tmp_path / "tests" / "data" / "big-test.txt").write_text("de\tJa\nde\tJa\nnl\tJa\nnl\tNee\nyo\tRárá\n")
    known, unknown = languages.sentences(["de", "nl"], 0)
    assert known.inputs == ["Ja", "Nee"]
    assert known.labels.tolist() == ["de", "nl"]
    assert known.ids.tolist() == ["eld-0", "eld-3"]
    assert unknown.inputs == ["Rárá"]


def test_langid_knows_whole_sentences_better_than_short_ones(model, tmp_path, monkeypatch):
    monkeypatch.setattr(languages, "PER_LANGUAGE", 3)
    monkeypatch.setattr(languages, "UNKNOWN", 5)
    monkeypatch.setattr(languages, "Langid", lambda: model)
    outputs = languages.run(tmp_path / "run", 0, None)
    shares = {domain: outputs.errors[outputs.domain == domain].mean() for domain in np.unique(outputs.domain)}
    assert shares["sentences"] < 0.12 < shares["first 20 characters"]
    assert shares["unknown"] == 1
    assert outputs.check_head().agrees
    assert len(np.unique(outputs.ids)) == 59 * 3 + 5
