"""Random expressions against NumPy. SOTTO_EXPRESSIONS sets their number."""

import os

import numpy as np
import sotto as st
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as draw

COUNT = int(os.environ.get("SOTTO_EXPRESSIONS", "300"))
LENGTHS = [1, 2, 3, 7, 8, 33]
NUMBERS = draw.floats(-2, 2).map(lambda value: round(value, 3)).filter(bool)


def leaves():
    """Inputs by name, without a product."""
    return draw.sampled_from(["a", "b"]).map(lambda name: (name, 0))


def grown(children):
    """Expressions one step larger; the second entry counts products one after another."""

    def pair(sign):
        return draw.tuples(children, children).map(
            lambda two: (f"({two[0][0]} {sign} {two[1][0]})", max(two[0][1], two[1][1]))
        )

    product = draw.tuples(children, children).map(
        lambda two: (f"({two[0][0]} * {two[1][0]})", max(two[0][1], two[1][1]) + 1)
    )
    scaled = draw.tuples(children, NUMBERS).map(lambda x: (f"({x[0][0]} * {x[1]})", x[0][1]))
    shifted = draw.tuples(NUMBERS, children).map(lambda x: (f"({x[0]} - {x[1][0]})", x[1][1]))
    weighted = children.map(lambda x: (f"({x[0]} * w)", x[1] + 1))
    centred = children.map(lambda x: (f"({x[0]} - {x[0]}.mean())", x[1]))
    turned = children.map(lambda x: (f"{x[0]}[::-1]", x[1] + 1))
    return draw.one_of(
        pair("+"), pair("-"), product, scaled, shifted, weighted, centred, turned
    ).filter(lambda x: x[1] <= 2)


#: Numbers of expressions computed and refused.
OUTCOMES = {"computed": 0, "refused": 0}
ENDINGS = ["{}", "{}.sum()", "{}.mean()", "({} @ w)", "{}[0]"]


@settings(
    max_examples=COUNT,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    tree=draw.recursive(leaves(), grown, max_leaves=4),
    ending=draw.sampled_from(ENDINGS),
    length=draw.sampled_from(LENGTHS),
    seed=draw.integers(0, 2**32),
)
def test_random_expressions(owner, tree, ending, length, seed):
    rng = np.random.default_rng(seed)
    clear = {name: rng.uniform(-2, 2, length) for name in "ab"}
    public = {"w": rng.uniform(0.5, 1, length)}
    hidden = {name: owner.encrypt(values, range=(-2, 2)) for name, values in clear.items()}
    expression = ending.format(tree[0])
    exact = np.asarray(eval(expression, dict(public), dict(clear)))
    try:
        found = owner.decrypt(eval(expression, dict(public), hidden))
    except st.OutOfDepth:
        # Weights, turns and shrinking take levels that the count of products leaves out.
        OUTCOMES["refused"] += 1
        return
    except st.SottoError as error:
        # x - x has no mask left; everybody could read it, so it is refused.
        assert "transparent" in str(error).lower() or "mask" in str(error).lower(), expression
        return
    OUTCOMES["computed"] += 1
    assert found.shape == exact.shape, expression
    assert np.all(np.abs(np.asarray(found) - exact) <= found.bound + 1e-12), expression


def test_most_expressions_were_computed():
    assert OUTCOMES["computed"] >= 4 * OUTCOMES["refused"], OUTCOMES
