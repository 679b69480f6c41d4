"""The tasks with Pyfhel."""

import numpy as np
from Pyfhel import PyCtxt, Pyfhel
from tasks import registry

PROGRAMS, task = registry()

#: Slots of a CKKS ciphertext, and of a row of a BFV one.
SLOTS = 4096


def keys(levels, whole):
    """Return an instance with keys: n = 8192 and 40-bit primes, a level a product."""
    he = Pyfhel()
    if whole:
        he.contextGen("bfv", n=2 * SLOTS, t_bits=35, sec=128)
    else:
        he.contextGen("ckks", n=2 * SLOTS, scale=2**40, qi_sizes=[60, *[40] * levels, 60])
    he.keyGen()
    he.relinKeyGen()
    he.rotateKeyGen()
    return he


def key_bytes(he):
    """Return the bytes of the keys of a party that computes."""
    return sum(len(key) for key in _public(he))


def _public(he):
    return [
        he.to_bytes_context(),
        he.to_bytes_public_key(),
        he.to_bytes_relin_key(),
        he.to_bytes_rotate_key(),
    ]


def size(encrypted):
    """Return the bytes of a ciphertext."""
    return len(encrypted.to_bytes())


def _parts(he, x):
    """Encrypt a vector of any length, a ciphertext for each 4,096 values."""
    return [he.encryptFrac(x[start : start + SLOTS]) for start in range(0, len(x), SLOTS)]


def _sum(he, parts):
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return he.cumul_add(total)


def _scaled(he, x, factor):
    """Multiply by a public number or vector, and bring the scale down."""
    slots = np.full(SLOTS, factor, dtype=float) if np.isscalar(factor) else factor
    result = x * he.encodeFrac(slots)
    he.rescale_to_next(result)
    return result


def _product(he, x, y):
    result = x * y
    he.relinearize(result)
    he.rescale_to_next(result)
    return result


def _shifted(he, x, number):
    return x + he.encodeFrac(np.full(SLOTS, number, dtype=float))


@task(levels=1)
def round_trip(he, x):
    readings = yield he.encryptFrac(x)
    return he.decryptFrac(readings)[: len(x)]


@task(levels=1)
def total(he, x):
    readings = yield _parts(he, x)
    answer = yield _sum(he, readings)
    return he.decryptFrac(answer)[0]


@task(levels=1)
def mean(he, x):
    readings = yield _parts(he, x)
    answer = yield _scaled(he, _sum(he, readings), 1 / len(x))
    return he.decryptFrac(answer)[0]


def _variance(he, readings, count):
    mean = _scaled(he, _sum(he, readings), 1 / count)
    squares = _sum(he, [_product(he, part, part) for part in readings])
    return _scaled(he, squares, 1 / count) - _product(he, mean, mean)


@task(levels=2)
def variance(he, x):
    readings = yield _parts(he, x)
    answer = yield _variance(he, readings, len(x))
    return he.decryptFrac(answer)[0]


@task(levels=2)
def deviation(he, x):
    readings = yield _parts(he, x)
    answer = yield _variance(he, readings, len(x))
    return np.sqrt(he.decryptFrac(answer)[0])


@task(levels=1)
def weighted_mean(he, x, weights):
    readings = yield he.encryptFrac(x)
    answer = yield he.cumul_add(_scaled(he, readings, weights / weights.sum()))
    return he.decryptFrac(answer)[0]


@task(levels=1)
def dot(he, x, y):
    x = yield he.encryptFrac(x)
    y = yield he.encryptFrac(y)
    answer = yield he.cumul_add(_product(he, x, y))
    return he.decryptFrac(answer)[0]


@task(levels=1)
def calibration(he, x):
    readings = yield he.encryptFrac(x)
    answer = yield _shifted(he, _scaled(he, readings, 1.02), -0.4)
    return he.decryptFrac(answer)[: len(x)]


@task(levels=1)
def fahrenheit(he, table):
    celsius = yield he.encryptFrac(table.ravel())
    answer = yield _shifted(he, _scaled(he, celsius, 1.8), 32)
    return he.decryptFrac(answer)[: table.size].reshape(table.shape)


@task(levels=2)
def cubic(he, x):
    x = yield he.encryptFrac(x)
    squares = _product(he, x, x)
    third = _product(he, squares, _scaled(he, x, 0.2))
    lower = _scaled(he, x, 0.5) + _scaled(he, squares, -0.3)
    answer = yield _shifted(he, third + lower, 0.1)
    return he.decryptFrac(answer)


