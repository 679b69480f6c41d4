"""The page about clouds, from its commands to its last block, as a user types them."""

from pathlib import Path

import numpy as np
import plant_session
import pytest

pd = pytest.importorskip("pandas")
PAGE = Path(__file__).parents[4] / "docs/guides/python-cloud.md"


def blocks(language):
    """Return the page's blocks of a language."""
    return [part.split("```")[0] for part in PAGE.read_text().split(f"```{language}\n")[1:]]


@pytest.fixture
def machine(tmp_path):
    """Return a session in a folder with machine.csv: five days, one of them without a reading."""
    if not plant_session.PROGRAMS:
        pytest.skip(plant_session.WHY_NOT)
    at = pd.date_range("2024-05-01", periods=5 * 288, freq="5min", name="timestamp")
    value = np.round(60 + 10 * np.sin(np.arange(len(at)) / 40), 1)
    table = pd.DataFrame({"value": value}, index=at)
    table[table.index.day != 3].to_csv(tmp_path / "machine.csv", date_format="%Y-%m-%d %H:%M")
    session = plant_session.Session(tmp_path)
    yield session
    session.stop()


def test_page(machine, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(machine.folder)
    (commands,) = blocks("sh")
    for line in commands.splitlines():
        machine.type(line)
    code = "\n".join(blocks("python"))
    assert code.count("assert") > 3
    names = {"__name__": "__main__"}
    exec(compile(code, str(PAGE), "exec"), names)
    assert len(names["answer"]) == 5 and len(names["empty"]) == 1
    assert (machine.folder / "temperature.png").stat().st_size > 1000
    pyplot.close("all")
