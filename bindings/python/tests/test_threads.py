"""Threads share owners, evaluators and arrays, with the interpreter's lock and without it."""

import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import sotto as st

THREADS = 8


def together(work):
    """Run `work(number)` in threads that start at the same time."""
    start = threading.Barrier(THREADS)

    def run(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_a_new_owner_makes_its_keys_for_whole_numbers_once():
    owner = st.Owner.new(depth=1)
    keys = together(lambda _: owner._integers(1.0))
    assert all(each is keys[0] for each in keys)
    arrays = together(lambda number: owner.encrypt(np.arange(5) + number, range=(0, 20)))
    total = sum(arrays[1:], start=arrays[0])
    assert (owner.decrypt(total) == THREADS * np.arange(5) + sum(range(THREADS))).all()


def test_all_kinds_of_work_at_once(close):
    owner = st.Owner.new(depth=2)
    values = np.linspace(0.0, 10.0, 30).reshape(10, 3)
    x = owner.encrypt(values, range=(0, 10))
    column = owner.encrypt(values[:, 0].copy(), range=(0, 10))
    cloud = st.Evaluator(owner.public_bundle(integers=True))
    data = bytes(x)

    def work(number):
        for _ in range(5):
            close(owner.decrypt(x + number), values + number)
            close(owner.decrypt((column * column).sum()), (values[:, 0] ** 2).sum())
            close(owner.decrypt(x @ np.array([1.0, 2.0, number])), values @ [1.0, 2.0, number])
            assert cloud.read(data).shape == (10, 3)
            assert repr(column[2:4] * 2.0) == "EncryptedArray(shape=(2,), dtype=float64)"
        return column * float(number + 1)

    for number, result in enumerate(together(work)):
        close(owner.decrypt(result), values[:, 0] * (number + 1))


def test_the_module_leaves_the_lock_off():
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert enabled is not free
