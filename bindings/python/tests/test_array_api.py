"""The array API standard on encrypted arrays, against its strict implementation."""

import numpy as np
import pytest
import sotto as st
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as draw
from sotto import array_api

strict = pytest.importorskip("array_api_strict")
pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0",
    reason="NumPy before 2.1 has not the standard's names",
)

#: Names that make or describe public arrays, or are constants: NumPy's.
PUBLIC = set(
    "arange eye linspace full ones zeros empty hann can_cast finfo iinfo isdtype result_type e pi "
    "inf nan newaxis bool complex128 complex64 float32 float64 int16 int32 int64 int8 uint16 "
    "uint32 uint64 uint8 fft linalg set_array_api_strict_flags reset_array_api_strict_flags Device "
    "get_array_api_strict_flags ArrayAPIStrictFlags ModuleType broadcast_shapes".split()
)

#: Functions of one array: arguments for arrays of shape (6, 3).
ONE = {
    "negative": [{}],
    "positive": [{}],
    "square": [{}],
    "sum": [{}, {"axis": 0}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"keepdims": True}],
    "mean": [{}, {"axis": 0}, {"axis": 1}, {"axis": 0, "keepdims": True}],
    "var": [{"axis": 0}, {"axis": 0, "correction": 1.0}, {"axis": 1}],
    "std": [{"axis": 0}, {"axis": 0, "correction": 1.0}],
    "prod": [{"axis": 1}],
    "cumulative_sum": [{"axis": 1}],
    "diff": [{"axis": 0}, {"axis": 1}, {"axis": 1, "n": 2}],
    "expand_dims": [{"axis": 1}, {"axis": -1}],
    "flip": [{"axis": 0}, {"axis": 1}],
    "roll": [{"shift": 2, "axis": 0}, {"shift": -1, "axis": 1}],
    "unstack": [{"axis": 1}],
}
#: Functions of one array and a further argument.
WITH = {
    "permute_dims": [((6, 3, 2), (0, 2, 1))],
    "moveaxis": [((6, 3, 2), 1, 2)],
    "reshape": [((6, 3, 2), (6, 6)), ((6, 4), (6, 2, 2))],
    "squeeze": [((6, 1, 3), 1), ((1, 3), 0)],
    "broadcast_to": [((6, 1), (6, 4))],
    "take": [((6,), [5, 0, 2])],
}
#: Functions of two arrays, and whether the second may be public.
TWO = ["add", "subtract", "multiply", "vecdot"]
OTHER = {"divide", "pow", "matmul", "tensordot", "where", "stack", "concat"}


def names():
    return {name for name in dir(strict) if not name.startswith("_")}


def test_every_name_of_the_standard_is_accounted_for():
    applicable = set(ONE) | set(WITH) | set(TWO) | OTHER
    refused = set(array_api.NOT_APPLICABLE)
    assert not applicable & refused
    assert names() - PUBLIC - applicable - refused == set()
    assert refused <= names()


def agrees(found, exact, owner):
    exact = np.asarray(exact)
    clear = owner.decrypt(found)
    assert clear.shape == exact.shape
    assert np.all(np.abs(np.asarray(clear) - exact) <= clear.bound + 1e-12)
    assert clear.bound < 0.01


def both(shape, seed, owner):
    values = np.random.default_rng(seed).uniform(-2, 2, shape)
    hidden = owner.encrypt(values, range=(-2, 2))
    return hidden, strict.asarray(values)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_array(name, owner):
    for number, options in enumerate(ONE[name]):
        hidden, clear = both((6, 3), number, owner)
        xp = hidden.__array_namespace__()
        found, exact = getattr(xp, name)(hidden, **options), getattr(strict, name)(clear, **options)
        if not isinstance(found, tuple):
            found, exact = (found,), (exact,)
        assert len(found) == len(exact)
        for part, expected in zip(found, exact, strict=True):
            agrees(part, expected, owner)


@pytest.mark.parametrize("name", WITH)
def test_functions_with_arguments(name, owner):
    for number, (shape, *arguments) in enumerate(WITH[name]):
        hidden, clear = both(shape, number, owner)
        exact = getattr(strict, name)(
            clear, *(strict.asarray(a) if isinstance(a, list) else a for a in arguments)
        )
        agrees(getattr(array_api, name)(hidden, *arguments), exact, owner)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_arrays(name, owner):
    (x, clear_x), (y, clear_y) = both((6, 3), 1, owner), both((6, 3), 2, owner)
    exact = getattr(strict, name)(clear_x, clear_y)
    agrees(getattr(array_api, name)(x, y), exact, owner)
    agrees(getattr(array_api, name)(x, np.asarray(clear_y)), exact, owner)


