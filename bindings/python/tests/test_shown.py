"""Answers show their bound; digits end where it begins."""

import copy
import importlib.metadata
import pickle

import numpy as np
import pytest
import sotto as st
from hypothesis import given
from hypothesis import strategies as some
from sotto._decrypted import Decrypted, DecryptedValue
from sotto._shown import shown

SHOWN = [
    (68.00000009536743, 3.2e-7, "68.0000001 ± 3.3e-07"),
    ([36.9, 37.84, 33.3], 0.04, "[36.90 37.84 33.30] ± 0.04"),
    (0.3, 12.0, "0 ± 13"),
    (1064.2, 12.0, "1060 ± 17"),
    (99.996, 0.0094, "99.996 ± 0.0094"),
    (177828.0, 0.0, "177828.0 ± 0"),
    (17782.800000000003, 17782.8 * 2**-52, "17782.8 ± 0"),
    ([1e20, 3.0], 1e9, "[1.00000000000e+20 0] ± 1.1e+09"),
    ([1e300, -2.0], 1e291, "[1.000000000e+300 0] ± 1.1e+291"),
    (1e-7, 9.99e-9, "0.000000100 ± 1e-08"),
    (0.0, 0.0, "0.0 ± 0"),
    (-0.0001, 0.01, "0.00 ± 0.011"),
    (1.5, float("inf"), "1.5 ± inf"),
    (np.arange(3), 0.0, "[0 1 2] ± 0"),
]


@pytest.mark.parametrize(("values", "bound", "text"), SHOWN, ids=[one[2] for one in SHOWN])
def test_text(values, bound, text):
    answer = Decrypted(values, bound)
    assert str(answer) == f"{answer}" == text
    assert repr(answer) == f"Decrypted({text})"
    assert text in answer._repr_html_()


numbers = some.floats(-1e18, 1e18)


@given(some.lists(numbers, min_size=1, max_size=5), some.floats(1e-18, 1e18), some.floats(-1, 1))
def test_the_truth_is_within_the_shown_bound(values, bound, share):
    exact = np.array(values) + share * bound
    text, margin = shown(np.array(values), bound)
    read = np.array([float(word) for word in text.strip("[]").split()])
    limit = float(margin) or np.abs(values).max() * 2.0**-49
    assert np.all(np.abs(read - exact) <= limit * (1 + 1e-9) + np.abs(exact) * 2.0**-48)


def test_elements_have_the_bound():
    answer = Decrypted([1.23456, 2.0], 0.01)
    one = answer[0]
    assert isinstance(one, float) and isinstance(one, DecryptedValue) and one == 1.23456
    assert (str(one), repr(one)) == ("1.23 ± 0.015", "DecryptedValue(1.23 ± 0.015)")
    assert (f"{one:.1f}", f"{one}", one.bound) == ("1.2", "1.23 ± 0.015", 0.01)
    assert [value.bound for value in answer] == [0.01, 0.01]
    assert answer[1:].bound == 0.01 and str(Decrypted([[1.0], [2.0]], 0.1)[1]) == "[2.0] ± 0.1"
    assert f"{Decrypted(1.5, 0.1):.2f}" == "1.50" and "±" in one._repr_html_()
    assert type(one + 1) is np.float64 and {one: 1}[1.23456] == 1
    assert type(Decrypted(np.arange(3), 0.0)[1]) is np.int64
    for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert again == one and again.bound == 0.01
    for again in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer), answer.copy()):
        assert np.array_equal(again, answer) and again.bound == 0.01


def test_no_bound_where_it_does_not_hold():
    answer = Decrypted([1.23456, 2.0], 0.01)
    for other in (answer * 2, np.sqrt(answer), answer.cumsum(), answer.round(1), answer @ answer):
        assert "±" not in str(other)
    assert "±" not in str(answer.astype(int)) and "±" not in str(answer.astype(np.float32))
    answer *= 3
    assert "±" not in str(answer)


def test_answers_of_an_owner(owner):
    x = owner.encrypt([20.5, 21.0, 18.5], range=(-40, 60))
    mean = owner.decrypt(x.mean())
    assert str(mean).startswith("20.0000") and " ± " in str(mean) and len(str(mean)) < 30
    exact = owner.encrypt([20.5, 21.0, 18.5], range=(-40, 60), resolution=0.1)
    assert str(owner.decrypt(exact.sum())) == "60.0 ± 0"
    assert str(owner.decrypt(owner.encrypt([1, 2, 3], range=(0, 9)).sum())) == "6 ± 0"


def test_frames():
    pd = pytest.importorskip("pandas")
    from sotto._shown_frames import DecryptedFrame, DecryptedSeries

    frame = DecryptedFrame({"device": ["a", "b"], "t": [20.512345, np.nan], "n": [1, 2]})
    frame.attrs["bound"] = {"t": 0.002}
    text = repr(frame)
    assert "20.512 " in text and "20.5123" not in text and text.endswith("bounds: t ± 0.0024")
    assert "bounds: t ± 0.0024" in frame._repr_html_() and "20.5123" not in frame._repr_html_()
    assert type(frame[frame.n > 1]) is pd.DataFrame and frame.t[0] == 20.512345
    series = DecryptedSeries(frame.t)
    series.attrs["bound"] = 0.002
    assert repr(series).endswith("bound: ± 0.0024") and "20.512\n" in repr(series)
    assert type(series * 2) is pd.Series


def test_decrypted_frames_show_bounds(owner):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"device": ["a", "b", "a"], "t": [20.5, 21.0, 18.5]})
    hidden = st.encrypt_frame(frame, owner, ranges={"t": (-40, 60)})
    assert "bounds: t ± " in repr(st.decrypt_frame(hidden, owner))
    assert "bound: ± " in repr(st.decrypt_frame(hidden.groupby("device").t.mean(), owner))


def test_version():
    assert st.__version__ == importlib.metadata.version("sotto-he")
