"""Every refusal names a cure, and the cure works: rows have a call, its refusal, and the cure."""

import re

import numpy as np
import pytest
import sotto as st

VALUES = np.array([0.5, -0.25, 1.0])
LONG = np.linspace(-1, 1, 12289)


class World:
    """Owners and arrays that rows share."""

    def __init__(self):
        """Make them."""
        self.owner = st.Owner.new()
        self.deeper = st.Owner.new(depth=3)
        self.other = st.Owner.new()
        self.open = st.Owner.new(public_inputs=True)
        self.compares = st.Owner.new(comparisons=2**-4)
        self.x = self.owner.encrypt(VALUES, range=(-1, 1))
        self.whole = self.owner.encrypt([1, 2, 9], range=(0, 98))
        self.table = self.owner.encrypt(np.outer(VALUES, [1.0, 2.0]), range=(-2, 2))
        self.cloud = st.Evaluator(self.owner.public_bundle())
        self.like = st.like(3, range=(-1, 1))

    def centred_product(self, owner):
        """Multiply a long centred array and another."""
        x = owner.encrypt(LONG, range=(-1, 1))
        return owner.decrypt((x - x.mean() + LONG) @ x)

    def fifth_power(self, owner):
        """Take three products one after another."""
        x = owner.encrypt(VALUES, range=(-1, 1))
        return owner.decrypt(x * x * (x * x) * x)


@pytest.fixture(scope="module")
def world():
    return World()


def power(x):
    for _ in range(40):
        x = x * x
    return x


