"""Bytes, pickles, plans, key files."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sotto as st


@st.program
def comfort(t, h):
    """Return a small polynomial of temperature and humidity."""
    return (t * 0.5 + h * t * 0.01).mean()


def test_three_parties(owner, close, rng):
    t, h = rng.uniform(0, 40, 288), rng.uniform(0, 100, 288)
    temperature = owner.encrypt(t, range=(0, 40), resolution=0.1)
    humidity = owner.encrypt(h, range=(0, 100))
    cloud = st.Evaluator(owner.public_bundle())
    answer = cloud.run(comfort, *(cloud.read(bytes(x)) for x in (temperature, humidity)))
    plan = owner.plan(
        comfort, st.like(288, range=(0, 40), resolution=0.1), st.like(288, range=(0, 100))
    )
    found = owner.decrypt(pickle.loads(bytes(pickle.dumps(answer))), plan)
    rounded = np.round(t / 0.1) * 0.1
    close(found, (rounded * 0.5 + h * rounded * 0.01).mean())
    assert (
        found.bound <= plan.bound and "rotations" in repr(plan) and "<table>" in plan._repr_html_()
    )
    with pytest.raises(st.NotTrusted, match="owner.plan"):
        owner.decrypt(answer)
    with pytest.raises(st.NotTrusted, match="do not act on it"):
        owner.decrypt(temperature, plan)


def test_whole_numbers_travel(owner):
    x = owner.encrypt(np.arange(12).reshape(6, 2), range=(0, 20))
    cloud = st.Evaluator(owner.public_bundle())
    answer = cloud.run(lambda x: (x * x).sum(axis=0), bytes_of(x))
    plan = owner.plan(lambda x: (x * x).sum(axis=0), st.like((6, 2), (0, 20), dtype=int))
    expected = (np.arange(12).reshape(6, 2) ** 2).sum(axis=0)
    assert np.array_equal(owner.decrypt(answer, plan), expected)


def bytes_of(x):
    """Return an array as it arrives."""
    return pickle.loads(pickle.dumps(x))


def test_a_pickle_crosses_processes(owner, tmp_path):
    (tmp_path / "x").write_bytes(pickle.dumps(owner.encrypt([1.0, 2.0])))
    (tmp_path / "keys").write_bytes(owner.public_bundle())
    script = """
import pickle, sys, sotto as st
from pathlib import Path
folder = Path(sys.argv[1])
cloud = st.Evaluator((folder / "keys").read_bytes())
x = cloud.attach(pickle.loads((folder / "x").read_bytes()))
(folder / "y").write_bytes(bytes(cloud.run(lambda x: x * 3, x)))
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    plan = owner.plan(lambda x: x * 3, st.like(2))
    answer = owner.attach(st.DetachedArray((tmp_path / "y").read_bytes()))
    found = owner.decrypt(answer, plan)
    assert np.allclose(found, [3.0, 6.0], atol=found.bound)


def test_others_encrypt(close):
    owner = st.Owner.new(depth=1, public_inputs=True)
    sender = st.Evaluator(owner.public_bundle())
    answer = sender.run(lambda x: x.sum(), sender.encrypt([1.0, 2.5], range=(0, 4)))
    close(owner.decrypt(answer, owner.plan(lambda x: x.sum(), st.like(2, range=(0, 4)))), 3.5)


def test_secrets_stay(owner, tmp_path):
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(owner)
    for secret in [owner._secret, owner._public]:
        with pytest.raises(TypeError):
            pickle.dumps(secret)
    owner.save(tmp_path / "key")
    owner.save(tmp_path / "locked", passphrase="a long passphrase")
    again = st.Owner.load(tmp_path / "key")
    assert again.key_id == owner.key_id
    assert st.Owner.load(tmp_path / "locked", "a long passphrase").key_id == owner.key_id
    with pytest.raises(OSError):
        st.Owner.load(tmp_path / "locked", "another")
    with pytest.raises(OSError):
        owner.save(tmp_path / "key")
    found = again.decrypt(owner.encrypt([1.5, -2.0]))
    assert np.allclose(found, [1.5, -2.0], atol=found.bound)


def test_foreign_bytes(owner, rng):
    good = bytes(owner.encrypt([1.0, 2.0]))
    for bad in [b"", b"x" * 100, good[:-1], good + b"x", good[:20], good[:200] + good[400:]]:
        with pytest.raises(st.SottoError):
            owner.attach(st.DetachedArray(bad))
    for _ in range(300):
        changed = bytearray(good)
        for position in rng.integers(0, 300, 3):
            changed[position] = rng.integers(0, 256)
        try:
            owner.attach(st.DetachedArray(bytes(changed)))
        except st.SottoError:
            pass
    with pytest.raises(st.SottoError):
        st.Evaluator(good)


def test_threads(owner):
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        values = np.random.default_rng(seed).uniform(-1, 1, 500)
        found = owner.decrypt((owner.encrypt(values, range=(-1, 1)) ** 2).sum())
        return abs(found - (values**2).sum()) <= found.bound

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


def test_a_bundle_can_have_keys_for_whole_numbers_before_any_is_encrypted():
    owner = st.Owner.new(depth=1, public_inputs=True)
    with pytest.raises(st.WrongKeys, match="integers=True"):
        st.Evaluator(owner.public_bundle()).encrypt([1, 2, 3])
    cloud = st.Evaluator(owner.public_bundle(integers=True))
    total = bytes(cloud.run(lambda x: x.sum(), cloud.encrypt([1, 2, 3], range=(0, 5))))
    plan = owner.plan(lambda x: x.sum(), st.like(3, range=(0, 5), dtype=np.int64))
    assert owner.decrypt(st.DetachedArray(total), plan) == 6


def test_an_empty_passphrase_is_refused(owner, tmp_path):
    with pytest.raises(ValueError, match="empty passphrase"):
        owner.save(tmp_path / "key", "")
    assert not (tmp_path / "key").exists()
