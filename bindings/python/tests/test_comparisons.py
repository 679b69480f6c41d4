"""Comparisons with limits, against NumPy: real numbers with a gap, whole numbers exactly."""

import operator
import pickle

import numpy as np
import pytest
import sotto as st

SIGNS = [operator.gt, operator.ge, operator.lt, operator.le]
GAP = 2.0**-4


@pytest.fixture(scope="module")
def reals():
    return st.Owner.new(comparisons=GAP)


@pytest.fixture(scope="module")
def integers():
    return st.Owner.new(integer_range=(0, 255))


def agrees(found, values, limit, sign, gap):
    """Check three-valued flags: never wrong, and decided from the gap on."""
    exact, distance = sign(values, limit), np.abs(values - limit)
    assert found.shape == found.yes.shape == exact.shape
    assert not (found.yes & found.no).any()
    assert (found.undecided == ~(found.yes | found.no)).all()
    assert exact[found.yes].all() and not exact[found.no].any()
    assert not found.undecided[distance >= gap].any()
    assert found.undecided[distance == 0].all()
    assert found.gap == gap
    assert (found.values.filled(False) == found.yes).all()
    assert (np.ma.getmaskarray(found.values) == found.undecided).all()


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("limit", [80, 0.0, -128.0, 128])
def test_reals_at_the_ends_of_the_gap(reals, rng, sign, limit):
    gap = GAP * (128 + abs(limit))
    near = gap * np.array([1, 1 + 1e-9, 1 - 1e-9, 0.5, 1e-3, 1e-6])
    values = np.concatenate([limit + near, limit - near, [limit], rng.uniform(-128, 128, 100)])
    values = np.append(np.clip(values, -128, 128), [-128.0, 128.0, 0.0])
    flags = sign(reals.encrypt(values, range=(-128, 128)), limit)
    assert flags.gap == gap and flags.shape == values.shape and flags.nbytes > 0
    assert str(limit) not in repr(flags)
    agrees(reals.decrypt(flags), values, limit, sign, gap)


@pytest.mark.parametrize("bound", [1e-6, 0.51, 1.0, 1.99, 1e9])
def test_reals_of_any_unit(reals, rng, bound):
    values = rng.uniform(-bound, bound, 200)
    x = reals.encrypt(values, range=(-bound, bound))
    for limit in (0.0, 0.3 * bound, bound):
        flags = x > limit
        assert flags.share == GAP
        agrees(reals.decrypt(flags), values, limit, operator.gt, flags.gap)


def test_computed_reals_and_single_values(reals, rng):
    values = rng.uniform(-10, 10, 50)
    x = reals.encrypt(values, range=(-10, 10))
    fahrenheit = x * 1.8 + 32
    agrees(
        reals.decrypt(fahrenheit > 40), values * 1.8 + 32, 40, operator.gt, (fahrenheit > 40).gap
    )
    single = reals.decrypt(reals.encrypt(7.5, range=(-10, 10)) > 2)
    assert single.shape == () and bool(single.yes) and not single.no


def test_columns_and_limits_that_are_arrays(reals, rng):
    values = rng.uniform(0, 1, (30, 2)) * [40, 200] + [0, 900]
    x = reals.encrypt(values, range=[(0, 40), (900, 1100)])
    limits = np.array([[20.0, 1000.0]])
    found = reals.decrypt(x > limits)
    exact = values > limits
    assert found.shape == (30, 2) and exact[found.yes].all() and not exact[found.no].any()
    assert found.gap == GAP * 2100
    y = reals.encrypt(values[::-1, 0].copy(), range=(0, 40))
    found = reals.decrypt(x[:, 0] < y)
    gap = GAP * 80
    exact, distance = values[:, 0] < values[::-1, 0], np.abs(values[:, 0] - values[::-1, 0])
    assert exact[found.yes].all() and not exact[found.no].any()
    assert not found.undecided[distance >= gap].any()


