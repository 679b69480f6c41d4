"""The reference is what the docstrings say, and every public name has one."""

import importlib.util
import inspect
from pathlib import Path

import pytest
import sotto as st

pytest.importorskip("pandas")
SCRIPT = Path(__file__).parents[1] / "reference.py"
_spec = importlib.util.spec_from_file_location("reference", SCRIPT)
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)


def test_the_page_is_current():
    written = reference.PAGE.read_text(encoding="utf-8")
    assert written == reference.page(), "run `python bindings/python/reference.py`"


@pytest.mark.parametrize("name", st.__all__)
def test_every_public_name_is_described(name):
    thing = getattr(st, name)
    assert inspect.getdoc(thing)
    heading = f"## `sotto.{name}" if inspect.ismodule(thing) else f"### `{name}"
    assert heading in reference.page()
