"""Contiguous float64 and int64 arrays are read where they lie."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import sotto as st
from sotto._native import Vector

MEGABYTE = 1 << 20


def largest(run):
    """Return the bytes that NumPy and Python allocate at most while a function runs."""
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.fixture(scope="module")
def owner():
    """Return an owner with the smallest parameters."""
    return st.Owner.new(depth=0)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_python_makes_no_copy(owner, dtype):
    values = np.arange(MEGABYTE // 4).astype(dtype) % 100
    x = owner.encrypt(values, range=(0, 100))
    size = values.nbytes
    assert size == 2 * MEGABYTE
    assert largest(lambda: owner.encrypt(values, range=(0, 100))) < size / 20
    assert largest(lambda: x + values) < size / 20
    # Twice the step: every other value, so that a copy is made, once.
    spread = np.repeat(values, 2)[::2]
    assert not spread.flags.c_contiguous
    assert size < largest(lambda: owner.encrypt(spread, range=(0, 100))) < 1.1 * size


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_the_operand_is_the_array_itself(owner, dtype, monkeypatch):
    values = np.arange(64, dtype=dtype)
    x = owner.encrypt(values, range=(0, 100))
    seen = []
    # The general case of x + y hands y to the compiled part: the same memory.
    monkeypatch.setattr(
        "sotto._array.Vector",
        type("Spy", (), {"add_scalar": None, "add_plain": lambda v, y: seen.append(y) or v.add(v)}),
    )
    x._add(values)
    assert seen[0].__array_interface__["data"] == values.__array_interface__["data"]


def test_strides_of_all_kinds(owner, close):
    table = np.arange(40.0).reshape(10, 4)
    for values in (table[:, 1], table[::-1, 2], table[::2], table.T, np.asfortranarray(table)):
        x = owner.encrypt(values, range=(0, 100))
        close(owner.decrypt(x), values)
        close(owner.decrypt(x + values), 2 * values)
    read_only = np.arange(8.0)
    read_only.flags.writeable = False
    close(owner.decrypt(owner.encrypt(read_only, range=(0, 10)) + read_only), 2 * read_only)


def test_the_compiled_part_refuses_to_copy(owner):
    spread = np.arange(16.0)[::2]
    with pytest.raises(TypeError, match="not contiguous"):
        owner._secret.encrypt(spread, 100.0)
    vector = owner.encrypt(np.arange(8.0), range=(0, 10))._vectors[0]
    with pytest.raises(TypeError, match="not contiguous"):
        Vector.add_plain(vector, spread)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_a_hundred_megabytes_stay_where_they_are():
    """The peak of the whole process, compiled part included, does not grow by the array's size.

    The array has one value beyond the bound at its end: all of it is read, and nothing encrypted.
    """
    script = """
import re, numpy as np, sotto as st
owner = st.Owner.new(depth=0)
values = np.ones(13_000_000)
values[-1] = 5.0

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024

before = peak()
try:
    owner._secret.encrypt(values, 2.0)
except st.OutOfRange:
    print(values.nbytes, peak() - before)
"""
    output = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    size, grown = map(int, output.split())
    assert size > 100e6 and grown < size / 10