def test_division_powers_products_and_choices(owner):
    (x, clear_x), (y, clear_y) = both((6, 3), 3, owner), both((6, 3), 4, owner)
    weights = np.random.default_rng(5).uniform(1, 2, (3, 2))
    xp = array_api
    agrees(xp.divide(x, 4.0), clear_x / 4.0, owner)
    agrees(xp.pow(x, 3), strict.pow(clear_x, strict.asarray(3.0)), owner)
    agrees(xp.matmul(x, weights), strict.matmul(clear_x, strict.asarray(weights)), owner)
    agrees(xp.tensordot(x, weights, axes=1), strict.matmul(clear_x, strict.asarray(weights)), owner)
    mask = np.array([[True, False, True]] * 3 + [[False, True, False]] * 3)
    chosen = strict.where(strict.asarray(mask), clear_x, clear_y)
    agrees(xp.where(mask, x, y), chosen, owner)
    agrees(
        xp.where(mask, x, 0.5),
        strict.where(strict.asarray(mask), clear_x, strict.asarray(0.5)),
        owner,
    )
    agrees(
        xp.where(mask, 0.5, x),
        strict.where(strict.asarray(mask), strict.asarray(0.5), clear_x),
        owner,
    )
    for whole, side in (
        (np.ones((6, 3), dtype=bool), clear_x),
        (np.zeros((6, 3), dtype=bool), clear_y),
    ):
        agrees(xp.where(whole, x, y), side, owner)
    agrees(xp.stack([x, y], axis=1), strict.stack([clear_x, clear_y], axis=1), owner)
    agrees(xp.concat([x, y], axis=1), strict.concat([clear_x, clear_y], axis=1), owner)
    rows = [x.sum(axis=0), y.sum(axis=0)]
    exact = [strict.sum(clear_x, axis=0), strict.sum(clear_y, axis=0)]
    agrees(xp.stack(rows), strict.stack(exact), owner)
    agrees(xp.concat(rows), strict.concat(exact), owner)


@pytest.mark.parametrize("name", sorted(array_api.NOT_APPLICABLE))
def test_refused_functions_decrypt_nothing(name, owner):
    x = owner.encrypt([[1.0, 2.0], [3.0, 4.0]], range=(0, 5))
    function = getattr(array_api, name)
    with pytest.raises((TypeError, ValueError, AttributeError)) as refused:
        function(*{"clip": (x, 0, 1), "full_like": (x, 1)}.get(name, (x,)))
    assert "1.0" not in str(refused.value)
    assert array_api.NOT_APPLICABLE[name]


def test_rows_that_share_ciphertexts_stay_rows(owner):
    x = owner.encrypt(np.ones((4, 3)), range=(0, 5))
    for refused in (
        lambda: np.expand_dims(x, 0),
        lambda: np.stack([x, x]),
        lambda: np.concatenate([x, x]),
        lambda: array_api.permute_dims(x, (1, 0)),
        lambda: np.reshape(x, (3, 4)),
        lambda: np.broadcast_to(x, (2, 4, 3)),
        lambda: np.prod(x, axis=0),
        lambda: np.cumsum(x, axis=0),
    ):
        with pytest.raises(st.ShapeMismatch):
            refused()
    with pytest.raises(TypeError):
        np.stack([x, np.ones((4, 3))], axis=1)


def test_public_arrays_are_numpys():
    assert np.array_equal(array_api.add(np.ones(2), 1), [2, 2])
    assert array_api.asarray([1, 2]).sum() == 3
    assert array_api.float64 is np.float64
    assert array_api.std(np.array([1.0, 3.0]), correction=1.0) == np.std([1, 3], ddof=1)


@settings(
    max_examples=30,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    lengths=draw.lists(draw.integers(1, 4), min_size=2, max_size=4),
    order=draw.randoms(use_true_random=False),
)
def test_axes_move_as_numpys(owner, lengths, order):
    values = np.arange(np.prod(lengths), dtype=np.float64).reshape(lengths)
    hidden = owner.encrypt(values, range=(0, 256))
    inner = list(range(1, len(lengths)))
    shuffled = order.sample(inner, len(inner))
    agrees(np.transpose(hidden, (0, *shuffled)), np.transpose(values, (0, *shuffled)), owner)
    agrees(np.moveaxis(hidden, inner, shuffled), np.moveaxis(values, inner, shuffled), owner)
    flat = (lengths[0], -1)
    agrees(np.reshape(hidden, flat), np.reshape(values, flat), owner)
