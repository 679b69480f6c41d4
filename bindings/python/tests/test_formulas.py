"""Functions and formulas: the same program, the same values."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest
import sotto as st
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as draw

TEXTS = [
    ("sum(t * h) * 0.01 + 46", lambda t, h: (t * h).sum() * 0.01 + 46),
    ("t * 0.8 + h * t * 0.01 + 46", lambda t, h: t * 0.8 + h * t * 0.01 + 46),
    ("-t^2 - (h - t) * 3", lambda t, h: -(t**2) - (h - t) * 3),
    ("(t - sum(t, 4) * 0.25)^2 * h", lambda t, h: (t - t.mean()) ** 2 * h),
    ("[1, -2.5, 3] * t + h", lambda t, h: np.array([1, -2.5, 3]) * t + h),
    ("1 + 0.5 * t^2 + h", lambda t, h: t.polynomial([1, 0, 0.5]) + h),
]


def likes(length):
    return st.like(length, range=(-2, 2)), st.like(length, range=(-2, 2))


@pytest.mark.parametrize(("text", "function"), TEXTS, ids=[text for text, _ in TEXTS])
def test_a_function_is_the_same_program_as_its_text(text, function, owner, close):
    length = 3 if "[" in text else 4
    of_text, of_function = st.program(text), st.program(function)
    assert of_text.formula(*likes(length)) == of_function.formula(*likes(length))
    again = st.program(of_function.text(*likes(length)))
    assert again.formula(*likes(length)) == of_function.formula(*likes(length))
    rng = np.random.default_rng(3)
    t, h = rng.uniform(-2, 2, length), rng.uniform(-2, 2, length)
    hidden = [owner.encrypt(values, range=(-2, 2)) for values in (t, h)]
    if "polynomial" not in function.__code__.co_names:
        close(owner.decrypt(of_text(*hidden)), function(t, h))
    close(owner.decrypt(of_text(*hidden)), of_text(t, h))


def test_different_programs_differ():
    pair = likes(4)
    first = st.program("t + h").formula(*pair)
    assert first != st.program("t - h").formula(*pair)
    assert first == st.program(lambda t, h: t + h).formula(*pair)
    assert first != st.program(lambda h, t: t + h).formula(*pair)
    assert first.depth == (0, 0)
    assert st.program("t * h * t").formula(*pair).depth == (2, 2)


def expressions():
    """Texts that Python and formulas read alike; Python would compute constant parts at once."""
    leaf = draw.sampled_from(["a", "b", "2", "3", "0.5"])

    def grown(inner):
        pairs = draw.tuples(inner, draw.sampled_from("+-*"), inner)
        return draw.one_of(
            pairs.filter(lambda x: {"a", "b"} & set(x[0] + x[2])).map(
                lambda x: f"({x[0]} {x[1]} {x[2]})"
            ),
            inner.map(lambda text: f"(-{text})"),
            inner.map(lambda text: f"({text})^2"),
        )

    ordered = draw.recursive(leaf, grown, max_leaves=8)
    return ordered.filter(lambda text: 0 <= text.find("a") < text.find("b"))


@settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(text=expressions())
def test_random_texts_and_functions_agree(text):
    pair = likes(5)
    function = eval(f"lambda a, b: {text.replace('^', '**')}")
    assert st.program(text).formula(*pair) == st.program(function).formula(*pair)
    written = st.program(function).text(*pair)
    assert st.program(written).formula(*pair) == st.program(text).formula(*pair)
    a, b = np.linspace(-1, 1, 5), np.linspace(2, 0, 5)
    assert np.allclose(st.program(text)(a, b), function(a, b))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("t +", "expected"),
        ("", "empty"),
        ("sqrt(t)", "sqrt"),
        ("t ^ -1", "exponent"),
        ("(" * 2000 + "t", "("),
        ("x" * 10**6, ""),
    ],
)
def test_bad_texts_are_refused(text, part):
    with pytest.raises(st.BadFormula) as refused:
        st.program(text)
    assert part in str(refused.value).lower()
    assert len(str(refused.value)) < 1000


def test_computations_without_a_text_are_planned_all_the_same(owner):
    turned = st.program(lambda x: x[::-1] * x)
    with pytest.raises(st.BadFormula, match="owner.plan"):
        turned.formula(st.like(4))
    with pytest.raises(st.BadFormula, match="vectors"):
        st.program(lambda x: x + 1).formula(st.like((4, 2)))
    assert owner.plan(turned, st.like(4)).shape == (4,)
    with pytest.raises(st.BadFormula, match="at least 4"):
        st.program("sum(x, 2)")(np.ones(4))
    with pytest.raises(st.BadFormula, match="2 arrays: t, h"):
        st.program("t + h")(np.ones(4))


def test_text_doubles_at_most_to_a_bound():
    def power(x):
        for _ in range(30):
            x = x * x
        return x

    assert st.program(power).formula(st.like(2)).depth == (30, 30)
    with pytest.raises(st.BadFormula, match="characters"):
        st.program(power).text(st.like(2))


def test_a_plan_has_a_picture(owner):
    plan = owner.plan(st.program("sum(t * h) * 0.01 + 46"), *likes(24))
    page = plan._repr_html_()
    picture = xml.fromstring(page[page.index("<svg") :])
    texts = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(["t", "h", "×", "sum of 32", "0.01", "×", "46", "+"])
    assert "<svg" not in owner.plan(lambda x: x[::-1], st.like(4))._repr_html_()
