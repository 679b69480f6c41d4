"""Columns of pandas rows as Arrow: references to one encrypted vector."""

import numpy as np
import pandas as pd
import pytest
import sotto as st

pa = pytest.importorskip("pyarrow")


def test_rows_travel_in_pandas(owner, tmp_path):
    clear = pd.DataFrame(
        {"k": list("abab"), "x": [1.0, np.nan, 3.0, 4.0], "y": [np.nan, 6.0, 7.0, 8.0]}
    )
    frame = st.encrypt_frame(clear, owner, {"x": (0, 9), "y": (0, 9)})
    catalog = st.Catalog.of(frame)
    frame.sort_values("k", ascending=False).to_parquet(tmp_path / "f.parquet")
    back = pd.read_parquet(tmp_path / "f.parquet")
    assert isinstance(back.x.dtype, st.EncryptedDtype)
    found = st.decrypt_frame(back, owner, catalog)
    exact = clear.sort_values("k", ascending=False)
    pd.testing.assert_frame_equal(found, exact, atol=found.attrs["bound"]["x"], rtol=1e-3)
    with pytest.raises(st.WrongKeys, match="attach_frame"):
        back.x.mean()
    with pytest.raises(st.NotTrusted, match="Catalog.of"):
        st.decrypt_frame(back, owner)
    own = st.attach_frame(back, owner)
    scaled = st.plan_frame(lambda f: f.x * np.array([1.0, 2.0, 3.0, 4.0]), own, owner)
    shown = pd.DataFrame({"x": own.x * np.array([1.0, 2.0, 3.0, 4.0])})
    found = st.decrypt_frame(shown, owner, plans=scaled)
    assert np.allclose(found.x, exact.x * [1, 2, 3, 4], equal_nan=True, atol=1e-3)
    total = own.x + own.y
    assert total.isna().tolist() == (exact.x + exact.y).isna().tolist()
    answer = pd.DataFrame({"values": total})
    plans = st.plan_frame(lambda f: f.x + f.y, own, owner)
    found = st.decrypt_frame(answer, owner, plans=plans)["values"]
    assert np.allclose(found, exact.x + exact.y, equal_nan=True, atol=1e-3)
    empty = pa.array(frame.x.array[[1]])
    assert st.EncryptedColumn.from_arrow(empty).isna().all()
    with pytest.raises(st.ShapeMismatch, match="missing"):
        st.EncryptedColumn.from_arrow(empty)._array.sum()


def test_rows_without_their_carrier(owner):
    frame = st.encrypt_frame(pd.DataFrame({"x": [1.0, 2.0, 3.0]}), owner, {"x": (0, 9)})
    cells = pa.array(frame.x.array).storage.to_pylist()
    assert len(cells[0]) > 10_000 > 100 > len(cells[1])
    read = st.EncryptedColumn.from_arrow
    with pytest.raises(st.ShapeMismatch, match="Filter after"):
        read(cells[1:])
    assert len(read([cells[2], None, cells[0], cells[2]])) == 4
    other = pa.array(st.encrypt_frame(pd.DataFrame({"x": [1.0]}), owner, {"x": (0, 9)}).x.array)
    with pytest.raises(st.ShapeMismatch, match="several"):
        read([*cells, other.storage[0].as_py()])
    beyond = cells[1][:10] + (7).to_bytes(8, "little") + cells[1][18:]
    far = cells[1][:10] + (2**63).to_bytes(8, "little") + cells[1][18:]
    swapped = cells[1] + cells[0][50:-1] + bytes([cells[0][-1] ^ 1])
    for bad in ([cells[0], beyond], [cells[0], far], [swapped], [cells[0][:40]], [b"x"]):
        with pytest.raises(st.BadBytes):
            read(bad)


def test_a_missing_reading_stays_missing(owner, tmp_path):
    clear = pd.DataFrame({"x": [1.0, np.nan, 3.0, np.nan]})
    frame = st.encrypt_frame(clear, owner, {"x": (0, 9)})
    catalog = st.Catalog.of(frame)
    catalog.save(tmp_path / "catalog.json")
    cells = pa.array(frame.x.array).storage.to_pylist()
    for row in (1, 3):
        forged = list(cells)
        forged[row] = cells[2][:10] + row.to_bytes(8, "little") + cells[2][18:]
        table = pa.table({"x": pa.array(forged, pa.large_binary())})
        for known in (catalog, st.Catalog.load(tmp_path / "catalog.json"), catalog | catalog):
            found = st.decrypt_frame(pa.table({"x": pa.array(cells)}), owner, known)
            assert found["x"].null_count == 2
            with pytest.raises(st.NotTrusted, match=f"row {row} .* missing"):
                st.decrypt_frame(table, owner, known)
            with pytest.raises(st.NotTrusted, match=f"row {row} .* missing"):
                column = st.EncryptedColumn.from_arrow(table["x"])
                st.decrypt_frame(pd.DataFrame({"x": column}), owner, known)
    # A catalog of some rows is joined with one of others.
    parts = st.Catalog.of(frame[:1]) | st.Catalog.of(frame)
    assert st.decrypt_frame(pa.table({"x": pa.array(cells)}), owner, parts)["x"].null_count == 2
