"""Operators and encryption of single vectors run in the compiled part, like the general case."""

import operator

import numpy as np
import pytest
import sotto as st

INT64 = np.iinfo(np.int64)


@pytest.fixture(scope="module")
def owner():
    return st.Owner.new(depth=2)


def facts(x):
    return x.shape, x.dtype, x._grid, x._finish, x._trail, x.magnitude, x.levels_left


GENERAL = {operator.add: "_add", operator.sub: "_subtract", operator.mul: "_multiply"}


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("run", GENERAL)
@pytest.mark.parametrize(
    "second", ["vector", "alike", "sum", "row", "number", "float", "strided", "bool"]
)
def test_the_two_cases_are_equal(owner, dtype, run, second, close):
    values = np.arange(40).astype(dtype)
    x = owner.encrypt(values, range=(0, 50), resolution=1.0)
    others = {
        "vector": lambda: owner.encrypt(values[::-1].copy(), range=(0, 50)),
        "alike": lambda: owner.encrypt(values[::-1].copy(), range=(0, 50), resolution=1.0),
        "sum": lambda: owner.encrypt(values, range=(0, 50)).sum(),
        "row": lambda: values[::-1].copy(),
        "number": lambda: 3,
        "float": lambda: dtype(3).item(),
        "strided": lambda: np.repeat(values, 2)[::2],
        "bool": lambda: True,
    }
    y = others[second]()
    result, general = run(x, y), getattr(x, GENERAL[run])(y)
    assert facts(result) == facts(general)
    close(owner.decrypt(result), np.asarray(owner.decrypt(general)))


def test_refusals_are_those_of_the_general_case(owner):
    x = owner.encrypt(np.arange(4.0), range=(0, 4))
    whole = owner.encrypt(np.arange(4), range=(0, 4))
    other = st.Owner.new(depth=2).encrypt(np.arange(4.0), range=(0, 4))
    cases = [
        (lambda: x + np.nan, st.OutOfRange, "number"),
        (lambda: x * np.array([1.0, np.inf, 1.0, 1.0]), st.OutOfRange, "number"),
        (lambda: x + np.arange(5.0), st.ShapeMismatch, "shapes"),
        (lambda: x + owner.encrypt(np.arange(5.0), range=(0, 5)), st.ShapeMismatch, "shapes"),
        (lambda: x + whole, TypeError, "whole numbers"),
        (lambda: x + other, st.WrongKeys, "different"),
        (lambda: x + "3", TypeError, "not a number"),
        (lambda: x + (whole.sum() * 2), TypeError, "whole numbers"),
        (lambda: whole.mean() + 1, TypeError, "last step"),
        (lambda: whole + 2**70, TypeError, "not a number"),
        (lambda: whole - np.array([INT64.min] * 4), st.OutOfRange, "2\\^63"),
    ]
    for run, error, text in cases:
        with pytest.raises(error, match=text):
            run()


def test_lines_that_use_levels_are_named(owner):
    x = owner.encrypt(np.arange(4.0), range=(0, 4))
    y = x * x
    (step,) = y._trail
    assert step[0] == __file__ and step[2] == "*"
    with pytest.raises(st.OutOfDepth, match="test_operators.py"):
        (y * y) * (y * y) * x


def test_results_are_encrypted_arrays(owner):
    x = owner.encrypt(np.arange(4.0), range=(0, 4))
    assert type(x + x) is st.EncryptedArray
    assert type(1.0 + x) is st.EncryptedArray
    assert type(np.float64(2) * x) is st.EncryptedArray
    with pytest.raises(TypeError, match="owner.encrypt"):
        st.EncryptedArray()


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_encryption_checks_every_value(owner, dtype):
    owner.encrypt(np.arange(2), range=(0, 2))
    for place in (0, 6, 16):
        for wrong in (-3, 8, 2**40, -(2**40), INT64.min, INT64.max):
            values = np.full(17, 3, dtype=dtype)
            values[place] = wrong
            with pytest.raises(st.OutOfRange, match=f"value at {place} "):
                owner.encrypt(values, range=(-2, 7))
    for ends in ((-2, 7), (-2.0, 7.0), (-2.5, 7.5), (1, 7), (-7, -1)):
        inside = np.array([v for v in range(-8, 9) if ends[0] <= v <= ends[1]], dtype=dtype)
        assert (np.round(owner.decrypt(owner.encrypt(inside, range=ends))) == inside).all()
        assert owner.encrypt(inside, range=ends).magnitude == max(map(abs, ends))
    for ends in (
        (0, 0),
        (7, -2),
        (np.nan, 1),
        (0, np.inf),
        (0, 2**41) if dtype == np.int64 else (0, np.inf),
    ):
        with pytest.raises(st.OutOfRange):
            owner.encrypt(np.zeros(3, dtype=dtype), range=ends)
    with pytest.raises(st.OutOfRange, match="value at 1 "):
        owner.encrypt(np.array([1.0, np.nan]), range=(0, 2))
