"""Run the notebooks of docs/notebooks again, and store what they print and draw: `python docs/notebooks.py [FILE…]`."""

import io
import re
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

FOLDER = Path(__file__).with_name("notebooks")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "python3"},
}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
COLOURS = 64


def read(file: Path) -> NotebookNode:
    """The notebook as it is stored."""
    return nbformat.read(file, as_version=4)


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """The notebook with fresh outputs, run by a kernel of its own in a folder; an error in a cell is raised."""
    fresh = nbformat.from_dict(notebook)
    NotebookClient(fresh, timeout=280, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return cleaned(fresh)


def cleaned(notebook: NotebookNode) -> NotebookNode:
    """Nothing of the machine or the hour: cells have fixed ids, and outputs are text and small pictures."""
    result = nbformat.v4.new_notebook(metadata=METADATA)
    result["nbformat_minor"] = 5
    for number, cell in enumerate(notebook.cells):
        shown = {"mystnb": cell.metadata.mystnb} if "mystnb" in cell.metadata else {}
        result.cells.append(NotebookNode(cell | {"id": f"cell-{number}", "metadata": NotebookNode(shown)}))
    for count, cell in enumerate((cell for cell in result.cells if cell.cell_type == "code"), 1):
        cell.execution_count = count
        cell.outputs = [_output(output, count) for output in cell.outputs]
    return result


def _output(output: NotebookNode, count: int) -> NotebookNode:
    if output.output_type == "stream":
        return output
    kind = "image/png" if "image/png" in output.data else "text/plain"
    data = _small(output.data[kind]) if kind == "image/png" else output.data[kind]
    counted = {"execution_count": count} if output.output_type == "execute_result" else {}
    return NotebookNode(output_type=output.output_type, data={kind: data}, metadata={}, **counted)


def _small(picture: str) -> str:
    image = Image.open(io.BytesIO(b64decode(picture)))
    if image.mode == "P":
        return picture
    small = io.BytesIO()
    image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return b64encode(small.getvalue()).decode()


def words(notebook: NotebookNode) -> list[str]:
    """What each cell prints, with `#` for every number."""
    return [NUMBER.sub("#", text) for text in _texts(notebook)]


def numbers(notebook: NotebookNode) -> list[float]:
    """All numbers that the cells print, in their order."""
    return [float(number.replace(",", "")) for text in _texts(notebook) for number in NUMBER.findall(text)]


def _texts(notebook: NotebookNode) -> list[str]:
    outputs = ([*cell.outputs] for cell in notebook.cells if cell.cell_type == "code")
    return ["".join(each.get("text") or each.data.get("text/plain", "") for each in cell) for cell in outputs]


def main() -> None:
    """Write the files named, or all."""
    for file in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(FOLDER.glob("*.ipynb")):
        with TemporaryDirectory() as folder:
            nbformat.write(executed(read(file), Path(folder)), file)


if __name__ == "__main__":
    main()
