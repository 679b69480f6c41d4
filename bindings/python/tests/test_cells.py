"""Cells from others: damaged, foreign, swapped, renamed, counted twice; rows without a carrier."""

import json

import numpy as np
import pytest
import sotto as st
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

pa = pytest.importorskip("pyarrow")

from sotto._table import cell as _cell  # noqa: E402

MEAN = {"v": "mean"}


@pytest.fixture(scope="module")
def hidden(owner):
    """Return cells of three groups in two columns."""
    clear = pa.table(
        {
            "k": ["a", "a", "b", "b", "b", "c"],
            "v": [1.0, 2.0, 3.0, 5.0, 7.0, 11.0],
            "w": [2.0, 4.0, 6.0, 8.0, 10.0, 12.0],
        }
    )
    return st.encrypt_frame(clear, owner, {"v": (0, 20), "w": (0, 20)}, by="k")


@pytest.fixture(scope="module")
def catalog(hidden):
    """Return the facts of the cells."""
    return st.Catalog.of(hidden)


@pytest.fixture(scope="module")
def cloud(owner):
    """Return a party that computes, with whole numbers too."""
    owner.encrypt([1])
    return st.Evaluator(owner.public_bundle())


def cells_of(table, name):
    """Return the bytes of a column."""
    return table[name].combine_chunks().storage.to_pylist()


def with_cells(table, name, cells):
    """Replace the cells of a column."""
    return table.set_column(
        table.column_names.index(name), name, pa.array(cells, pa.large_binary())
    )


def refused(cell, cloud, match=None):
    """Hold that nobody computes with a cell."""
    with pytest.raises(st.SottoError, match=match):
        st.column([cell], cloud).mean().to_arrow()


def test_damaged_cells(hidden, cloud):
    good = cells_of(hidden, "v")[0]
    for bad in [b"", b"x" * 99, good[:11], good[:-1], good + b"x", good[:300] + good[400:]]:
        refused(bad, cloud)
    huge = b"sotto.array\x01" + (2**32 - 1).to_bytes(4, "little") + b"{" * 100
    refused(huge, cloud, "header")
    refused(b"sotto.array\x01" + (60).to_bytes(4, "little") + b"[" * 60, cloud)
    for frames in ([b""], [b"sott\x01\x1e" + bytes(111)], [good]):
        header = json.dumps(
            {"shape": [], "length": 2, "real": True, "grid": None, "finish": None}
            | {"frames": [len(frame) for frame in frames]}
        ).encode()
        bad = b"sotto.array\x01" + len(header).to_bytes(4, "little") + header + b"".join(frames)
        refused(bad, cloud)


def test_changed_cells_never_crash(hidden, cloud, rng):
    good = cells_of(hidden, "v")[0]
    for _ in range(200):
        changed = bytearray(good)
        for position in rng.integers(0, 260, 3):
            changed[position] = rng.integers(0, 256)
        try:
            st.column([bytes(changed)], cloud).mean().to_arrow()
        except st.SottoError:
            pass


def test_forms_that_do_not_belong(owner, hidden, cloud):
    answer = st.column(hidden["v"], cloud).mean().to_arrow()[0].as_py()
    refused(answer, cloud, "answer already")
    rows = st.encrypt_frame(
        hidden.select(["k"]).append_column("v", pa.array([1.0, 2, 3])), owner, {"v": (0, 3)}
    )
    refused(cells_of(rows, "v")[0], cloud, "EncryptedColumn.from_arrow")
    refused(bytes(owner.encrypt([[1.0, 2.0]])), cloud, "not a vector")
    refused(bytes(owner.encrypt([1.0, 2.0]).sum()), cloud, "not a vector")
    for data in [[1, 2], pa.array(["x"]), object()]:
        with pytest.raises(TypeError):
            st.column(data, cloud)
    with pytest.raises(TypeError, match="not an Owner"):
        st.column(hidden["v"], "cloud")


def test_foreign_keys(owner, hidden, catalog, cloud):
    other = st.Owner.new(depth=1)
    same = st.Owner.new()
    for stranger in (other, same):
        cell = bytes(stranger.encrypt([1.0, 2.0], range=(0, 20)))
        mixed = with_cells(hidden, "v", [*cells_of(hidden, "v")[:2], cell])
        with pytest.raises(st.WrongKeys, match="v, row 2"):
            st.compute_frame(mixed, cloud, MEAN)
        with pytest.raises(st.NotTrusted, match="row 2.*not in the catalog"):
            st.decrypt_frame(mixed, owner, catalog)
    # Metadata that name another key than the cells.
    lying = st.CiphertextType({"key": "00" * 16})
    storage = hidden["v"].combine_chunks().storage
    with pytest.raises(st.WrongKeys, match="00000000"):
        st.column(pa.ExtensionArray.from_storage(lying, storage), cloud).mean().to_arrow()
    answers = st.compute_frame(hidden, cloud, MEAN)
    with pytest.raises(st.SottoError):
        st.decrypt_frame(answers, same, catalog, MEAN)


