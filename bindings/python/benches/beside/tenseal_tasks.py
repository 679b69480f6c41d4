"""The tasks with TenSEAL, by its vectors."""

from types import SimpleNamespace

import numpy as np
import tenseal as ts
from tasks import registry

PROGRAMS, task = registry()

#: A prime of 35 bits that is 1 modulo 2n: results of whole numbers stay below it.
PLAIN_MODULUS = 34359754753


def keys(levels, whole):
    """Return a context: n = 8192 and the primes of TenSEAL's tutorials, a level a product."""
    options = {"encryption_type": ts.ENCRYPTION_TYPE.SYMMETRIC, "n_threads": 1}
    if whole:
        he = ts.context(ts.SCHEME_TYPE.BFV, 8192, plain_modulus=PLAIN_MODULUS, **options)
    else:
        sizes = [60, *[40] * levels, 60]
        he = ts.context(ts.SCHEME_TYPE.CKKS, 8192, coeff_mod_bit_sizes=sizes, **options)
        he.global_scale = 2**40
    he.generate_galois_keys()
    public = he.serialize(save_secret_key=False)
    return SimpleNamespace(context=he, public=public)


def key_bytes(he):
    """Return the bytes of the context without its secret key."""
    return len(he.public)


def size(encrypted):
    """Return the bytes of a vector."""
    return len(encrypted.serialize())


@task(levels=1)
def round_trip(he, x):
    readings = yield ts.ckks_vector(he.context, x)
    return readings.decrypt()


@task(levels=1)
def total(he, x):
    readings = yield ts.ckks_vector(he.context, x)
    answer = yield readings.sum()
    return answer.decrypt()


@task(levels=1)
def mean(he, x):
    readings = yield ts.ckks_vector(he.context, x)
    answer = yield readings.sum() * (1 / len(x))
    return answer.decrypt()


@task(levels=2)
def variance(he, x):
    readings = yield ts.ckks_vector(he.context, x)
    centred = readings - 50.0
    squares, mean = centred.square().sum(), centred.sum() * (1 / len(x))
    answer = yield squares * (1 / len(x)) - mean.square()
    return answer.decrypt()


@task(levels=2)
def deviation(he, x):
    readings = yield ts.ckks_vector(he.context, x)
    centred = readings - 50.0
    squares, mean = centred.square().sum(), centred.sum() * (1 / len(x))
    answer = yield squares * (1 / len(x)) - mean.square()
    return np.sqrt(answer.decrypt())


@task(levels=1)
def weighted_mean(he, x, weights):
    readings = yield ts.ckks_vector(he.context, x)
    answer = yield readings.dot(weights / weights.sum())
    return answer.decrypt()


@task(levels=1)
def dot(he, x, y):
    x = yield ts.ckks_vector(he.context, x)
    y = yield ts.ckks_vector(he.context, y)
    answer = yield x.dot(y)
    return answer.decrypt()


@task(levels=1)
def calibration(he, x):
    readings = yield ts.ckks_vector(he.context, x)
    answer = yield readings * 1.02 - 0.4
    return answer.decrypt()


@task(levels=1)
def fahrenheit(he, table):
    celsius = yield ts.ckks_vector(he.context, table.ravel())
    answer = yield celsius * 1.8 + 32
    return np.reshape(answer.decrypt(), table.shape)


@task(levels=2)
def cubic(he, x):
    x = yield ts.ckks_vector(he.context, x)
    answer = yield x.polyval([0.1, 0.5, -0.3, 0.2])
    return answer.decrypt()


@task(levels=1)
def product(he, x, y):
    x = yield ts.ckks_vector(he.context, x)
    y = yield ts.ckks_vector(he.context, y)
    answer = yield x * y
    return answer.decrypt()


@task(levels=2)
def covariance(he, x, y):
    count = len(x)
    x = yield ts.ckks_vector(he.context, x)
    y = yield ts.ckks_vector(he.context, y)
    products, means = x.dot(y) * (1 / (count - 1)), x.sum() * (1 / count)
    answer = yield products - means * (y.sum() * (1 / (count - 1)))
    return answer.decrypt()


@task(levels=1)
def linear(he, rows, weights, bias):
    columns = yield [ts.ckks_vector(he.context, column) for column in rows.T]
    answer = yield sum(c * w for c, w in zip(columns, weights)) + bias
    return answer.decrypt()


@task(levels=1)
def logistic(he, rows, weights, bias):
    columns = yield [ts.ckks_vector(he.context, column) for column in rows.T]
    answer = yield sum(c * w for c, w in zip(columns, weights)) + bias
    return 1 / (1 + np.exp(-np.array(answer.decrypt())))


@task(levels=1)
def distances(he, rows, centres):
    columns = yield [ts.ckks_vector(he.context, column) for column in rows.T]
    answer = yield [sum((c - at).square() for c, at in zip(columns, centre)) for centre in centres]
    return np.transpose([distance.decrypt() for distance in answer])


@task(levels=1, whole=True)
def exact_sum(he, x):
    parts = np.array_split(x, -(-len(x) // 4096))  # sums are over at most a row of slots
    kwh = yield [ts.bfv_vector(he.context, part) for part in parts]
    answer = yield sum(part.sum() for part in kwh)
    return answer.decrypt()


@task(levels=1, whole=True)
def exact_dot(he, x, y):
    x = yield ts.bfv_vector(he.context, x)
    y = yield ts.bfv_vector(he.context, y)
    answer = yield x.dot(y)
    return answer.decrypt()


@task(levels=1)
def difference(he, x):
    # Vectors cannot be moved: the owner sends both.
    later = yield ts.ckks_vector(he.context, x[1:])
    earlier = yield ts.ckks_vector(he.context, x[:-1])
    answer = yield later - earlier
    return answer.decrypt()


@task(levels=1)
def selection(he, x, places):
    mask = np.zeros(len(x))
    mask[places] = 1
    readings = yield ts.ckks_vector(he.context, x)
    answer = yield readings * mask
    return np.array(answer.decrypt())[places]


@task(levels=2)
def sending(he, t, h):
    t_sent = yield ts.ckks_vector(he.context, t).serialize()
    h_sent = yield ts.ckks_vector(he.context, h).serialize()
    cloud = ts.context_from(he.public)
    t_there, h_there = ts.ckks_vector_from(cloud, t_sent), ts.ckks_vector_from(cloud, h_sent)
    # The 1/n of the mean goes into the constants, so that there is room.
    first, second = t_there.sum() * (0.8 / len(t)), t_there.dot(h_there) * (0.01 / len(t))
    answer = yield (first + second + 46).serialize()
    return ts.ckks_vector_from(he.context, answer).decrypt()
