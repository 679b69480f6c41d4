"""Every operation of encrypted arrays against NumPy."""

import numpy as np
import pytest
import sotto as st

RANGE = (-4, 4)


@pytest.fixture(scope="module")
def data():
    """Return clear arrays of several shapes."""
    rng = np.random.default_rng(1)
    return {
        "x": rng.uniform(-4, 4, 37),
        "y": rng.uniform(-4, 4, 37),
        "X": rng.uniform(-4, 4, (37, 3)),
        "Y": rng.uniform(-4, 4, (37, 2)),
        "s": np.float64(2.25),
    }


@pytest.fixture(scope="module")
def encrypted(owner, data):
    """Return the same arrays, encrypted."""
    return {name: owner.encrypt(values, range=RANGE) for name, values in data.items()}


W = np.random.default_rng(2).normal(size=37)
M = np.random.default_rng(3).normal(size=(3, 4))

EXPRESSIONS = [
    "x + y", "x - y", "x * y", "x + 1.5", "1.5 - x", "x * -2", "x / 4", "-x", "+x", "x ** 2",
    "x ** 3", "x + W", "W - x", "x * W", "W * x", "x - W", "np.add(x, 1)", "np.subtract(1, x)",
    "np.multiply(x, y)", "np.negative(x)", "np.square(x)", "np.power(x, 2)", "np.divide(x, 3)",
    "x.sum()", "np.sum(x)", "x.mean()", "np.mean(x)", "x.var()", "np.var(x, ddof=1)", "x.std()",
    "np.std(x)", "x @ y", "x.dot(y)", "np.dot(x, y)", "x @ W", "W @ x", "np.matmul(W, x)",
    "x - x.mean()", "(x - x.mean()) ** 2", "x * s", "s * s + 1", "s - x",
    "X + X", "X * X", "X + 1", "X * M[:, 0]", "X - X.mean(axis=0)", "X @ M", "X @ M[:, 1]",
    "X.sum()", "X.sum(axis=0)", "X.sum(axis=1)", "X.sum(axis=-1)", "X.mean()", "X.mean(axis=0)",
    "X.var(axis=0)", "X.std(axis=0)", "X.var()", "X.mean(axis=1)", "X.T @ Y", "X.T @ X", "X.T @ x",
    "X.T @ W", "W @ X", "X.mean(axis=0) @ M", "X[:, 1]", "X[:, 1:]", "X[:, [2, 0]]", "X[..., 0]",
    "x[3]", "x[-1]", "x[2:9]", "x[::5]", "x[[4, 4, 0]]", "x[W > 0]", "X[1]", "X[1:4, 0]", "X[5, 2]",
    "x[:, None] * M[0]", "x[:, None] + X", "X * x[:, None]", "np.polyval([2.0, -1.0, 0.5], x)",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(owner, data, encrypted, close, expression):
    public = {"np": np, "W": W, "M": M}
    found = owner.decrypt(eval(expression, public, encrypted))
    close(found, eval(expression, public, data))


def test_covariances(owner, data, encrypted, close):
    close(owner.decrypt(encrypted["x"].cov(encrypted["y"])), np.cov(data["x"], data["y"])[0, 1])
    close(owner.decrypt(encrypted["X"].cov()), np.cov(data["X"], rowvar=False))


WHOLE = [
    "a + b", "a - b", "a * b", "a * 3", "a + 7", "-a", "a ** 2", "a.sum()", "a @ b", "a @ c",
    "a * c", "a.mean()", "a.var()", "a.std(ddof=1)", "a[2:5]", "a[[1, 1]]", "A @ d",
    "A.sum(axis=1)", "A.T @ A", "10 - a",
]  # fmt: skip


@pytest.mark.parametrize("expression", WHOLE)
def test_whole_numbers_are_exact(owner, expression):
    rng = np.random.default_rng(4)
    a, b, c = rng.integers(-100, 101, (3, 19))
    clear = {"a": a, "b": b, "A": rng.integers(-100, 101, (19, 3))}
    hidden = {name: owner.encrypt(values, range=(-100, 100)) for name, values in clear.items()}
    public = {"np": np, "c": c, "d": np.array([1, -2, 3])}
    exact = eval(expression, public, clear)
    found = owner.decrypt(eval(expression, public, hidden))
    assert found.shape == np.shape(exact)
    if np.asarray(exact).dtype.kind == "i":
        assert found.dtype == np.int64 and found.bound == 0 and np.array_equal(found, exact)
    else:
        assert np.allclose(found, exact, rtol=1e-14)


@pytest.mark.parametrize("length", [1, 2, 3, 64, 65, 4096, 5000, 9000])
def test_any_length(owner, close, rng, length):
    values = rng.uniform(0, 60, length)
    x = owner.encrypt(values, range=(0, 60))
    close(owner.decrypt(x), values)
    close(owner.decrypt((x * 2 + 1).sum()), (values * 2 + 1).sum())
    close(owner.decrypt(x[length // 2 :]), values[length // 2 :])


def test_readings_of_a_resolution_are_exact(owner):
    readings = np.array([20.5, 21.0, 18.5, -3.1])
    x = owner.encrypt(readings, range=(-40, 60), resolution=0.1)
    assert np.array_equal(owner.decrypt(x), np.round(readings / 0.1) * 0.1)
    total = owner.decrypt((x - x[::-1] + x).sum())
    assert abs(float(total) - readings.sum()) < 1e-12


def test_nothing_decrypts_by_accident(owner):
    x = owner.encrypt([1.0, 2.0])
    for accident in [np.asarray, float, bool, int, list, np.array, np.exp, np.max, np.sort]:
        with pytest.raises(TypeError):
            accident(x)
    for compare in [lambda: x > 1, lambda: x == x, lambda: np.less(x, 1), lambda: 3 < x]:
        with pytest.raises(TypeError, match="compare"):
            compare()
    assert "2.0" not in repr(x) and not hasattr(x, "__dict__")


def test_refusals_say_what_to_do(owner):
    x = owner.encrypt([1.0, 2.0, 3.0])
    with pytest.raises(st.OutOfRange, match="declare range"):
        owner.encrypt([0.0, 2000.0])
    for bad in [np.nan, np.inf, -np.inf]:
        with pytest.raises(st.OutOfRange, match="at 1"):
            owner.encrypt([0.0, bad])
    for bad in ["a", None, 1j]:
        with pytest.raises(TypeError):
            owner.encrypt([bad])
    with pytest.raises(st.ShapeMismatch):
        owner.encrypt([])
    with pytest.raises(st.ShapeMismatch, match=r"\(3,\) and \(2,\)"):
        x + owner.encrypt([1.0, 2.0])
    with pytest.raises(st.ShapeMismatch):
        x + np.ones(4)
    with pytest.raises(TypeError, match="dtype=float"):
        owner.encrypt([1, 2]) * 0.5
    with pytest.raises(TypeError, match="do not go together"):
        owner.encrypt([1, 2, 3]) + x
    for wrong in [5, (1,), ("a", "b"), (5, 1), (0, np.nan)]:
        with pytest.raises((TypeError, st.OutOfRange), match="range="):
            owner.encrypt([1.0], range=wrong)
    for depth in [-1, 1000]:
        with pytest.raises(ValueError, match="depth="):
            st.Owner.new(depth=depth)
    with pytest.raises(AttributeError, match="there are sum"):
        x.max()
    with pytest.raises(TypeError, match="not an encrypted array"):
        owner.decrypt(np.ones(3))
    with pytest.raises(FileNotFoundError):
        st.Owner.load("/nonexistent")
    with pytest.raises(TypeError, match="no division"):
        x / x
    with pytest.raises(ZeroDivisionError):
        x / 0
    with pytest.raises(TypeError, match="the last step"):
        x.std() + 1
    with pytest.raises(IndexError):
        x[3]
    with pytest.raises(IndexError):
        x[3:]
    with pytest.raises(st.WrongKeys):
        x + st.Owner.new().encrypt([1.0, 2.0, 3.0])


def test_no_room_names_the_lines(owner):
    x = owner.encrypt([1.5, 2.5], range=(0, 3))
    y = x * x
    z = y * y
    with pytest.raises(st.OutOfDepth) as refused:
        for _ in range(3):
            z = z * z
    message = str(refused.value)
    assert "test_arrays.py" in message and "Owner.new(depth=" in message
    deeper = st.Owner.for_program(lambda v: v**2 * v**3 * v, st.like(2, range=(0, 3)))
    found = deeper.decrypt((lambda v: v**2 * v**3 * v)(deeper.encrypt([1.5, 2.5], range=(0, 3))))
    assert np.allclose(found, np.array([1.5, 2.5]) ** 6, atol=found.bound)
