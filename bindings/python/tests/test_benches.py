"""The programs of the benchmarks give right answers, on short inputs."""

import ast
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import sotto as st

BENCHES = Path(__file__).parents[1] / "benches"
FOLDER = BENCHES / "beside"
#: Long enough for two ciphertexts of real numbers in one of the tasks.
LENGTHS = {"total": 5000}


def module(path):
    """Import a file of the benchmarks."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def beside():
    """Return the modules of the comparison."""
    names = ("tasks", "worker", "lines", "sotto_tasks")
    modules = {name: module(FOLDER / f"{name}.py") for name in names}
    yield modules
    for name in names:
        del sys.modules[name]


@pytest.fixture(scope="module")
def keys(beside):
    """Return a function that makes the keys of a task once."""
    made = {}

    def of(name):
        task = beside["sotto_tasks"].PROGRAMS[name]
        kind = task.levels, task.whole
        if kind not in made:
            made[kind] = beside["sotto_tasks"].keys(*kind)
        return made[kind]

    return of


def functions(path):
    """Return the names of the tasks of a file, without importing its library."""
    body = ast.parse(path.read_text()).body
    return [node.name for node in body if getattr(node, "decorator_list", None)]


def test_every_library_has_every_task(beside):
    files = sorted(FOLDER.glob("*_tasks.py"))
    assert len(files) == 4
    for path in files:
        assert functions(path) == list(beside["tasks"].TASKS), path.name


@pytest.mark.parametrize("name", functions(FOLDER / "sotto_tasks.py"))
def test_task(beside, keys, name):
    length = LENGTHS.get(name, 20)
    result = beside["worker"].run(beside["sotto_tasks"], keys(name), name, length)
    assert result["right"], result
    assert result["bytes"] > 100_000 and result["seconds"] > 0


def test_a_wrong_answer_is_found(beside, keys, monkeypatch):
    programs = beside["sotto_tasks"].PROGRAMS

    def off(he, x):
        """Answer what was sent, and a little more."""
        readings = yield he.owner.encrypt(x, range=(0, 100))
        return he.owner.decrypt(readings.mean()) + 0.2

    wrong = beside["tasks"].Registered(off, 1, False)
    he = keys("mean")
    monkeypatch.setitem(programs, "mean", wrong)
    assert not beside["worker"].run(beside["sotto_tasks"], he, "mean", 20)["right"]


def test_lines_are_counted_without_comments(beside, tmp_path):
    (tmp_path / "x.py").write_text(
        '"""Title."""\nimport y\n\n@task(1)\ndef f(he):\n    """Say."""\n    # why\n    a = (\n'
        "        1\n    )\n\n    return a  # here\n\ndef keys():\n    return 2\n\n"
        "def size():\n    pass\n"
    )
    count = beside["lines"].lines_of
    assert count(tmp_path / "x.py", "f") == 5
    assert count(tmp_path / "x.py") == 2


def test_overhead_runs_every_operation():
    overhead = module(BENCHES / "overhead.py")
    owner = st.Owner.new(depth=overhead.DEPTH)
    for dtype in (np.float64, np.int64):
        values = np.arange(100, dtype=dtype) % 50
        for name, operation in overhead.operations(owner, values, values[::-1].copy()).items():
            assert operation() is not None, name
    del sys.modules["overhead"]
