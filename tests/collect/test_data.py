import numpy as np
import polars
import pytest
from PIL import Image

from abstain.collect import CallableModel, Data, SampleError, collect, hf_dataset, image_folder, table
from abstain.collect.specs import data_from, model_from


def mean_colour(images):
    return np.stack([np.asarray(image, dtype=np.float32).mean(axis=(0, 1)) for image in images])


@pytest.fixture
def model():
    made = CallableModel(mean_colour, name="colour")
    made.class_names = ("red", "green", "blue")
    return made


@pytest.fixture
def folder(tmp_path):
    for position, colour in enumerate(("red", "green", "blue")):
        (tmp_path / "images" / colour).mkdir(parents=True)
        for number in range(3):
            pixels = np.zeros((8, 8, 3), dtype=np.uint8)
            pixels[..., position] = 200 + number
            Image.fromarray(pixels).save(tmp_path / "images" / colour / f"{number}.png")
    return tmp_path / "images"


def test_an_image_folder_is_labelled_by_its_subfolders(folder, model, tmp_path):
    outputs = collect(model, image_folder(folder), tmp_path / "run")
    assert not outputs.errors.any()
    assert outputs.ids[0] == "blue/0.png"


def test_a_folder_of_unknown_classes(folder, model, tmp_path):
    outputs = collect(
        model, [image_folder(folder), image_folder(folder / "red").of_unknown_classes()], tmp_path / "run"
    )
    assert (outputs.shift[9:] == "label").all()


def test_a_corrupt_image_is_named_or_skipped(folder, model, tmp_path):
    file = folder / "green" / "1.png"
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(SampleError, match=r"Sample green/1.png cannot be read"):
        collect(model, image_folder(folder), tmp_path / "run")
    outputs = collect(model, image_folder(folder), tmp_path / "other", on_error="skip")
    assert len(outputs) == 8


def test_an_empty_class_folder_is_named(folder):
    (folder / "violet").mkdir()
    with pytest.raises(ValueError, match="must have images in every class, got none in 'violet'"):
        image_folder(folder)


def test_no_images_and_no_folder(tmp_path):
    with pytest.raises(ValueError, match="must hold images"):
        image_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match="must be a folder of images"):
        image_folder(tmp_path / "none")


@pytest.mark.parametrize("ending", ["csv", "parquet", "tsv"])
def test_tables_of_text(tmp_path, ending):
    frame = polars.DataFrame({"text": ["a", "bb"], "label": ["x", "y"], "key": [7, 9]})
    file = tmp_path / f"t.{ending}"
    if ending == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_csv(file, separator="\t" if ending == "tsv" else ",")
    data = table(file, ids="key")
    assert [data[0], data[1]] == ["a", "bb"]
    assert data.labels.tolist() == ["x", "y"]
    assert data.ids.tolist() == [7, 9]


def test_a_table_of_paths_is_read_as_images(folder, model, tmp_path):
    polars.DataFrame({"path": ["red/0.png", "blue/1.png"], "label": ["red", "blue"]}).write_csv(folder / "list.csv")
    outputs = collect(model, table(folder / "list.csv"), tmp_path / "run")
    assert outputs.predictions.tolist() == [0, 2]


def test_tables_without_the_columns_say_so(tmp_path):
    polars.DataFrame({"a": [1]}).write_csv(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="no text, path or file among a"):
        table(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="must have a column 'b', got a"):
        table(tmp_path / "t.csv", inputs="b")
    with pytest.raises(ValueError, match=r"must end in .parquet, .csv or .tsv"):
        table(tmp_path / "t.xlsx")


@pytest.mark.filterwarnings("ignore")
def test_a_dataset_saved_on_disk(tmp_path):
    import datasets

    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["no", "yes"])})
    datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}, features=features).save_to_disk(tmp_path / "set")
    data = hf_dataset(tmp_path / "set")
    assert data[1] == "b"
    assert data.labels.tolist() == ["yes", "no"]
    assert data_from(str(tmp_path / "set")).labels.tolist() == ["yes", "no"]


def test_arrays_in_an_npz_file(tmp_path):
    np.savez(tmp_path / "a.npz", inputs=np.eye(3), labels=np.arange(3))
    data = data_from(str(tmp_path / "a.npz"))
    assert len(data) == 3
    np.savez(tmp_path / "b.npz", x=np.eye(3))
    with pytest.raises(ValueError, match="must hold an array named inputs, got x"):
        data_from(str(tmp_path / "b.npz"))


def test_a_scikit_learn_model_by_its_file(tmp_path):
    import skops.io
    from sklearn.linear_model import LogisticRegression

    x, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    skops.io.dump(LogisticRegression().fit(x, y), tmp_path / "model.skops")
    assert model_from(f"sklearn:{tmp_path / 'model.skops'}").class_names == ("0", "1")


@pytest.mark.parametrize("spec", ["nothing", "timm:", "torch:module", "magika"])
def test_unknown_specs_are_named(spec):
    with pytest.raises(ValueError, match="`model` must be one of timm:NAME"):
        model_from(spec)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="`model` must name a file that exists"):
        model_from(f"onnx:{tmp_path / 'none.onnx'}")
    with pytest.raises(FileNotFoundError, match="`data` must exist"):
        data_from(str(tmp_path / "none"))


class Frame:
    """What a data frame shows of itself."""

    columns = ("a", "b")

    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        return self.values


def test_a_data_frame_gives_a_row_a_sample_and_names_as_objects_are_names():
    values = np.arange(6.0).reshape(3, 2)
    data = Data(Frame(values), labels=np.array(["x", "y", "x"], dtype=object), ids=["1", "2", "3"])
    assert data.labels.dtype.kind == "U"
    assert data.ids.tolist() == ["1", "2", "3"]
    np.testing.assert_array_equal(data[1], values[1])


def test_an_estimator_is_collected_from_as_it_is(tmp_path):
    from sklearn.linear_model import LogisticRegression

    x = np.random.default_rng(0).normal(size=(60, 2))
    names = np.where(x[:, 0] > 0, "up", "down")
    model = LogisticRegression().fit(x, names)
    result = collect(model, Data(x, labels=names.astype(object)), tmp_path / "run")
    assert result.class_names == ("down", "up")
    assert result.errors.mean() < 0.1


def test_rows_without_ids_are_named_by_their_file_and_row():
    single, other = Data(np.eye(3)), Data(2 * np.eye(3))
    assert single.names.tolist() == Data(np.eye(3)).names.tolist()
    assert not set(single.names) & set(other.names)
    assert single.shifted(lambda value, _: -value, domain="negated").names.tolist() == single.names.tolist()
    assert single.select(np.array([2])).names.tolist() == [single.names[2]] == [f"{single.names[0][:-2]}-2"]