def test_functions_of_numpy_on_either_side(reals):
    values = np.array([-9.0, 9.0, 1.0])
    x = reals.encrypt(values, range=(-10, 10))
    for function in (np.greater, np.greater_equal, np.less, np.less_equal):
        for found, exact in (
            (function(x, 1.0), function(values, 1.0)),
            (function(1.0, x), function(1.0, values)),
            (function(np.float64(1.0), x), function(1.0, values)),
        ):
            found = reals.decrypt(found)
            assert found.undecided.tolist() == [False, False, True]
            assert (found.yes[:2] == exact[:2]).all()
    assert (reals.decrypt(1.0 < x).yes == [False, True, False]).all()


@pytest.mark.parametrize("limit", [np.nan, np.inf, -np.inf, 10.5, -11])
def test_limits_that_say_the_answer(reals, limit):
    x = reals.encrypt([1.0, 2.0], range=(-10, 10))
    with pytest.raises(st.OutOfRange, match="within ±10"):
        assert x > limit


def test_limits_that_are_not_numbers(reals, integers):
    for x in (reals.encrypt([1.0], range=(0, 2)), integers.encrypt([1])):
        for limit in ("1", 1j, None, object()):
            with pytest.raises(TypeError, match="not a number"):
                assert x > limit
        for run in (lambda x=x: x == 1, lambda x=x: np.not_equal(x, 1)):
            with pytest.raises(TypeError, match="compared by >"):
                run()


def test_values_that_are_refused(reals, integers):
    for value in (np.nan, 10.5):
        with pytest.raises(st.OutOfRange):
            reals.encrypt([1.0, value], range=(-10, 10))
    for value in (-1, 256):
        with pytest.raises(st.OutOfRange):
            integers.encrypt([1, value])
        with pytest.raises(st.OutOfRange, match=r"integer_range=\(lowest, highest\)"):
            integers.encrypt(np.array([1, value]), range=(-1000, 1000))


def test_nothing_is_guessed(reals):
    flags = reals.encrypt([1.0, 2.0], range=(-10, 10)) > 1
    accidents = [bool, float, int, list, np.asarray, np.sum, np.logical_not]
    for accident in [*accidents, lambda flags: flags + 1, lambda flags: flags > 0]:
        with pytest.raises(TypeError):
            accident(flags)
    with pytest.raises(TypeError, match="found.yes"):
        flags.sum()
    found = reals.decrypt(flags)
    for accident in (bool, np.asarray):
        with pytest.raises(TypeError, match="undecided"):
            accident(found)
    assert "1 undecided" in repr(found) and len(found) == len(flags) == 2
    with pytest.raises(TypeError, match="makes encrypted flags"):
        st.EncryptedFlags()


def test_other_owners_say_which_owner_compares(owner, integers, reals):
    with pytest.raises(TypeError, match=r"Owner.new\(comparisons="):
        assert owner.encrypt([1.0, 2.0]) > 1
    with pytest.raises(TypeError, match=r"Owner.new\(integer_range="):
        assert owner.encrypt([1, 2]) > 1
    with pytest.raises(TypeError, match=r"Owner.new\(comparisons="):
        assert integers.encrypt([1.0, 2.0]) > 1
    x = integers.encrypt([1, 2])
    for other in (x, [1, 2]):
        with pytest.raises(TypeError, match="with one number"):
            assert x > other
    with pytest.raises(st.WrongKeys):
        assert reals.encrypt([1.0, 2.0]) > owner.encrypt([1.0, 2.0])
    flags = reals.encrypt([1.0, 2.0]) > 1
    with pytest.raises(st.WrongKeys):
        owner.decrypt(flags)
    for options in ({"comparisons": 2.0**-13}, {"comparisons": 0.7}, {"comparisons": np.nan}):
        with pytest.raises(ValueError, match="share of the range"):
            st.Owner.new(**options)
    for wrong in ((0, 256), (5, 5), (9, 0)):
        with pytest.raises(ValueError, match="2 to 256 whole numbers"):
            st.Owner.new(integer_range=wrong)
    for wrong in ((0.5, 2), 7, (1, 2, 3)):
        with pytest.raises(TypeError, match="two whole numbers"):
            st.Owner.new(integer_range=wrong)