@task(levels=1)
def product(he, x, y):
    x = yield he.encryptFrac(x)
    y = yield he.encryptFrac(y)
    answer = yield _product(he, x, y)
    return he.decryptFrac(answer)


@task(levels=2)
def covariance(he, x, y):
    count = len(x)
    x = yield he.encryptFrac(x)
    y = yield he.encryptFrac(y)
    products = _scaled(he, he.cumul_add(_product(he, x, y)), 1 / (count - 1))
    left = _scaled(he, he.cumul_add(x, True), 1 / count)
    right = _scaled(he, he.cumul_add(y, True), 1 / (count - 1))
    answer = yield products - _product(he, left, right)
    return he.decryptFrac(answer)[0]


def _linear(he, columns, weights, bias):
    total = _scaled(he, columns[0], weights[0])
    for column, weight in zip(columns[1:], weights[1:]):
        total += _scaled(he, column, weight)
    return _shifted(he, total, bias)


@task(levels=1)
def linear(he, rows, weights, bias):
    columns = yield [he.encryptFrac(column) for column in np.ascontiguousarray(rows.T)]
    answer = yield _linear(he, columns, weights, bias)
    return he.decryptFrac(answer)[: len(rows)]


@task(levels=1)
def logistic(he, rows, weights, bias):
    columns = yield [he.encryptFrac(column) for column in np.ascontiguousarray(rows.T)]
    answer = yield _linear(he, columns, weights, bias)
    return 1 / (1 + np.exp(-he.decryptFrac(answer)[: len(rows)]))


@task(levels=1)
def distances(he, rows, centres):
    columns = yield [he.encryptFrac(column) for column in np.ascontiguousarray(rows.T)]
    answer = []
    for centre in centres:
        moved = [_shifted(he, c, -at) for c, at in zip(columns, centre)]
        squares = [_product(he, c, c) for c in moved]
        answer.append(sum(squares[1:], squares[0]))
    answer = yield answer
    return np.transpose([he.decryptFrac(distance)[: len(rows)] for distance in answer])


@task(levels=1, whole=True)
def exact_sum(he, x):
    # Rotations stay within a row of slots: the owner adds the sums of both rows.
    kwh = yield [he.encryptInt(x[: 2 * SLOTS]), he.encryptInt(x[2 * SLOTS :])]
    answer = yield he.cumul_add(kwh[0] + kwh[1], n_elements=SLOTS)
    return he.decryptInt(answer)[[0, SLOTS]].sum()


@task(levels=1, whole=True)
def exact_dot(he, x, y):
    x = yield he.encryptInt(x)
    y = yield he.encryptInt(y)
    answer = yield x @ y
    return he.decryptInt(answer)[0]


@task(levels=1)
def difference(he, x):
    x = yield he.encryptFrac(x)
    answer = yield (x << 1) - x
    return he.decryptFrac(answer)[: SLOTS - 1]


@task(levels=1)
def selection(he, x, places):
    mask = np.zeros(SLOTS)
    mask[places] = 1
    readings = yield he.encryptFrac(x)
    answer = yield _scaled(he, readings, mask)
    return he.decryptFrac(answer)[places]


@task(levels=2)
def sending(he, t, h):
    t_sent = yield he.encryptFrac(t).to_bytes()
    h_sent = yield he.encryptFrac(h).to_bytes()
    context, public, relin, rotate = _public(he)
    cloud = Pyfhel()
    cloud.from_bytes_context(context)
    cloud.from_bytes_public_key(public)
    cloud.from_bytes_relin_key(relin)
    cloud.from_bytes_rotate_key(rotate)
    t_there = PyCtxt(pyfhel=cloud, bytestring=t_sent)
    h_there = PyCtxt(pyfhel=cloud, bytestring=h_sent)
    first = _scaled(cloud, cloud.cumul_add(t_there, True), 0.8 / len(t))
    products = cloud.cumul_add(_product(cloud, t_there, h_there))
    second = _scaled(cloud, products, 0.01 / len(t))
    answer = yield _shifted(cloud, first + second, 46).to_bytes()
    return he.decryptFrac(PyCtxt(pyfhel=he, bytestring=answer))[0]
