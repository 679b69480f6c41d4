"""The blocks of the guide and of the package's README run as they stand."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/guides/python.md",
    ROOT / "docs/guides/python-lower-floor.md",
    ROOT / "docs/guides/python-models.md",
    ROOT / "docs/guides/python-tables.md",
    ROOT / "bindings/python/README.md",
]
#: Packages that a page needs beside those of every test.
NEEDS = {"python-tables.md": ["pyarrow", "polars", "duckdb"]}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, tmp_path, monkeypatch):
    for package in NEEDS.get(page.name, []):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    blocks = page.read_text().split("```python\n")[1:]
    assert blocks
    code = "\n".join(block.split("```")[0] for block in blocks)
    exec(compile(code, str(page), "exec"), {"__name__": "__main__"})
