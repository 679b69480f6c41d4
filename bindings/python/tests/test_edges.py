"""Edges of NumPy and pandas: computed as they do it, or refused."""

import numpy as np
import pandas as pd
import pytest
import sotto as st


@pytest.fixture(scope="module")
def arrays(owner):
    """Return rows of real numbers, whole numbers and two tables, each with its values."""
    clear = {
        "v": np.arange(1.0, 7),
        "i": np.arange(6),
        "m": np.arange(18.0).reshape(6, 3),
        "t": np.arange(36.0).reshape(6, 2, 3),
    }
    return {name: (owner.encrypt(a, range=(0, 40)), a) for name, a in clear.items()}


@pytest.mark.parametrize(
    "public",
    [np.arange(6, dtype=np.uint8), np.uint8(5), np.int8(-128), np.array([True] * 6), np.uint16(9)],
    ids=str,
)
def test_narrow_public_numbers_do_not_wrap(arrays, owner, close, public):
    for name in ("v", "i"):
        x, clear = arrays[name]
        wide = np.asarray(public).astype(np.int64)
        close(owner.decrypt(x - public), clear - wide)
        close(owner.decrypt(x + public), clear + wide)
        close(owner.decrypt(public - x), wide - clear)


def test_whole_numbers_beyond_int64_are_refused(arrays):
    x, _ = arrays["i"]
    for run in (
        lambda: x + np.uint64(2**64 - 5),
        lambda: x * np.full(6, 2**64 - 2, np.uint64),
        lambda: x - np.int64(-(2**63)),
    ):
        with pytest.raises(st.OutOfRange, match="int64|2\\^63"):
            run()


def test_several_lists_of_indices_are_refused(arrays):
    m, t = arrays["m"][0], arrays["t"][0]
    v = arrays["v"][0]
    for take in (
        lambda: t[0, :, [0, 1]],
        lambda: t[[0, 1], :, [0, 1]],
        lambda: m[[0, 1], [0, 1]],
        lambda: v[[[0, 1], [2, 3]]],
        lambda: v[True],
        lambda: np.take(v, [[1, 0], [0, 1]]),
    ):
        with pytest.raises(st.ShapeMismatch):
            take()
    with pytest.raises(TypeError):
        np.take(v, np.array([True, False] * 3))
    with pytest.raises(IndexError):
        m[:, 0:0]
    with pytest.raises(IndexError):
        m.sum(axis=0)[0:0]


