"""The notebooks run as they stand, in a kernel, and are kept without outputs."""

import base64
import importlib.util
import re
from pathlib import Path

import pytest

for package in ("nbclient", "nbformat", "ipykernel"):
    pytest.importorskip(package)
import nbclient  # noqa: E402
import nbformat  # noqa: E402

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Packages that a notebook needs beside sotto and NumPy.
NEEDS = {
    "a-week-of-readings": ["matplotlib", "pandas", "polars", "pyarrow"],
    "edge-cloud": ["matplotlib", "pandas"],
    "sensor-models": ["matplotlib", "pandas", "sklearn"],
    "tenseal-tasks": ["matplotlib", "sklearn"],
}
#: Seconds that a cell may take; far more than any does.
PATIENCE = 300


class Recording(nbclient.NotebookClient):
    """A client that keeps what cells display, also what later updates replace."""

    def process_message(self, msg, cell, cell_index):
        """Keep the messages that carry pictures of data."""
        if msg["msg_type"] in ("display_data", "update_display_data", "execute_result"):
            self.displayed.append((msg["msg_type"], msg["content"]["data"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Return a function that runs a notebook and returns what its cells displayed."""
    # The kernel's history and profile do not belong to this user.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("MPLBACKEND", raising=False)

    def run(notebook, folder=tmp_path):
        resources = {"metadata": {"path": str(folder)}}
        client = Recording(notebook, timeout=PATIENCE, kernel_name="python3", resources=resources)
        client.displayed = []
        client.execute()
        return client.displayed

    return run


def cells(*sources):
    """Return a notebook of code cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in sources])


def test_every_notebook_is_known():
    assert [path.stem for path in NOTEBOOKS] == sorted(NEEDS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, execute):
    for package in NEEDS[path.stem]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{path.stem} needs {package}")
    before = sorted(FOLDER.iterdir())
    displayed = execute(nbformat.read(path, as_version=4), FOLDER)
    assert sorted(FOLDER.iterdir()) == before, "a notebook leaves files behind"
    plots = [base64.b64decode(data["image/png"]) for _, data in displayed if "image/png" in data]
    assert plots and all(plot.startswith(b"\x89PNG") for plot in plots)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or (not cell.outputs and cell.execution_count is None)
    assert set(notebook.metadata) <= {"kernelspec", "language_info"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    notebook = nbformat.read(path, as_version=4)
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    targets = re.findall(r"\]\(([^)#]+)", "\n".join(texts))
    missing = [to for to in targets if ":" not in to and not (FOLDER / to).exists()]
    assert not missing


def test_an_assertion_that_fails_is_the_test_s_error(execute):
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="2.0 is beyond its bound"):
        execute(cells("assert False, '2.0 is beyond its bound'"))


def test_a_plan_is_a_table_and_a_picture(execute):
    code = """
        import sotto as st
        program = st.program("sum(t * h) * 0.01 + 46")
        program.plan(st.like(24, range=(0, 40)), st.like(24, range=(0, 100)))
    """
    ((kind, data),) = execute(cells("\n".join(line.strip() for line in code.splitlines())))
    assert kind == "execute_result"
    assert "<table>" in data["text/html"] and "<th>rotations</th>" in data["text/html"]
    assert "<svg" in data["text/html"] and "</svg>" in data["text/html"]
    assert "rotations" in data["text/plain"] and "<" not in data["text/plain"]


LONG = """
import numpy as np, sotto as st
from sotto import _progress
_progress._PATIENCE = {patience}
owner = st.Owner.new(depth=1)
x = owner.encrypt(np.ones((500_000, 4)), range=(0, 2))
"""


def test_a_long_call_shows_a_bar_and_removes_it(execute):
    notebook = cells(LONG.format(patience=0.05))
    displayed = execute(notebook)
    kinds = [kind for kind, _ in displayed]
    assert kinds[0] == "display_data" and set(kinds[1:]) == {"update_display_data"}
    pictures = [data["text/html"] for kind, data in displayed if kind == "update_display_data"]
    bars = [picture for picture in pictures if "<progress " in picture]
    shares = [float(bar.split("value='")[1].split("'")[0]) for bar in bars]
    assert shares and shares == sorted(shares) and 0 < shares[0] <= shares[-1] <= 1
    assert all("% " in bar and "left" in bar for bar in bars)
    # The last update empties the element; the notebook keeps an output without a bar.
    assert pictures[-1] == ""
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data" and "progress" not in str(output.data)


def test_a_short_call_shows_nothing(execute):
    notebook = cells(LONG.format(patience=1000))
    assert execute(notebook) == [] and notebook.cells[0].outputs == []