def test_pickles_and_plans(reals, integers):
    values = np.array([-9.0, 9.0, 1.0])
    x = reals.encrypt(values, range=(-10, 10))
    plan = reals.plan(lambda x: x > 1, st.like(3, range=(-10, 10)))
    assert plan.shape == (3,) and "undecided" in repr(plan) and plan.steps["products"] > 0
    cloud = st.Evaluator(reals.public_bundle())
    answer = cloud.run(lambda x: x > 1, cloud.read(bytes(x)))
    travelled = pickle.loads(pickle.dumps(answer))
    assert isinstance(travelled, st.DetachedArray) and travelled.shape == (3,)
    found = reals.decrypt(travelled, plan)
    agrees(found, values, 1, operator.gt, GAP * 11)
    with pytest.raises(st.NotTrusted, match="plan"):
        reals.decrypt(answer)
    with pytest.raises(st.NotTrusted, match="plan"):
        reals.decrypt(travelled)
    with pytest.raises(st.NotTrusted):
        reals.decrypt(travelled, reals.plan(lambda x: x > 1, st.like(4, range=(-10, 10))))
    with pytest.raises(st.NotTrusted):
        reals.decrypt(travelled, reals.plan(lambda x: x * 1.0, st.like(3, range=(-10, 10))))
    with pytest.raises(TypeError, match="last step"):
        reals.attach(travelled)

    counts = np.array([3, 80, 81])
    plan = integers.plan(lambda x: x > 80, st.like(3, range=(0, 255), dtype=int))
    cloud = st.Evaluator(integers.public_bundle(integers=True))
    answer = pickle.loads(
        pickle.dumps(cloud.run(lambda x: x > 80, cloud.read(bytes(integers.encrypt(counts)))))
    )
    assert integers.decrypt(answer, plan).tolist() == [False, False, True]


def test_depth_before_a_comparison(reals):
    x = reals.encrypt([1.0, 2.0], range=(-2, 2))
    with pytest.raises(st.OutOfDepth, match=r"test_comparisons.py:\d+  >"):
        assert x * x > 2
    like = st.like(3, range=(-2, 2))
    deeper = st.Owner.for_program(lambda x: x * x > 2, like, comparisons=GAP)
    assert "depth=1, comparisons=0.0625" in repr(deeper)
    values = np.array([-2.0, 0.5, 1.9])
    y = deeper.encrypt(values, range=(-2, 2))
    flags = y * y > 2
    agrees(deeper.decrypt(flags), values**2, 2, operator.gt, flags.gap)
    assert flags.share == GAP


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("limit", [80, 1, 254, 80.5, 0.25, np.int8(7)])
def test_whole_numbers_are_compared_exactly(integers, sign, limit):
    values = np.arange(256)
    flags = sign(integers.encrypt(values), limit)
    assert flags.gap == 0 and "exact" in repr(flags)
    found = integers.decrypt(flags)
    assert found.dtype == bool and (found == sign(values, limit)).all()
    assert integers.decrypt(flags.sum()) == sign(values, limit).sum()


def test_flags_of_whole_numbers_are_numbers(integers):
    values = np.array([[3, 200], [80, 81], [255, 0]])
    x = integers.encrypt(values, range=(0, 255))
    flags = x > 80
    assert (integers.decrypt(flags) == (values > 80)).all()
    assert (integers.decrypt(flags.sum(axis=0)) == (values > 80).sum(axis=0)).all()
    assert (integers.decrypt(1 - flags.numbers()) == (values <= 80)).all()


@pytest.mark.parametrize(
    ("sign", "limit"),
    [
        (operator.gt, 255),
        (operator.ge, 0),
        (operator.lt, 0),
        (operator.le, 255.5),
        (operator.gt, -1),
    ],
)
def test_whole_limits_that_say_the_answer(integers, sign, limit):
    x = integers.encrypt([1, 2])
    with pytest.raises(st.OutOfRange, match="without a comparison"):
        sign(x, limit)
    with pytest.raises(st.OutOfRange, match="not a number"):
        assert x > np.nan


def test_a_key_file_with_comparisons(tmp_path):
    owner = st.Owner.new(integer_range=(-8, 7))
    owner.save(tmp_path / "key")
    again = st.Owner.load(tmp_path / "key", integer_range=(-8, 7))
    values = np.arange(-8, 8)
    assert (again.decrypt(again.encrypt(values) < -3) == (values < -3)).all()