#: The refused call; the class; words of the text; the cure; the answer of the cure.
ROWS = {
    "a value outside": (
        lambda w: w.owner.encrypt([0.0, 2000.0]),
        st.OutOfRange,
        r"the value at 1 .* -1000 to 1000: declare range=\(lowest, highest\)",
        lambda w: w.owner.decrypt(w.owner.encrypt([0.0, 2000.0], range=(0, 2000))),
        [0.0, 2000.0],
    ),
    "not a number": (
        lambda w: w.owner.encrypt([0.0, np.nan, 1.0]),
        st.OutOfRange,
        "the value at 1 .*leave the value out",
        lambda w: w.owner.decrypt(w.owner.encrypt([0.0, 1.0])),
        [0.0, 1.0],
    ),
    "a range the wrong way": (
        lambda w: w.owner.encrypt([0.0], range=(1, -1)),
        st.OutOfRange,
        r"range=\(1.0, -1.0\) .*\(lowest, highest\)",
        lambda w: w.owner.decrypt(w.owner.encrypt([0.0], range=(-1, 1))),
        [0.0],
    ),
    "no range": (
        lambda w: w.owner.encrypt([0.0], range="wide"),
        TypeError,
        r"\(lowest, highest\), or one such pair a column",
        lambda w: w.owner.decrypt(w.owner.encrypt([[0.0, 5.0]], range=[(0, 1), (0, 9)])),
        [[0.0, 5.0]],
    ),
    "ranges of other columns": (
        lambda w: w.owner.encrypt([[0.0, 5.0]], range=[(0, 1), (0, 9), (0, 9)]),
        st.ShapeMismatch,
        "one range for all values, or one for each column",
        lambda w: w.owner.decrypt(w.owner.encrypt([[0.0, 5.0]], range=(0, 9))),
        [[0.0, 5.0]],
    ),
    "masked values": (
        lambda w: w.owner.encrypt(np.ma.masked_array([1.0, 2.0], [False, True])),
        st.OutOfRange,
        "fill them or leave them out",
        lambda w: w.owner.decrypt(
            w.owner.encrypt(np.ma.masked_array([1.0, 2.0], [False, True]).filled(0.0))
        ),
        [1.0, 0.0],
    ),
    "text": (
        lambda w: w.owner.encrypt(["a"]),
        TypeError,
        "int and float are",
        lambda w: w.owner.decrypt(w.owner.encrypt([7])),
        [7],
    ),
    "large whole numbers": (
        lambda w: w.owner.encrypt([2**41], range=(0, 2**41)),
        st.OutOfRange,
        r"at most 2\^40 are encrypted",
        lambda w: w.owner.decrypt(w.owner.encrypt([2.0**41], range=(0, 2**41))),
        [2.0**41],
    ),
    "a result that may wrap": (
        lambda w: w.owner.decrypt(w.whole * 10**9),
        st.OutOfRange,
        r"Owner.new\(results_within=9.8e10\)",
        lambda w: (lambda o: o.decrypt(o.encrypt([1, 2, 9], range=(0, 98)) * 10**9))(
            st.Owner.new(results_within=9.8e10)
        ),
        [10**9, 2 * 10**9, 9 * 10**9],
    ),
    "public whole numbers beyond 2^53": (
        lambda w: w.whole * 0 + 2**54,
        st.OutOfRange,
        r"2\^53.*1.9e16: compute them with NumPy, and add them to the decrypted answer",
        lambda w: np.asarray(w.owner.decrypt(w.whole * 0)) + 2**54,
        [2**54] * 3,
    ),
    "a bound beyond float64": (
        lambda w: w.owner.encrypt([1e200], range=(0, 1e200)) ** 2,
        st.OutOfRange,
        "not a finite number: .*larger unit, with a smaller range",
        lambda w: w.owner.decrypt(w.owner.encrypt([1.0], range=(0, 1)) ** 2),
        [1.0],
    ),
    "too many products": (
        lambda w: w.fifth_power(w.owner),
        st.OutOfDepth,
        r"test_cures.py:\d+  \*\n.*\nmake room with Owner.new\(depth=3\)",
        lambda w: w.fifth_power(w.deeper),
        VALUES**5,
    ),
    "too many products of a shallow owner": (
        lambda w: w.fifth_power(st.Owner.new(depth=0)),
        st.OutOfDepth,
        r"make room with Owner.new\(depth=3\)",
        lambda w: w.fifth_power(st.Owner.new(depth=3)),
        VALUES**5,
    ),
    "too many products, by the program": (
        lambda w: w.fifth_power(w.owner),
        st.OutOfDepth,
        r"let Owner.for_program\(f, …\) find parameters",
        lambda w: (lambda o: o.decrypt(o.encrypt(VALUES, range=(-1, 1)) ** 5))(
            st.Owner.for_program(lambda x: x**5, w.like)
        ),
        VALUES**5,
    ),
    "a long product with constants": (
        lambda w: w.centred_product(w.owner),
        st.OutOfDepth,
        r"make room with Owner.new\(depth=3\)",
        lambda w: w.centred_product(w.deeper),
        (LONG - LONG.mean() + LONG) @ LONG,
    ),
    "the square of a sum and a large number": (
        lambda w: w.owner.decrypt((w.owner.encrypt(np.ones(4095), range=(-4, 4)).sum() + 1e9) ** 2),
        st.OutOfDepth,
        r"make room with Owner.new\(depth=3\)",
        lambda w: w.deeper.decrypt(
            (w.deeper.encrypt(np.ones(4095), range=(-4, 4)).sum() + 1e9) ** 2
        ),
        (4095 + 1e9) ** 2,
    ),
    "whole numbers too deep": (
        lambda w: power(w.owner.encrypt([1, 1, 0], range=(0, 1))),
        st.OutOfDepth,
        r"test_cures.py:\d+  \*\n.*let Owner.for_program\(f, st.like\(…, dtype=int\)\)",
        lambda w: (lambda o: o.decrypt(o.encrypt([1, 1, 0], range=(0, 1)) ** 16))(
            st.Owner.for_program(lambda x: x**16, st.like(3, range=(0, 1), dtype=int))
        ),
        [1, 1, 0],
    ),
    "a program for no parameters": (
        lambda w: st.Owner.for_program(power, w.like),
        st.OutOfDepth,
        r"test_cures.py:\d+  \*\n(.*\n)*no parameters have room: multiply less deeply",
        lambda w: (lambda o: o.decrypt(o.encrypt(VALUES, range=(-1, 1)) ** 4))(
            st.Owner.for_program(lambda x: x**4, w.like)
        ),
        VALUES**4,
    ),
    "too many products before a comparison": (
        lambda w: (lambda y: y * y > 0.1)(w.compares.encrypt([0.5, 0.0], range=(-1, 1))),
        st.OutOfDepth,
        r"Owner.new\(depth=…, comparisons=…\), depth one more",
        lambda w: (
            lambda o: o.decrypt((lambda y: y * y > 0.1)(o.encrypt([0.9, 0.0], range=(-1, 1)))).yes
        )(st.Owner.new(depth=1, comparisons=2**-4)),
        [True, False],
    ),
    "an accuracy that the plan misses": (
        lambda w: w.owner.plan(lambda x: x.mean(), w.like, error_within=1e-13),
        st.OutOfDepth,
        r"1.0e-13 is asked: make the owner with Owner.for_program\(…, error_within=…\)",
        lambda w: (lambda o: o.plan(lambda x: x.mean(), w.like, error_within=1e-11).shape)(
            st.Owner.for_program(lambda x: x.mean(), w.like, error_within=1e-11)
        ),
        (),
    ),
    "large numbers in slots": (
        lambda w: (w.x * 1e-6 + 1e14).polynomial([0.0, 1.0, 1.0]),
        st.ConstantTooLarge,
        r"test_cures.py:\d+, polynomial: .*add the number afterwards, or declare a wider range",
        lambda w: w.owner.decrypt((w.x * 1e-6).polynomial([0.0, 1.0, 1.0]) + 1e14),
        VALUES * 1e-6 + (VALUES * 1e-6) ** 2 + 1e14,
    ),
    "no comparisons": (
        lambda w: w.x > 0.1,
        TypeError,
        r"st.Owner.new\(comparisons=2\*\*-8\)",
        lambda w: w.compares.decrypt(w.compares.encrypt([0.9, -0.9], range=(-1, 1)) > 0.1).yes,
        [True, False],
    ),
    "whole numbers compared": (
        lambda w: w.whole > 3,
        TypeError,
        r"st.Owner.new\(integer_range=\(lowest, highest\)\)",
        lambda w: (lambda o: o.decrypt(o.encrypt([1, 9]) > 3))(st.Owner.new(integer_range=(0, 9))),
        [False, True],
    ),
    "a limit beyond the range": (
        lambda w: w.compares.encrypt([0.9, -0.9], range=(-1, 1)) > 3,
        st.OutOfRange,
        "the limit 3 .* ±1.*everybody knows the answer",
        lambda w: w.compares.decrypt(w.compares.encrypt([0.9, -0.9], range=(-1, 1)) > 0.5).yes,
        [True, False],
    ),
    "outside the whole numbers that are compared": (
        lambda w: st.Owner.new(integer_range=(0, 9)).encrypt([10], range=(0, 10)),
        st.OutOfRange,
        r"0 to 9.*Owner.new\(integer_range=\(lowest, highest\)\)",
        lambda w: (lambda o: o.decrypt(o.encrypt([10])))(st.Owner.new(integer_range=(0, 10))),
        [10],
    ),
    "fractions of whole numbers": (
        lambda w: w.whole * 0.5,
        TypeError,
        r"owner.encrypt\(np.asarray\(values, dtype=float\), …\)",
        lambda w: w.owner.decrypt(w.owner.encrypt(np.asarray([1, 2, 9], dtype=float)) * 0.5),
        [0.5, 1.0, 4.5],
    ),
    "both kinds": (
        lambda w: w.x + w.whole,
        TypeError,
        "encrypt both as floats",
        lambda w: w.owner.decrypt(w.x + w.owner.encrypt([1.0, 2.0, 9.0])),
        VALUES + [1.0, 2.0, 9.0],
    ),
    "two owners": (
        lambda w: w.x + w.other.encrypt(VALUES, range=(-1, 1)),
        st.WrongKeys,
        "use one owner for both",
        lambda w: w.owner.decrypt(w.x + w.owner.encrypt(VALUES, range=(-1, 1))),
        2 * VALUES,
    ),
    "another owner's array": (
        lambda w: w.other.decrypt(w.x),
        st.WrongKeys,
        "ask its own owner",
        lambda w: w.owner.decrypt(w.x),
        VALUES,
    ),
    "bytes without a plan": (
        lambda w: w.owner.decrypt(st.DetachedArray(bytes(w.cloud.read(bytes(w.x)) * 2))),
        st.NotTrusted,
        r"owner.decrypt\(answer, owner.plan\(function, st.like\(shape, range=…\)\)\)",
        lambda w: w.owner.decrypt(
            st.DetachedArray(bytes(w.cloud.run(lambda x: x * 2, st.DetachedArray(bytes(w.x))))),
            w.owner.plan(lambda x: x * 2, st.like(3, range=(-1, 1))),
        ),
        2 * VALUES,
    ),
    "an answer that the cloud did not run": (
        lambda w: w.open.decrypt(
            st.Evaluator(w.open.public_bundle()).encrypt(VALUES, range=(-1, 1)),
            w.open.plan(lambda x: x, w.like),
        ),
        st.NotTrusted,
        r"evaluator.run\(program, …\)",
        lambda w: w.open.decrypt(
            st.Evaluator(w.open.public_bundle()).run(
                lambda x: x, w.open.encrypt(VALUES, range=(-1, 1))
            ),
            w.open.plan(lambda x: x, w.like),
        ),
        VALUES,
    ),
    "another plan": (
        lambda w: w.owner.decrypt(w.x * 2, w.owner.plan(lambda x: x * 2, st.like(4))),
        st.NotTrusted,
        "plan the same program, on inputs of the same shapes and ranges; if both hold, do not act",
        lambda w: w.owner.decrypt(
            w.cloud.run(lambda x: x * 2, w.x), w.owner.plan(lambda x: x * 2, w.like)
        ),
        2 * VALUES,
    ),
    "a plan of another range": (
        lambda w: w.owner.decrypt(
            w.cloud.run(lambda x: x * 2, w.x), w.owner.plan(lambda x: x * 2, st.like(3))
        ),
        st.NotTrusted,
        "plan the same program, on inputs of the same shapes and ranges; if both hold, do not act",
        lambda w: w.owner.decrypt(
            w.cloud.run(lambda x: x * 2, w.x), w.owner.plan(lambda x: x * 2, w.x)
        ),
        2 * VALUES,
    ),
    "to decrypt in a plan": (
        lambda w: w.owner.plan(lambda x: w.owner.decrypt(x * 2), w.like),
        st.SottoError,
        "do that with the answer, outside of the program",
        lambda w: w.owner.plan(lambda x: x * 2, w.like).shape,
        (3,),
    ),
    "a public array": (
        lambda w: bytes(w.x - w.x),
        st.PublicZero,
        r"send x \* 0 in its place",
        lambda w: w.owner.decrypt(
            w.cloud.run(lambda x: x * 0, w.x), w.owner.plan(lambda x: x * 0, w.like)
        ),
        np.zeros(3),
    ),
    "public inputs": (
        lambda w: w.cloud.encrypt(VALUES),
        st.WrongKeys,
        r"Owner.new\(public_inputs=True\)",
        lambda w: (
            lambda c: w.open.decrypt(
                c.run(lambda x: x * 2, c.encrypt(VALUES, range=(-1, 1))),
                w.open.plan(lambda x: x * 2, w.like),
            )
        )(st.Evaluator(w.open.public_bundle())),
        2 * VALUES,
    ),
    "keys for real numbers alone": (
        lambda w: st.Evaluator(st.Owner.new().public_bundle()).encrypt([1]),
        st.WrongKeys,
        r"public_bundle\(integers=True\)",
        lambda w: (
            st.Evaluator(st.Owner.new(public_inputs=True).public_bundle(integers=True))
            .encrypt([1])
            .shape
        ),
        (1,),
    ),
    "a division": (
        lambda w: w.x / w.x,
        TypeError,
        "decrypt both and divide",
        lambda w: np.asarray(w.owner.decrypt(w.x)) / np.asarray(w.owner.decrypt(w.x)),
        np.ones(3),
    ),
    "a public number by an array": (
        lambda w: 1 / w.x,
        TypeError,
        "decrypt first",
        lambda w: 1 / np.asarray(w.owner.decrypt(w.x)),
        1 / VALUES,
    ),
    "division by zero": (
        lambda w: w.x / 0,
        ZeroDivisionError,
        "by zero",
        lambda w: w.owner.decrypt(w.x / 2),
        VALUES / 2,
    ),
    "a negative power": (
        lambda w: w.x**-1,
        TypeError,
        "a whole number of at least 1",
        lambda w: w.owner.decrypt(w.x**1),
        VALUES,
    ),
    "a root in between": (
        lambda w: w.x.std() + 1,
        TypeError,
        "compute on the sums or the variance instead",
        lambda w: w.owner.decrypt(w.x.var() + 1),
        VALUES.var() + 1,
    ),
    "rows one by one": (
        lambda w: list(w.x),
        TypeError,
        r"x\[i\] takes one out",
        lambda w: w.owner.decrypt(w.x[1]),
        VALUES[1],
    ),
    "shapes": (
        lambda w: w.x + np.ones(4),
        st.ShapeMismatch,
        r"\(3,\) and \(4,\)",
        lambda w: w.owner.decrypt(w.x + np.ones(3)),
        VALUES + 1,
    ),
    "axes before axis 0": (
        lambda w: w.x + np.ones((2, 3)),
        st.ShapeMismatch,
        r"add axes with x\[:, None\]",
        lambda w: w.owner.decrypt(w.x[:, None] + np.ones((3, 2))),
        VALUES[:, None] + np.ones((3, 2)),
    ),
    "other axes": (
        lambda w: w.x * w.table,
        st.ShapeMismatch,
        r"give both the same axes, x\[:, None\]|do not go together",
        lambda w: w.owner.decrypt(w.x[:, None] * w.table),
        VALUES[:, None] * np.outer(VALUES, [1.0, 2.0]),
    ),
    "a product of rows and values that were taken out": (
        lambda w: w.x @ (np.eye(3) @ w.x),
        st.ShapeMismatch,
        r"x\[i\] \* y\[i\], and add the products",
        lambda w: (lambda y: w.owner.decrypt(sum(w.x[i] * y[i] for i in range(3))))(
            np.diag([1.0, 2.0, 3.0]) @ w.x
        ),
        VALUES @ (VALUES * [1.0, 2.0, 3.0]),
    ),
    "rows of a product": (
        lambda w: w.table[:, :1] @ w.table[:1],
        st.ShapeMismatch,
        r"x.T @ y",
        lambda w: w.owner.decrypt(w.table.T @ w.table),
        np.outer(VALUES, [1.0, 2.0]).T @ np.outer(VALUES, [1.0, 2.0]),
    ),
    "an axis that is not there": (
        lambda w: w.x.sum(axis=1),
        st.ShapeMismatch,
        r"no axis 1 in an array of shape \(3,\)",
        lambda w: w.owner.decrypt(w.x.sum(axis=0)),
        VALUES.sum(),
    ),
    "too few values for a variance": (
        lambda w: w.x[:1].var(ddof=1),
        st.ShapeMismatch,
        "the variance of 1 values with ddof=1",
        lambda w: w.owner.decrypt(w.x[:2].var(ddof=1)),
        VALUES[:2].var(ddof=1),
    ),
    "running sums of rows": (
        lambda w: np.cumsum(w.x),
        st.ShapeMismatch,
        r"np.tril\(np.ones\(\(n, n\)\)\) @ x",
        lambda w: w.owner.decrypt(np.tril(np.ones((3, 3))) @ w.x),
        np.cumsum(VALUES),
    ),
    "a product of rows that share ciphertexts": (
        lambda w: np.prod(w.x),
        st.ShapeMismatch,
        r"take them out first, x\[i\]",
        lambda w: (lambda x: w.deeper.decrypt(x[0] * x[1] * x[2]))(
            w.deeper.encrypt(VALUES, range=(-1, 1))
        ),
        VALUES.prod(),
    ),
    "public and encrypted arrays": (
        lambda w: np.stack([w.x, VALUES], axis=1),
        TypeError,
        "add them to zeros",
        lambda w: w.owner.decrypt(np.stack([w.x, w.x * 0 + VALUES], axis=1)),
        np.stack([VALUES, VALUES], axis=1),
    ),
    "arrays put together in axis 0": (
        lambda w: np.concatenate([w.x, w.x]),
        st.ShapeMismatch,
        "the rows of axis 0 share ciphertexts, so this works on other axes",
        lambda w: w.owner.decrypt(np.concatenate([w.table, w.table], axis=1)),
        np.concatenate([np.outer(VALUES, [1.0, 2.0])] * 2, axis=1),
    ),
    "several lists": (
        lambda w: w.table[[0, 1], [0, 1]],
        st.ShapeMismatch,
        r"x\[rows\]\[:, columns\]",
        lambda w: w.owner.decrypt(w.table[[0, 1]][:, [0, 1]]),
        np.outer(VALUES, [1.0, 2.0])[[0, 1]][:, [0, 1]],
    ),
    "a function of NumPy's": (
        lambda w: np.exp(w.x),
        TypeError,
        r"x.polynomial\(…\)",
        lambda w: w.owner.decrypt(w.x.polynomial([1.0, 1.0, 0.5])),
        1 + VALUES + VALUES**2 / 2,
    ),
    "a number of an array": (
        lambda w: float(w.x[0]),
        TypeError,
        r"owner.decrypt\(x\)",
        lambda w: float(w.owner.decrypt(w.x[0])),
        VALUES[0],
    ),
    "an encrypted condition": (
        lambda w: np.where(w.x, w.x, 0.0),
        TypeError,
        r"f \* x \+ \(1 - f\) \* y, f = flags.numbers\(\)",
        lambda w: (lambda o, x: (lambda f: o.decrypt(f * x + (1 - f) * 5))((x > 3).numbers()))(
            *(lambda o: (o, o.encrypt([1, 9])))(st.Owner.new(integer_range=(0, 9)))
        ),
        [5, 9],
    ),
    "a plan without inputs": (
        lambda w: w.owner.plan(lambda x: x),
        TypeError,
        r"owner.plan\(f, st.like\(24, range=\(0, 60\)\)\)",
        lambda w: w.owner.plan(lambda x: x, st.like(24, range=(0, 60))).shape,
        (24,),
    ),
    "a depth that no keys have": (
        lambda w: st.Owner.new(depth=40),
        st.OutOfDepth,
        "128 bits of security .*multiply less deeply",
        lambda w: st.Owner.new(depth=3).options,
        {"depth": 3},
    ),
    "a gap that no keys have": (
        lambda w: st.Owner.new(comparisons=0.9),
        ValueError,
        r"from 2\^-12 to 2\^-1",
        lambda w: st.Owner.new(comparisons=0.5).options,
        {"comparisons": 0.5},
    ),
    "a resolution": (
        lambda w: w.owner.encrypt(VALUES, resolution=-1),
        st.OutOfRange,
        "resolution=-1 is not a positive number",
        lambda w: w.owner.decrypt(w.owner.encrypt(VALUES, resolution=0.25)),
        VALUES,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_refusals_have_cures(world, name):
    refused, kind, words, cure, exact = ROWS[name]
    with pytest.raises(kind) as raised:
        refused(world)
    text = str(raised.value)
    assert re.search(words, text), text
    assert type(raised.value) is kind or kind is st.SottoError, type(raised.value)
    # Nobody of this package chooses n; numbers are short.
    assert not re.search(r"n = |larger n|\d{25}|Context|Encrypted::", text), text
    found = cure(world)
    if isinstance(exact, (dict, tuple)):
        assert found == exact
        return
    bound = getattr(found, "bound", 0.0)
    found = np.asarray(found)
    assert found.shape == np.shape(exact)
    error = np.abs(found.astype(float) - np.asarray(exact, dtype=float))
    assert np.all(error <= bound + 1e-12 * np.abs(exact).max())
