"""Public operands of any finite size beside encrypted arrays, against NumPy and the bound."""

import pickle

import numpy as np
import pytest
import sotto as st

CONSTANTS = (1e-6, 0.25, -1013.25, 3e4, 1e6, 1e9, 1e300)
RANGES = (1e-3, 1.0, 50.0, 1e6)


@pytest.fixture(scope="module")
def owner():
    return st.Owner.new(depth=3)


def near(found, exact):
    """Hold an answer against NumPy, whose own rounding is a few units in the last place."""
    exact = np.asarray(exact)
    assert np.shape(found) == exact.shape
    assert np.all(np.abs(np.asarray(found) - exact) <= found.bound + 1e-14 * np.abs(exact).max())


@pytest.mark.parametrize("largest", RANGES)
@pytest.mark.parametrize("c", CONSTANTS)
def test_constants_and_vectors(owner, largest, c):
    values = np.array([0.5, -0.75, 0.125, 0.9, -0.3]) * largest
    x = owner.encrypt(values, range=(-largest, largest))
    alone = owner.decrypt(x).bound
    each = c * np.arange(1.0, 6.0)
    for array, exact in [
        (x + c, values + c),
        (c - x, c - values),
        (x * 0.001 + c, values * 0.001 + c),
        (x / 8 - each, values / 8 - each),
        (x - x * 0.5 + each, values * 0.5 + each),
    ]:
        found = owner.decrypt(array)
        near(found, exact)
        assert found.bound <= 3 * alone + 1e-13 * np.abs(exact).max()
    y, exact = x + each, values + each
    rows = [4, 0, 0, 3]
    near(owner.decrypt(y[rows]), exact[rows])
    near(owner.decrypt(y.sum()), exact.sum())
    near(owner.decrypt(y.mean()), exact.mean())
    weights = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 0.0], [-2.0, 0.0], [3.0, 0.0]])
    near(owner.decrypt(y @ weights), exact @ weights)
    near(
        owner.decrypt(y @ weights + np.array([1e6, -5.0])), exact @ weights + np.array([1e6, -5.0])
    )
    if c < 1e10:
        near(owner.decrypt(y * y), exact * exact)
        near(owner.decrypt(y**2), exact**2)
        near(owner.decrypt(y.dot(x)), exact.dot(values))


@pytest.mark.parametrize("rows", [1, 3, 4096, 100_000])
def test_long_sums(owner, rows):
    values = np.linspace(-40.0, 60.0, rows)
    x = owner.encrypt(values, range=(-40, 60))
    each = np.linspace(1e5, 2e5, rows)
    near(owner.decrypt((x * 0.001 + 1013.25).sum()), (values * 0.001 + 1013.25).sum())
    near(owner.decrypt((x + each).mean()), (values + each).mean())


def test_planned_answers_over_bytes(owner):
    values = np.array([20.5, 21.0, 18.5])

    def hectopascals(x):
        return x * 0.001 + np.array([1013.25, 1e9, -3.0])

    plan = owner.plan(hectopascals, st.like(3, range=(-40, 60)))
    evaluator = st.Evaluator(owner.public_bundle())
    sent = evaluator.read(bytes(owner.encrypt(values, range=(-40, 60))))
    answer = pickle.loads(pickle.dumps(hectopascals(sent)))
    near(owner.decrypt(answer, plan), hectopascals(values))
    with pytest.raises(st.NotTrusted, match="public numbers"):
        owner.decrypt(pickle.loads(pickle.dumps(hectopascals(sent) + 1.0)), plan)


@pytest.mark.parametrize("kind", [float, int])
def test_public_zeros_and_what_is_added(kind):
    owner = st.Owner.new(depth=2, results_within=1e7)
    values = np.array([20, 21, 18], dtype=kind)
    x = owner.encrypt(values, range=(-40, 60))
    five = owner.decrypt(x * 0 + 5)
    assert (five == 5).all() and five.bound == 0
    each = np.array([1, -2, 1000], dtype=kind)
    public = x * 0 + each
    for array, exact in [
        (public + x, values + each),
        (x - public, values - each),
        (x * public, values * each),
        (public * public, each * each),
        (public.sum() + x, values + each.sum()),
        (public @ each, each @ each),
        (x.dot(public), values.dot(each)),
    ]:
        near(owner.decrypt(array), exact)
    matrix = owner.encrypt(np.arange(12, dtype=kind).reshape(4, 3), range=(0, 20))
    weights = np.array([[1, 0], [2, 0], [3, 0]], dtype=kind)
    bias = np.array([7, -5], dtype=kind)
    exact = np.arange(12, dtype=kind).reshape(4, 3) @ weights + bias
    near(owner.decrypt(matrix @ weights + bias), exact)
    many = np.arange(20_000) % 50
    mask = (np.arange(20_000) < 3).astype(kind)
    long = owner.encrypt(many.astype(kind), range=(0, 50))
    near(owner.decrypt(long * mask), many * mask)
    near(owner.decrypt((long * mask).sum()), (many * mask).sum())


def test_a_public_array_is_compared():
    owner = st.Owner.new(comparisons=2**-4)
    x = owner.encrypt(np.array([1.0, 2.0, 3.0]), range=(0, 4))
    flags = owner.decrypt(x * 0 + np.array([1.0, 2.0, 3.0]) > 2.5)
    assert flags.yes.tolist() == [False, False, True] and not flags.undecided.any()
    flags = owner.decrypt(x * 0.001 + 1013.25 > 1013.2515)
    assert flags.yes[2] and not flags.yes[0]


def test_no_number_is_too_large_unless_the_result_is(owner):
    x = owner.encrypt(np.array([0.5]), range=(-1, 1))
    assert owner.decrypt(x + 1e300)[0] == 1e300
    for number in (np.inf, -np.inf, np.nan):
        with pytest.raises(st.OutOfRange) as refused:
            x + number
        assert len(str(refused.value)) < 300
    with pytest.raises(st.OutOfRange):
        (x + 1.5e308) + 1.5e308


def test_quotients_of_public_numbers_are_within_their_bounds(owner, rng):
    x = owner.encrypt([1.0, 2.0], range=(0, 4))
    for a, b in rng.uniform(1, 100, (100, 2)):
        exact = np.array([a, b], dtype=np.longdouble)
        public = x * 0 + np.array([a, b])
        columns = np.stack([public, public, public[::-1]], axis=1)
        for found, expected in (
            ((x * 0 + a) / b, np.full(2, exact[0] / exact[1])),
            (x * 0 + a / 4, np.full(2, exact[0] / 4)),
            ((x * 0 + a) / np.array([b, a]), exact[0] / exact[::-1]),
            (public.mean(), exact.mean()),
            (public.var(ddof=1), exact.var(ddof=1)),
            (columns.mean(axis=1), (2 * exact + exact[::-1]) / 3),
        ):
            answer = owner.decrypt(found)
            assert np.all(np.abs(np.asarray(answer) - expected) <= answer.bound)
            assert answer.bound < 1e-12 * exact.max() ** 2
    assert owner.decrypt((x * 0 + 5) / 2).bound == 0
