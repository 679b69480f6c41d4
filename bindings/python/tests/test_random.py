"""Random programs of NumPy's operations: no decrypted value is off by more than its bound.

`SOTTO_EXPRESSIONS` sets the number of programs, `SOTTO_SEED` the start of all choices. The run ends
with quantiles of error / bound and of bound / best, for every owner:

    SOTTO_EXPRESSIONS=3000 SOTTO_SEED=2 pytest -q bindings/python/tests/test_random.py

*Best* is a reference that no parameters of the owner go below by much: the bound on a fresh value
of the owner, as a share of its range, times the largest value that the answer may have by the
declared ranges.
"""

import os
import re

import numpy as np
import pytest
import random_programs as programs
import sotto as st
from random_figures import FIGURES

COUNT = int(os.environ.get("SOTTO_EXPRESSIONS", "300"))
#: Depths of owners; the large rings of the last ones take most of the time.
DEPTHS, WEIGHTS = [0, 1, 2, 3, 4, 5], [0.2, 0.2, 0.4, 0.1, 0.05, 0.05]
#: Lines of a program at most, and programs that are run again on an owner of their own, and by a
#: plan on another computer, which take longer: every so many.
LINES, EVERY = 8, 25
#: Where the ranges of a program go beyond float64.
INFINITE = 1e300


@pytest.fixture(scope="module")
def owners():
    return programs.Owners()


def test_random_programs(owners):
    faults = []
    for index in range(COUNT):
        rng = np.random.default_rng([programs.SEED, index])
        try:
            checked(owners, rng, index)
        except Exception as error:
            faults.append(f"program {index} of SOTTO_SEED={programs.SEED}: {error!r}")
            assert len(faults) < 10, "\n\n".join(faults)
    assert not faults, "\n\n".join(faults)


def checked(owners, rng, index):
    """Run one program and compare its answer with the exact one."""
    depth = int(rng.choice(DEPTHS, p=WEIGHTS))
    owner, fresh = owners.of(depth)
    apart = index % EVERY == 0
    p = programs.start(owner, rng, longest=2000 if apart else programs.LONGEST)
    p.index = index
    try:
        grow(p, int(rng.integers(1, LINES + 1)))
        compare(p, p.hidden[list(p.hidden)[-1]], f"depth={depth}", owner, fresh)
        if apart:
            elsewhere(p, owner)
            alone(p)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{p.text()}") from error


def grow(p, lines):
    """Add lines until one is refused for want of levels."""
    for left in range(lines, 0, -1):
        text, levels = programs.next_line(p, left == 1)
        operands = [p.hidden[name] for name in set(re.findall(r"v\d+", text))]
        least = min(x.levels_left for x in operands)
        try:
            p.run(text)
        except st.OutOfDepth:
            assert least < levels, f"{least} levels left, and {text} takes {levels} at most"
            FIGURES.refused += 1
            return p.lines.pop()
        except st.OutOfRange:
            largest = max(float(np.abs(array).max()) for array in p.clear.values())
            assert max(p.largest, largest) ** 4 > INFINITE, f"refused: {text}"
            return p.lines.pop()


def compare(p, hidden, name, owner, fresh, plan=None):
    """Decrypt an answer, and compare its error with its bound."""
    found, exact = owner.decrypt(hidden, plan), p.clear[list(p.clear)[-1]]
    assert found.shape == exact.shape, (found.shape, exact.shape)
    error = float(np.abs(np.asarray(found).astype(np.longdouble) - exact).max())
    # Of the long double on the other side, which is a double on some machines, and adds row by row.
    rows = max(array.size for array in p.clear.values())
    slack = float(np.finfo(np.longdouble).eps) * (64 + rows) * max(p.largest, found.bound)
    assert error <= found.bound + slack, f"off by {error:.3g}, bound {found.bound:.3g}"
    # Roots of variances near 0 have errors near those of the variance's root.
    known = isinstance(hidden, st.EncryptedArray) and hidden._finish is None
    best = fresh * hidden.magnitude if known else 0.0
    FIGURES.add(name, p.index, error, found.bound, best)
    return found


def elsewhere(p, owner):
    """Compute on another computer, and decrypt by the plan."""
    plan = owner.plan(p.again, *p.likes)
    sent = [st.DetachedArray(bytes(p.hidden[name])) for name in p.inputs]
    hidden = st.Evaluator(owner.public_bundle()).run(p.again, *sent)
    try:
        hidden = st.DetachedArray(bytes(hidden))
    except st.PublicZero:
        return
    found = compare(p, hidden, "by a plan", owner, 0.0, plan)
    assert found.bound <= plan.bound


def alone(p):
    """Run the program on the owner that is made for it."""
    owner = st.Owner.for_program(p.again, *p.likes)
    inputs = [
        owner.encrypt(p.clear[name].astype(np.float64), range=(-like.bound, like.bound))
        for name, like in zip(p.inputs, p.likes, strict=True)
    ]
    fresh = programs.fresh_bound(owner)
    compare(p, p.again(*inputs), "for_program", owner, fresh)


def test_most_lines_have_room():
    assert FIGURES.refused <= COUNT / 4, FIGURES.refused
