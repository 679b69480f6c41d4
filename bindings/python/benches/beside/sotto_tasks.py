"""The tasks with sotto."""

from types import SimpleNamespace

import numpy as np
import sotto as st
from tasks import registry

PROGRAMS, task = registry()


def keys(levels, whole):
    """Return the usual owner, who has room for two products, as most of the tasks have."""
    assert levels <= 2
    owner = st.Owner.new()
    owner.encrypt([1] if whole else [1.0])  # keys for whole numbers are made when first used
    bundle = owner.public_bundle()
    return SimpleNamespace(owner=owner, bundle=bundle, cloud=st.Evaluator(bundle))


def key_bytes(he):
    """Return the bytes of the keys of a party that computes."""
    return len(he.bundle)


def size(encrypted):
    """Return the bytes of an encrypted array."""
    return len(bytes(encrypted))


@task(levels=1)
def round_trip(he, x):
    readings = yield he.owner.encrypt(x, range=(-20, 120))
    return he.owner.decrypt(readings)


@task(levels=1)
def total(he, x):
    readings = yield he.owner.encrypt(x, range=(0, 100))
    answer = yield he.cloud.run(np.sum, readings)
    return he.owner.decrypt(answer)


@task(levels=1)
def mean(he, x):
    readings = yield he.owner.encrypt(x, range=(0, 100))
    answer = yield he.cloud.run(np.mean, readings)
    return he.owner.decrypt(answer)


@task(levels=2)
def variance(he, x):
    readings = yield he.owner.encrypt(x, range=(0, 100))
    answer = yield he.cloud.run(np.var, readings)
    return he.owner.decrypt(answer)


@task(levels=2)
def deviation(he, x):
    readings = yield he.owner.encrypt(x, range=(0, 100))
    answer = yield he.cloud.run(np.std, readings)
    return he.owner.decrypt(answer)


@task(levels=1)
def weighted_mean(he, x, weights):
    readings = yield he.owner.encrypt(x, range=(-20, 120))
    answer = yield he.cloud.run(lambda x: x @ weights / weights.sum(), readings)
    return he.owner.decrypt(answer)


@task(levels=1)
def dot(he, x, y):
    x = yield he.owner.encrypt(x, range=(-1, 1))
    y = yield he.owner.encrypt(y, range=(-1, 1))
    answer = yield he.cloud.run(np.dot, x, y)
    return he.owner.decrypt(answer)


@task(levels=1)
def calibration(he, x):
    readings = yield he.owner.encrypt(x, range=(-20, 120))
    answer = yield he.cloud.run(lambda x: x * 1.02 - 0.4, readings)
    return he.owner.decrypt(answer)


@task(levels=1)
def fahrenheit(he, table):
    celsius = yield he.owner.encrypt(table, range=(-20, 120))
    answer = yield he.cloud.run(lambda x: x * 1.8 + 32, celsius)
    return he.owner.decrypt(answer)


@task(levels=2)
def cubic(he, x):
    x = yield he.owner.encrypt(x, range=(-1, 1))
    answer = yield he.cloud.run(lambda x: x.polynomial([0.1, 0.5, -0.3, 0.2]), x)
    return he.owner.decrypt(answer)


@task(levels=1)
def product(he, x, y):
    x = yield he.owner.encrypt(x, range=(-1, 1))
    y = yield he.owner.encrypt(y, range=(-1, 1))
    answer = yield he.cloud.run(np.multiply, x, y)
    return he.owner.decrypt(answer)


@task(levels=2)
def covariance(he, x, y):
    x = yield he.owner.encrypt(x, range=(-1, 1))
    y = yield he.owner.encrypt(y, range=(-1, 1))
    answer = yield he.cloud.run(lambda x, y: x.cov(y), x, y)
    return he.owner.decrypt(answer)


@task(levels=1)
def linear(he, rows, weights, bias):
    rows = yield he.owner.encrypt(rows, range=(-1, 1))
    answer = yield he.cloud.run(lambda x: x @ weights + bias, rows)
    return he.owner.decrypt(answer)


@task(levels=1)
def logistic(he, rows, weights, bias):
    rows = yield he.owner.encrypt(rows, range=(-1, 1))
    answer = yield he.cloud.run(lambda x: x @ weights + bias, rows)
    return 1 / (1 + np.exp(-he.owner.decrypt(answer)))


@task(levels=1)
def distances(he, rows, centres):
    rows = yield he.owner.encrypt(rows, range=(-1, 1))
    answer = yield he.cloud.run(
        lambda x: np.stack([((x - c) ** 2).sum(axis=1) for c in centres], 1), rows
    )
    return he.owner.decrypt(answer)


@task(levels=1, whole=True)
def exact_sum(he, x):
    kwh = yield he.owner.encrypt(x, range=(0, 999))
    answer = yield he.cloud.run(np.sum, kwh)
    return he.owner.decrypt(answer)


@task(levels=1, whole=True)
def exact_dot(he, x, y):
    x = yield he.owner.encrypt(x, range=(0, 999))
    y = yield he.owner.encrypt(y, range=(0, 999))
    answer = yield he.cloud.run(np.dot, x, y)
    return he.owner.decrypt(answer)


@task(levels=1)
def difference(he, x):
    x = yield he.owner.encrypt(x, range=(-1, 1))
    answer = yield he.cloud.run(lambda x: x[1:] - x[:-1], x)
    return he.owner.decrypt(answer)


@task(levels=1)
def selection(he, x, places):
    readings = yield he.owner.encrypt(x, range=(-20, 120))
    answer = yield he.cloud.run(lambda x: x[places], readings)
    return he.owner.decrypt(answer)


def _discomfort(t, h):
    return (t * 0.8 + h * t * 0.01).mean() + 46


@task(levels=2)
def sending(he, t, h):
    t_sent = yield bytes(he.owner.encrypt(t, range=(0, 40)))
    h_sent = yield bytes(he.owner.encrypt(h, range=(0, 100)))
    cloud = st.Evaluator(he.bundle)
    answer = yield bytes(cloud.run(_discomfort, cloud.read(t_sent), cloud.read(h_sent)))
    inputs = st.like(len(t), range=(0, 40)), st.like(len(h), range=(0, 100))
    return he.owner.decrypt(st.DetachedArray(answer), he.owner.plan(_discomfort, *inputs))