def test_swapped_cells(owner, hidden, catalog, cloud):
    v, w = cells_of(hidden, "v"), cells_of(hidden, "w")
    swapped = with_cells(hidden, "v", [v[1], v[0], v[2]])
    with pytest.raises(st.NotTrusted, match="row 0.*beside k='a'"):
        st.decrypt_frame(swapped, owner, catalog)
    answers = st.compute_frame(swapped, cloud, MEAN, by="k")
    with pytest.raises(st.NotTrusted, match="beside k="):
        st.decrypt_frame(answers, owner, catalog, MEAN)
    columns = with_cells(hidden, "v", w)
    with pytest.raises(st.NotTrusted, match="encrypted as 'w'"):
        st.decrypt_frame(columns, owner, catalog)
    with pytest.raises(st.NotTrusted, match="cells of 'w' instead of 'v'"):
        st.decrypt_frame(st.compute_frame(columns, cloud, MEAN), owner, catalog, MEAN)
    moved = st.compute_frame(hidden, cloud, MEAN, by="k")
    moved = moved.set_column(0, "k", pa.array(["b", "a", "c"]))
    with pytest.raises(st.NotTrusted, match="v, row 0"):
        st.decrypt_frame(moved, owner, catalog, MEAN)


def test_answers_to_other_questions(owner, hidden, catalog, cloud):
    answers = st.compute_frame(hidden, cloud, MEAN)
    for other in ("var", "sum", lambda v: v.mean() * 3, lambda v: v.mean(axis=1)):
        with pytest.raises(st.NotTrusted):
            st.decrypt_frame(answers, owner, catalog, {"v": other})
    damaged = with_cells(hidden, "v", [b"x"] * 3)
    for table in (damaged, damaged.to_pandas()):
        with pytest.raises(st.BadBytes, match="column 'v' has no cells"):
            st.decrypt_frame(table, owner, catalog)
    with pytest.raises(st.NotTrusted, match="computed="):
        st.decrypt_frame(answers, owner, catalog)
    with pytest.raises(st.NotTrusted, match="Catalog.of"):
        st.decrypt_frame(answers, owner)
    with pytest.raises(st.NotTrusted, match="not in the catalog"):
        st.decrypt_frame(answers, owner, st.Catalog(), MEAN)
    # Fewer cells than it says, the same one twice, none.
    cell = cells_of(answers, "v")[0]
    array, sources = _cell.read_answer(cell)
    for claimed in (sources[:2], [sources[0]] * 3, sources[::-1][:1]):
        forged = with_cells(answers, "v", [_cell.answer(bytes(array), claimed)])
        with pytest.raises(st.NotTrusted):
            st.decrypt_frame(forged, owner, catalog, MEAN)
    for bad in (_cell.answer(bytes(array), []), cell[:-1], cell[:200], cell + b"x"):
        with pytest.raises(st.BadBytes):
            st.decrypt_frame(with_cells(answers, "v", [bad]), owner, catalog, MEAN)


def test_changed_answers_never_crash(owner, hidden, catalog, cloud, rng):
    answers = st.compute_frame(hidden, cloud, MEAN)
    good = cells_of(answers, "v")[0]
    exact = st.decrypt_frame(answers, owner, catalog, MEAN)["v"][0].as_py()
    for _ in range(200):
        changed = bytearray(good)
        for position in rng.integers(0, 300, 2):
            changed[position] = rng.integers(0, 256)
        try:
            found = with_cells(answers, "v", [bytes(changed)])
            found = st.decrypt_frame(found, owner, catalog, MEAN)["v"][0].as_py()
            # The header's claims of resolution and the like are not believed.
            assert found == exact
        except st.SottoError:
            pass


def test_a_cell_counts_once(owner, hidden, catalog, cloud):
    twice = pa.concat_tables([hidden, hidden])
    with pytest.raises(st.ShapeMismatch, match="drop duplicates"):
        st.compute_frame(twice, cloud, MEAN)
    # A join may put one cell into several groups.
    twice = twice.append_column("half", pa.array([1, 1, 1, 2, 2, 2]))
    found = st.decrypt_frame(st.compute_frame(twice, cloud, MEAN, by="half"), owner, catalog, MEAN)
    assert np.allclose(found["v"], 29 / 6, atol=1e-3)