KEYS = [
    (0, [0, 1]),
    (slice(None), [1, 0]),
    (slice(1, 4), 1, [2, 0]),
    (3, 1),
    (slice(None, None, -1), slice(None), [2, 2]),
    ([True, False] * 3,),
    ([4, -1],),
    (Ellipsis, 0),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_keys_that_work_are_numpys(arrays, owner, close, key):
    x, clear = arrays["t"]
    close(owner.decrypt(x[key]), clear[key])


def test_choices_keep_fractions(arrays):
    x, _ = arrays["i"]
    mask = np.arange(6) % 2 == 0
    for public in (2.5, np.linspace(0, 1, 6), np.nan):
        with pytest.raises(TypeError, match="whole numbers"):
            np.where(mask, x, public)


def test_arguments_of_numpy_are_heeded_or_refused(arrays, owner, close):
    v, clear = arrays["v"]
    sums = arrays["t"][0].sum(axis=0)
    with pytest.raises(TypeError, match="C order"):
        np.reshape(sums, (3, 2), order="F")
    for options in ({"initial": 10.0}, {"where": clear > 3}):
        with pytest.raises(TypeError):
            np.add.reduce(v, **options)
    close(owner.decrypt(np.add.reduce(v, keepdims=True)), clear.sum(keepdims=True))
    with pytest.raises(st.ShapeMismatch, match="axis=None"):
        np.concatenate([sums, sums], axis=None)
    with pytest.raises(TypeError):
        np.roll(v, (1, 2))
    with pytest.raises(ValueError):
        np.diff(v, -1)


def test_one_row_meets_a_broadcast_column(owner, close):
    x = owner.encrypt([3.0], range=(0, 5))
    close(owner.decrypt(x + np.broadcast_to(2.0, (6,))), np.full(6, 5.0))


def test_a_deviation_of_nothing_has_a_bound(owner):
    found = owner.decrypt(owner.encrypt(np.full(5, 3), range=(0, 9)).std())
    assert found == 0 and found.bound == 0


@pytest.mark.parametrize("resolution", [1, np.float32(0.5)])
def test_resolutions_of_any_number_type_travel(owner, resolution):
    x = owner.encrypt([3.0, 0.0], range=(0, 9), resolution=resolution)
    back = owner.attach(st.DetachedArray(bytes(x)))
    assert back._grid == float(resolution)
    assert owner.plan(lambda a: a + a, st.like(2, (0, 9), resolution=resolution)).shape == (2,)


def test_groups_with_gaps_as_pandas(owner):
    frame = pd.DataFrame({"g": [0, 0, 1, 1], "t": [1.0, np.nan, 2.0, 3.0]})
    hidden = st.encrypt_frame(frame, owner, {"t": (0, 9)})
    for how in ("sum", "mean"):
        found = getattr(hidden.groupby("g").t, how)(skipna=False)
        exact = getattr(frame.groupby("g").t, how)(skipna=False)
        clear = st.decrypt_frame(found, owner)
        assert np.allclose(clear, exact, atol=clear.attrs["bound"], equal_nan=True)
    kept = hidden[[True, False, True, True]]
    ratio = st.decrypt_frame(kept.t / pd.Series([2.0, 4.0, 5.0], index=[0, 2, 3]), owner)
    assert np.allclose(ratio, [0.5, 0.5, 0.6], atol=1e-4)
    with pytest.raises(st.ShapeMismatch, match="one name"):
        st.decrypt_frame(hidden.rename(columns={"g": "t"}), owner)


def cells(owner):
    frame = pd.DataFrame({"device": ["boiler", "pump"] * 3, "t": [60.0, 20, 61, 21, 62, 22]})
    hidden = st.encrypt_frame(frame, owner, {"t": (-20, 120)}, by=["device"])
    return hidden, st.Catalog.of(hidden)


def test_a_cell_shown_as_rows_is_refused(owner):
    pa = pytest.importorskip("pyarrow")
    from sotto._table import arrow, cell

    hidden, catalog = cells(owner)
    rows = arrow.column(cell.rows(bytes(hidden["t"].iloc[0]), np.arange(3)))
    forged = pa.table({"device": ["pump"] * 3, "t": rows})
    with pytest.raises(st.NotTrusted, match="stands for rows"):
        st.decrypt_frame(forged, owner, catalog)


def test_counts_are_the_catalogs(owner):
    pa = pytest.importorskip("pyarrow")
    hidden, catalog = cells(owner)
    cloud = st.Evaluator(owner.public_bundle())
    table = pa.Table.from_pandas(hidden.drop(columns="t_count", errors="ignore"))
    answer = st.compute_frame(table, cloud, {"t": "mean"})
    answer = answer.append_column("t_count", pa.array([10**6]))
    clear = st.decrypt_frame(answer, owner, catalog, {"t": "mean"})
    assert clear["t_count"].to_pylist() == [6]
    assert abs(clear["t"][0].as_py() - 41) <= clear["t_bound"][0].as_py()


def test_masked_values_are_refused(owner, arrays):
    masked = np.ma.masked_equal([20.0, -999.0, 22.0, 1.0, 1.0, 1.0], -999.0)
    with pytest.raises(st.OutOfRange, match="masked"):
        owner.encrypt(masked)
    with pytest.raises(st.OutOfRange, match="masked"):
        arrays["v"][0] + masked


def test_narrow_numbers_do_not_wrap_beside_paillier():
    from sotto import paillier

    public, private = paillier.insecure_generate_paillier_keypair(n_length=512)
    assert private.decrypt(public.encrypt(5) - np.uint8(1)) == 4
    assert private.decrypt(public.encrypt(5) - np.int8(-128)) == 133


def test_axes_are_named_once(arrays, owner, close):
    m, clear = arrays["m"]
    with pytest.raises(st.ShapeMismatch, match="twice"):
        np.sum(m, axis=(0, 0))
    with pytest.raises(st.ShapeMismatch, match="axis 0 stays"):
        np.transpose(m)
    sums = arrays["t"][0].sum(axis=0)
    close(owner.decrypt(np.transpose(sums)), arrays["t"][1].sum(axis=0).T)


def test_a_plan_holds_for_functions_that_have_no_picture(owner):
    plan = owner.plan(lambda x: x * {(1,): 2.0}[x.shape], st.like(1, range=(0, 5)))
    assert plan.shape == (1,)


def test_an_owner_without_public_inputs_is_named_at_once():
    cloud = st.Evaluator(st.Owner.new(depth=1).public_bundle())
    with pytest.raises(st.WrongKeys, match="public_inputs=True"):
        cloud.encrypt([1.0, 2.0], range=(0, 5))


def test_messages_name_what_python_has(owner):
    x = owner.encrypt(np.arange(4.0), range=(0, 4))
    small = st.Owner.new(depth=1, results_within=1e4)
    whole = small.encrypt(np.arange(4), range=(0, 50))
    for run, text in (
        (lambda: x + np.nan, "not a finite number"),
        (lambda: small.decrypt(whole * whole * whole), "Owner.new"),
        (lambda: st.Owner.new(depth=3).decrypt(x), "its own owner"),
        (lambda: x * x * x * x * x * x, "Owner.new"),
    ):
        with pytest.raises(st.SottoError, match=text) as raised:
            run()
        assert "::" not in str(raised.value), raised.value


def test_keys_of_another_owner_are_named_by_the_error(owner):
    x = owner.encrypt(np.arange(4.0), range=(0, 4))
    with pytest.raises(st.WrongKeys, match="key"):
        st.Owner.new().decrypt(x)
    with pytest.raises(st.WrongKeys):
        st.Owner.new(depth=3).decrypt(x)


def test_fresh_arrays_take_half_the_bytes(owner):
    for values in (np.arange(40.0), np.arange(40), np.arange(12.0).reshape(4, 3)):
        x = owner.encrypt(values, range=(0, 50))
        assert len(bytes(x)) < 0.52 * len(bytes(x + x))
        plan = owner.plan(lambda y: y + 1, st.like(x.shape, range=(0, 50), dtype=x.dtype))
        cloud = st.Evaluator(owner.public_bundle(integers=True))
        answer = cloud.run(lambda y: y + 1, cloud.read(bytes(x)))
        found = owner.decrypt(st.DetachedArray(bytes(answer)), plan)
        assert (abs(found - (values + 1)) <= found.bound).all()
        same = owner.plan(lambda y: y, st.like(x.shape, range=(0, 50), dtype=x.dtype))
        kept = cloud.run(lambda y: y, cloud.read(bytes(x)))
        found = owner.decrypt(st.DetachedArray(bytes(kept)), same)
        assert (abs(found - values) <= found.bound).all()
