"""Encrypted tables of polars, Arrow and pandas through Parquet and DuckDB, against clear ones."""

import datetime

import numpy as np
import pytest
import sotto as st

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")

RANGES = {"temperature": (-20, 90), "load": (0, 100)}
COMPUTED = {
    "temperature": "mean",
    "spread": ("std", "temperature"),
    "fahrenheit": (lambda t: (t * 1.8 + 32).mean(), "temperature"),
    "load": "sum",
}
FRAMES = {
    "polars": lambda df: df,
    "arrow": lambda df: df.to_arrow(),
    "pandas": lambda df: df.to_pandas(),
}


@pytest.fixture(scope="module")
def clear():
    """Return readings of three devices on three days, with gaps."""
    rng = np.random.default_rng(11)
    size = 240
    first = datetime.date(2026, 3, 1)
    return pl.DataFrame(
        {
            "device": rng.choice(["boiler", "pump", "roof"], size),
            "day": [first + datetime.timedelta(days=i * 3 // size) for i in range(size)],
            "temperature": np.round(rng.uniform(-20, 90, size), 1),
            "load": rng.integers(0, 100, size),
        }
    ).with_columns(
        pl.when(pl.int_range(pl.len()) % 17 == 0)
        .then(None)
        .otherwise(pl.col("temperature"))
        .alias("temperature")
    )


@pytest.fixture(scope="module")
def hidden(owner, clear):
    """Return a cell for each device and day."""
    return st.encrypt_frame(clear, owner, RANGES, {"temperature": 0.1}, by=["device", "day"])


@pytest.fixture(scope="module")
def catalog(hidden):
    """Return what the owner keeps of it."""
    return st.Catalog.of(hidden)


@pytest.fixture(scope="module")
def cloud(owner):
    """Return a party that computes."""
    owner.encrypt([1])
    return st.Evaluator(owner.public_bundle())


def within(found, bound, exact):
    """Compare columns within their bounds."""
    columns = (x.to_pylist() if hasattr(x, "to_pylist") else list(x) for x in (found, bound, exact))
    found, bound, exact = (np.asarray(column, dtype=float) for column in columns)
    assert np.all(np.abs(found - exact) <= bound + 1e-9)
    assert bound.max() < 0.01


@pytest.mark.parametrize("engine", ["to_arrow_table", "pl", "df"])
def test_duckdb_queries_ciphertexts(owner, clear, hidden, catalog, cloud, tmp_path, engine):
    path = tmp_path / "hidden.parquet"
    hidden.write_parquet(path)
    rooms = pl.DataFrame(
        {"device": ["roof", "pump", "boiler"], "room": ["top", "cellar", "cellar"]}
    )
    query = f"""
        select room, device, day, temperature, load
        from '{path}' join rooms using (device)
        where day < date '2026-03-03' and temperature_count > 5
        order by room, device desc, day"""
    con = duckdb.connect()
    con.register("rooms", rooms.to_arrow())
    queried = getattr(con.sql(query), engine)()
    answers = st.compute_frame(queried, cloud, COMPUTED, by="room")
    found = st.decrypt_frame(answers, owner, catalog, COMPUTED)
    assert type(found) is type(queried)
    chosen = clear.filter(pl.col("day") < datetime.date(2026, 3, 3)).join(rooms, on="device")
    exact = (
        chosen.group_by("room")
        .agg(
            pl.col("temperature").mean(),
            pl.col("temperature").std().alias("spread"),
            (pl.col("temperature") * 1.8 + 32).mean().alias("fahrenheit"),
            pl.col("load").sum(),
            pl.col("temperature").count().alias("count"),
        )
        .sort("room")
    )
    assert list(found["room"].tolist() if engine == "df" else pl.Series(found["room"])) == [
        "cellar",
        "top",
    ]
    columns = found.to_pydict() if engine == "to_arrow_table" else found
    for name in COMPUTED:
        within(columns[name], columns[f"{name}_bound"], exact[name])
    assert list(columns["temperature_count"]) == exact["count"].to_list()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_table_goes_and_comes_back(owner, clear, cloud, kind, tmp_path):
    table = FRAMES[kind](clear)
    hidden = st.encrypt_frame(table, owner, {"temperature": (-20, 90)}, by="device")
    catalog = st.Catalog.of(hidden)
    path = tmp_path / "t.parquet"
    if kind == "polars":
        hidden.write_parquet(path)
        back = pl.read_parquet(path)
        if hasattr(pl, "BaseExtension"):
            assert isinstance(back.schema["temperature"], pl.BaseExtension)
    elif kind == "arrow":
        pq.write_table(hidden, path)
        back = pq.read_table(path)
        assert back.schema.field("temperature").type == hidden.schema.field("temperature").type
        assert back.schema.field("temperature").type.facts["resolution"] is None
    else:
        hidden.to_parquet(path)
        back = pd.read_parquet(path)
    found = st.decrypt_frame(back, owner, catalog)
    exact = clear.drop_nulls("temperature").group_by("device", maintain_order=True)
    exact = exact.agg(pl.col("temperature"))
    assert type(found) is type(table)
    for got, values in zip(pl.Series(found["temperature"]), exact["temperature"], strict=True):
        assert np.allclose(got, values, atol=1e-3)
    answers = st.compute_frame(back, cloud, {"temperature": "sum"})
    total = st.decrypt_frame(answers, owner, catalog, {"temperature": "sum"})
    within(total["temperature"], total["temperature_bound"], [clear["temperature"].sum()])


def test_values_for_each_cell(owner, clear, hidden, catalog, cloud):
    computed = {
        "temperature": lambda t: t.mean(axis=1),
        "energy": (
            lambda t, w: (t.each(lambda x: x.sum()) * w.each(lambda x: x.sum())) / 1e4,
            "a",
            "b",
        ),
    }
    own = clear.drop_nulls().with_columns(a=pl.col("temperature"), b=pl.col("load").cast(float))
    table = st.encrypt_frame(
        own, owner, {"temperature": (-20, 90), "a": (-20, 90), "b": (0, 100)}, by="device"
    )
    answers = st.compute_frame(table, cloud, computed)
    assert answers.columns == [
        "device",
        "temperature_count",
        "a_count",
        "b_count",
        "temperature",
        "energy",
    ]
    found = st.decrypt_frame(answers, owner, st.Catalog.of(table), computed)
    exact = own.group_by("device", maintain_order=True).agg(
        pl.col("temperature").mean(), energy=pl.col("a").sum() * pl.col("b").sum() / 1e4
    )
    assert found["device"].to_list() == exact["device"].to_list()
    for name in computed:
        within(found[name], found[f"{name}_bound"], exact[name])


def test_missing_values_stay_public_nulls(owner, cloud):
    clear = pl.DataFrame({"k": ["a", "a", "b", None], "v": [1.5, None, None, 4.0]})
    hidden = st.encrypt_frame(clear, owner, {"v": (0, 4)}, by="k")
    assert hidden["v"].is_null().to_list() == [False, True, False]
    assert hidden["v_count"].to_list() == [1, 0, 1]
    catalog = st.Catalog.of(hidden)
    found = st.decrypt_frame(
        st.compute_frame(hidden, cloud, {"v": "mean"}, by="k"), owner, catalog, {"v": "mean"}
    )
    assert found["v"].is_null().to_list() == [False, True, False]
    within(found["v"].drop_nulls(), found["v_bound"].drop_nulls(), [1.5, 4.0])
    total = st.decrypt_frame(
        st.compute_frame(hidden, cloud, {"v": "sum"}), owner, catalog, {"v": "sum"}
    )
    within(total["v"], total["v_bound"], [5.5])
    rows = st.encrypt_frame(clear, owner, {"v": (0, 4)})
    found = st.decrypt_frame(rows, owner, st.Catalog.of(rows))
    assert found["v"].is_null().to_list() == [False, True, True, False]


def test_rows_of_polars_and_arrow(owner, clear, cloud):
    for convert in FRAMES.values():
        table = convert(clear)
        hidden = st.encrypt_frame(table, owner, RANGES, {"temperature": 0.1})
        found = st.decrypt_frame(hidden, owner, st.Catalog.of(hidden))
        back = pl.DataFrame(found)
        values = back["temperature"].fill_nan(None)
        assert values.is_null().to_list() == clear["temperature"].is_null().to_list()
        assert np.allclose(values.drop_nulls(), clear["temperature"].drop_nulls(), atol=1e-9)
        assert back["load"].to_list() == clear["load"].to_list()


def test_pandas_groups_what_polars_sends(owner, clear, cloud, tmp_path):
    hidden = st.encrypt_frame(clear, owner, RANGES, {"temperature": 0.1})
    own = st.attach_frame(hidden, owner)
    hidden.sort("day", descending=True).write_parquet(tmp_path / "rows.parquet")

    def question(frame):
        return frame.groupby("device").temperature.mean()

    frame = st.attach_frame(duckdb.sql(f"select * from '{tmp_path}/rows.parquet'"), cloud)
    answer = question(frame)
    frame = pd.DataFrame({"temperature": answer})
    frame.to_parquet(tmp_path / "answer")
    back = pd.read_parquet(tmp_path / "answer")
    plans = st.plan_frame(question, own, owner)
    found = st.decrypt_frame(back, owner, plans=plans)
    exact = clear.to_pandas().groupby("device").temperature.mean()
    within(found.temperature, [found.attrs["bound"]["temperature"]], exact)
    with pytest.raises(st.NotTrusted, match="plan_frame"):
        st.decrypt_frame(back, owner, st.Catalog.of(hidden))
    with pytest.raises(st.NotTrusted):
        other = st.plan_frame(lambda f: f.groupby("device").temperature.var(), own, owner)
        st.decrypt_frame(back, owner, plans=other)


def test_a_column_computes_and_exports(owner, clear, hidden, catalog, cloud):
    column = st.column(hidden["temperature"], cloud)
    assert (
        len(column) == 9
        and not column.isna().any()
        and column.counts.sum() == clear["temperature"].count()
    )
    answer = pa.array(column[:4].mean())
    assert (
        answer.type.extension_name == "sotto.ciphertext" and answer.type.facts["cells"] == "answer"
    )
    assert answer.type.facts["key"] == owner.key_id
    mean = column.mean()
    # polars before extension types takes the bytes.
    mean = pl.DataFrame({"temperature": mean if hasattr(pl, "BaseExtension") else mean.cells()})
    found = st.decrypt_frame(mean, owner, catalog, {"temperature": "mean"})
    within(found["temperature"], found["temperature_bound"], [clear["temperature"].mean()])
    untouched = pa.chunked_array([column.to_arrow()])
    assert untouched.to_pylist() == hidden["temperature"].to_arrow().to_pylist()
    schema, array = column.__arrow_c_array__()
    assert "arrow_schema" in repr(schema) and "arrow_array" in repr(array)
    with pytest.raises(TypeError, match="compared"):
        assert column == 3
    with pytest.raises(TypeError):
        np.asarray(column, dtype=float)


def test_a_file_of_another_package(owner, cloud):
    """Chemical analyses of wines of three cultivars, as scikit-learn carries them."""
    datasets = pytest.importorskip("sklearn.datasets")
    wine = datasets.load_wine(as_frame=True).frame
    clear = pl.DataFrame({name: wine[name].to_numpy() for name in wine.columns})
    names = ["alcohol", "ash", "color_intensity"]
    ranges = {name: (0, 20) for name in names}
    hidden = st.encrypt_frame(clear, owner, ranges, by="target")
    computed = dict.fromkeys(names, "var")
    answers = st.compute_frame(hidden.reverse(), cloud, computed, by="target")
    found = st.decrypt_frame(answers, owner, st.Catalog.of(hidden), computed)
    exact = wine.groupby("target")[names].var().loc[found["target"].to_list()]
    for name in names:
        within(found[name], found[f"{name}_bound"], exact[name])


class ByArray:
    """Has the PyCapsule interface of arrays and nothing else."""

    def __init__(self, array):
        """Take an Arrow array."""
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        """Export it."""
        return self._array.__arrow_c_array__(requested_schema)


class ByStream:
    """Has the PyCapsule interface of streams and nothing else."""

    def __init__(self, table):
        """Take an Arrow table or column."""
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        """Export it."""
        return self._table.__arrow_c_stream__(requested_schema)


def test_capsules_of_anybody(owner, clear, hidden, catalog, cloud):
    table = hidden.to_arrow()
    exact = [clear["temperature"].mean()]
    column = table["temperature"]
    for data in (ByArray(column.combine_chunks()), ByStream(column), column.to_pylist()):
        answer = {"temperature": ByArray(st.column(data, cloud).mean())}
        found = st.decrypt_frame(
            pa.table({name: pa.array(cells) for name, cells in answer.items()}),
            owner,
            catalog,
            {"temperature": "mean"},
        )
        within(found["temperature"], found["temperature_bound"], exact)
    answers = st.compute_frame(ByStream(table), cloud, {"temperature": "mean"})
    found = st.decrypt_frame(ByStream(answers), owner, catalog, {"temperature": "mean"})
    assert isinstance(found, pa.Table)
    within(found["temperature"], found["temperature_bound"], exact)
    frame = st.encrypt_frame(ByStream(clear.to_arrow()), owner, RANGES)
    rows = st.EncryptedColumn.from_arrow(ByStream(frame["load"]), owner)
    schema, _ = rows.__arrow_c_array__()
    assert "arrow_schema" in repr(schema)
    again = st.EncryptedColumn.from_arrow(ByArray(rows))
    assert len(again) == len(clear)