def test_wrong_requests(owner, hidden, cloud):
    with pytest.raises(KeyError, match="no column 'x'"):
        st.compute_frame(hidden, cloud, {"x": "mean"})
    with pytest.raises(TypeError, match="no computation 'max'"):
        st.compute_frame(hidden, cloud, {"v": "max"})
    with pytest.raises(TypeError, match="says what to compute"):
        st.compute_frame(hidden, cloud, {})
    with pytest.raises(KeyError, match="by='z'"):
        st.compute_frame(hidden, cloud, MEAN, by="z")
    with pytest.raises(st.ShapeMismatch, match="a value for each cell"):
        st.compute_frame(hidden, cloud, {"v": lambda v: v.mean(axis=1)}, by="k")
    with pytest.raises(TypeError, match="not a column"):
        st.compute_frame(hidden, cloud, {"v": lambda v: 3})
    clear = pa.table({"k": [1, 2], "v": [1.0, 2.0], "s": ["x", "y"]})
    with pytest.raises(KeyError, match="no column 'z'"):
        st.encrypt_frame(clear, owner, {"v": (0, 3)}, by="z")
    with pytest.raises(st.ShapeMismatch, match="clear columns"):
        st.encrypt_frame(clear, owner, {"v": (0, 3)}, by="v")
    with pytest.raises(st.OutOfRange, match="column 'v'"):
        st.encrypt_frame(clear, owner, {"v": (0, 1)}, by="k")
    with pytest.raises(TypeError, match="column 's'"):
        st.encrypt_frame(clear, owner, {"s": (0, 1)}, by="k")
    with pytest.raises(TypeError, match="not a table"):
        st.encrypt_frame([1, 2], owner, {"s": (0, 1)}, by="k")


def test_metadata(hidden):
    kind = hidden.schema.field("v").type
    facts = json.loads(kind.__arrow_ext_serialize__())
    assert facts == kind.facts and facts["scheme"] == "CKKS" and facts["bound"] == 20.0
    assert len(facts["parameters"]) == 64 and len(facts["key"]) == 32
    read = st.CiphertextType.__arrow_ext_deserialize__
    assert read(pa.large_binary(), b'{"version": 1}').facts == {"version": 1}
    bad = [
        b"",
        b"[]",
        b"{}",
        b'{"version": 2}',
        b"[" * 70000,
        b'{"version": 1' + b" " * 70000 + b"}",
    ]
    for metadata in bad:
        with pytest.raises(st.BadBytes, match="metadata"):
            read(pa.large_binary(), metadata)
    with pytest.raises(st.BadBytes, match="large_binary"):
        read(pa.int64(), b'{"version": 1}')


def test_catalog_files(catalog, hidden, tmp_path):
    catalog.save(tmp_path / "catalog.json")
    again = st.Catalog.load(tmp_path / "catalog.json")
    assert list(again) == list(catalog) and len(again) == 6
    assert all(again.known(name) == catalog.known(name) for name in catalog)
    assert repr(again) == "Catalog(v: 3, w: 3)"
    text = (tmp_path / "catalog.json").read_text()
    for bad in ["", "[]", text[:-1], text.replace('"version": 1', '"version": 2')] + [
        text.replace("20.0", wrong) for wrong in ("-1", "Infinity", '"x"', "null")
    ]:
        (tmp_path / "bad.json").write_text(bad)
        with pytest.raises(st.BadBytes, match="not a catalog"):
            st.Catalog.load(tmp_path / "bad.json")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=some.data())
def test_pooled_statistics(owner, cloud, data):
    """Any groups, any of the four, by any second grouping: as NumPy."""
    sizes = data.draw(some.lists(some.integers(1, 40), min_size=1, max_size=5))
    whole = data.draw(some.booleans())
    values = [data.draw(some.lists(some.integers(-50, 50), min_size=n, max_size=n)) for n in sizes]
    name = data.draw(some.sampled_from(["sum", "mean", "var", "std"]))
    axis = data.draw(some.sampled_from([None, 1]))
    if name in ("var", "std") and (sum(sizes) < 2 or (axis == 1 and min(sizes) < 2)):
        name = "sum"
    kind = np.int64 if whole else np.float64
    cells = [bytes(owner.encrypt(np.array(v, dtype=kind), range=(-50, 50))) for v in values]
    hidden = pa.table({"v": pa.array(cells, pa.large_binary())})
    computed = {"v": lambda v: getattr(v, name)(axis=axis)}
    found = st.decrypt_frame(
        st.compute_frame(hidden, cloud, computed), owner, st.Catalog.of(hidden), computed
    )
    groups = [sum(values, [])] if axis is None else values
    more = {"ddof": 1} if name in ("var", "std") else {}
    exact = [float(getattr(np, name)(np.array(group), **more)) for group in groups]
    for got, bound, right in zip(
        found["v"].to_pylist(), found["v_bound"].to_pylist(), exact, strict=True
    ):
        assert abs(got - right) <= bound + 1e-9 * max(1, abs(right))
        assert bound < 0.1


def test_clear_values_of_engines_agree():
    """Engines give back dates as instants and whole numbers as floats."""
    import datetime

    import pandas as pd
    from sotto._table.catalog import text

    east = datetime.timezone(datetime.timedelta(hours=2))
    same = [
        (datetime.date(2026, 3, 1), datetime.datetime(2026, 3, 1), pd.Timestamp("2026-03-01")),
        (datetime.datetime(2026, 3, 1, 2, tzinfo=east), pd.Timestamp("2026-03-01", tz="UTC")),
        (3, 3.0, np.int64(3), "3"),
    ]
    for values in same:
        assert len({text(value) for value in values}) == 1
    assert len({text(value) for group in same for value in group}) == len(same)
