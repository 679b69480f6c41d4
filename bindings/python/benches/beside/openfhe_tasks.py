"""The tasks with OpenFHE's own Python."""

from types import SimpleNamespace

import numpy as np
import openfhe
from openfhe import BINARY, PKESchemeFeature
from tasks import registry

PROGRAMS, task = registry()

#: A prime of 35 bits that is 1 modulo 2n: results of whole numbers stay below it.
PLAIN_MODULUS = 34359754753


def keys(levels, whole):
    """Return a context with keys. OpenFHE chooses the ring from the depth."""
    parameters = openfhe.CCParamsBFVRNS() if whole else openfhe.CCParamsCKKSRNS()
    parameters.SetMultiplicativeDepth(levels)
    if whole:
        parameters.SetPlaintextModulus(PLAIN_MODULUS)
    else:
        parameters.SetScalingModSize(40)
        # With one bit more, or the default technique, the ring is twice as large at one level.
        parameters.SetFirstModSize(57)
        parameters.SetScalingTechnique(openfhe.ScalingTechnique.FLEXIBLEAUTO)
    context = openfhe.GenCryptoContext(parameters)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE"):
        context.Enable(getattr(PKESchemeFeature, feature))
    pair = context.KeyGen()
    context.EvalMultKeyGen(pair.secretKey)
    context.EvalSumKeyGen(pair.secretKey)
    context.EvalRotateKeyGen(pair.secretKey, [1])
    slots = context.GetRingDimension() // (1 if whole else 2)
    return SimpleNamespace(
        context=context, public=pair.publicKey, secret=pair.secretKey, slots=slots
    )


def _public(he):
    tag = he.public.GetKeyTag()
    return [
        openfhe.Serialize(he.context, BINARY),
        openfhe.SerializeEvalMultKeyString(BINARY, tag),
        openfhe.SerializeEvalAutomorphismKeyString(BINARY, tag),
    ]


def key_bytes(he):
    """Return the bytes of the keys of a party that computes."""
    return sum(len(key) for key in [*_public(he), openfhe.Serialize(he.public, BINARY)])


def size(encrypted):
    """Return the bytes of a ciphertext."""
    return len(openfhe.Serialize(encrypted, BINARY))


def _encrypted(he, x):
    return he.context.Encrypt(he.secret, he.context.MakeCKKSPackedPlaintext(x.tolist()))


def _parts(he, x):
    """Encrypt a vector of any length, a ciphertext for as many values as it holds."""
    return [_encrypted(he, x[start : start + he.slots]) for start in range(0, len(x), he.slots)]


def _decrypted(he, encrypted, length):
    plain = he.context.Decrypt(encrypted, he.secret)
    plain.SetLength(length)
    return np.array(plain.GetRealPackedValue())


@task(levels=1)
def round_trip(he, x):
    readings = yield _encrypted(he, x)
    return _decrypted(he, readings, len(x))


@task(levels=1)
def total(he, x):
    readings = yield _parts(he, x)
    answer = yield he.context.EvalSum(he.context.EvalAddMany(readings), he.slots)
    return _decrypted(he, answer, 1)


@task(levels=1)
def mean(he, x):
    readings = yield _parts(he, x)
    total = he.context.EvalSum(he.context.EvalAddMany(readings), he.slots)
    answer = yield he.context.EvalMult(total, 1 / len(x))
    return _decrypted(he, answer, 1)


def _variance(he, readings, count):
    c, slots = he.context, he.slots
    total = c.EvalSum(c.EvalAddMany(readings), slots)
    squares = c.EvalSum(c.EvalAddMany([c.EvalSquare(part) for part in readings]), slots)
    mean = c.EvalMult(total, 1 / count)
    return c.EvalSub(c.EvalMult(squares, 1 / count), c.EvalSquare(mean))


@task(levels=2)
def variance(he, x):
    readings = yield _parts(he, x)
    answer = yield _variance(he, readings, len(x))
    return _decrypted(he, answer, 1)


@task(levels=2)
def deviation(he, x):
    readings = yield _parts(he, x)
    answer = yield _variance(he, readings, len(x))
    return np.sqrt(_decrypted(he, answer, 1))


@task(levels=1)
def weighted_mean(he, x, weights):
    readings = yield _encrypted(he, x)
    plain = he.context.MakeCKKSPackedPlaintext((weights / weights.sum()).tolist())
    answer = yield he.context.EvalInnerProduct(readings, plain, he.slots)
    return _decrypted(he, answer, 1)


@task(levels=1)
def dot(he, x, y):
    x = yield _encrypted(he, x)
    y = yield _encrypted(he, y)
    answer = yield he.context.EvalInnerProduct(x, y, he.slots)
    return _decrypted(he, answer, 1)


@task(levels=1)
def calibration(he, x):
    readings = yield _encrypted(he, x)
    answer = yield he.context.EvalAdd(he.context.EvalMult(readings, 1.02), -0.4)
    return _decrypted(he, answer, len(x))


@task(levels=1)
def fahrenheit(he, table):
    celsius = yield _encrypted(he, table.ravel())
    answer = yield he.context.EvalAdd(he.context.EvalMult(celsius, 1.8), 32.0)
    return _decrypted(he, answer, table.size).reshape(table.shape)


@task(levels=3)
def cubic(he, x):
    x_there = yield _encrypted(he, x)
    answer = yield he.context.EvalPoly(x_there, [0.1, 0.5, -0.3, 0.2])
    return _decrypted(he, answer, len(x))


@task(levels=1)
def product(he, x, y):
    x_there = yield _encrypted(he, x)
    y_there = yield _encrypted(he, y)
    answer = yield he.context.EvalMult(x_there, y_there)
    return _decrypted(he, answer, len(x))


@task(levels=2)
def covariance(he, x, y):
    c, count = he.context, len(x)
    x = yield _encrypted(he, x)
    y = yield _encrypted(he, y)
    products = c.EvalMult(c.EvalInnerProduct(x, y, he.slots), 1 / (count - 1))
    left = c.EvalMult(c.EvalSum(x, he.slots), 1 / count)
    right = c.EvalMult(c.EvalSum(y, he.slots), 1 / (count - 1))
    answer = yield c.EvalSub(products, c.EvalMult(left, right))
    return _decrypted(he, answer, 1)


@task(levels=1)
def linear(he, rows, weights, bias):
    columns = yield [_encrypted(he, column) for column in rows.T]
    answer = yield he.context.EvalAdd(he.context.EvalLinearWSum(columns, weights.tolist()), bias)
    return _decrypted(he, answer, len(rows))


@task(levels=1)
def logistic(he, rows, weights, bias):
    columns = yield [_encrypted(he, column) for column in rows.T]
    answer = yield he.context.EvalAdd(he.context.EvalLinearWSum(columns, weights.tolist()), bias)
    return 1 / (1 + np.exp(-_decrypted(he, answer, len(rows))))


@task(levels=1)
def distances(he, rows, centres):
    c = he.context
    columns = yield [_encrypted(he, column) for column in rows.T]
    answer = []
    for centre in centres:
        moved = [c.EvalSub(x, float(at)) for x, at in zip(columns, centre)]
        answer.append(c.EvalAddMany([c.EvalSquare(x) for x in moved]))
    answer = yield answer
    return np.transpose([_decrypted(he, distance, len(rows)) for distance in answer])


def _whole(he, x):
    return he.context.Encrypt(he.secret, he.context.MakePackedPlaintext(x.tolist()))


@task(levels=1, whole=True)
def exact_sum(he, x):
    kwh = yield [_whole(he, x[: he.slots]), _whole(he, x[he.slots :])]
    answer = yield he.context.EvalSum(he.context.EvalAdd(*kwh), he.slots)
    return he.context.Decrypt(answer, he.secret).GetPackedValue()[0]


@task(levels=1, whole=True)
def exact_dot(he, x, y):
    x = yield _whole(he, x)
    y = yield _whole(he, y)
    answer = yield he.context.EvalInnerProduct(x, y, he.slots)
    return he.context.Decrypt(answer, he.secret).GetPackedValue()[0]


@task(levels=1)
def difference(he, x):
    x_there = yield _encrypted(he, x)
    answer = yield he.context.EvalSub(he.context.EvalRotate(x_there, 1), x_there)
    return _decrypted(he, answer, len(x) - 1)


@task(levels=1)
def selection(he, x, places):
    mask = np.zeros(len(x))
    mask[places] = 1
    readings = yield _encrypted(he, x)
    plain = he.context.MakeCKKSPackedPlaintext(mask.tolist())
    answer = yield he.context.EvalMult(readings, plain)
    return _decrypted(he, answer, len(x))[places]


@task(levels=2)
def sending(he, t, h):
    t_sent = yield openfhe.Serialize(_encrypted(he, t), BINARY)
    h_sent = yield openfhe.Serialize(_encrypted(he, h), BINARY)
    context, products, rotations = _public(he)
    # Keys lie in tables of the process: these stand for those of another computer.
    openfhe.ClearEvalMultKeys()
    he.context.ClearEvalAutomorphismKeys()
    cloud = openfhe.DeserializeCryptoContextString(context, BINARY)
    openfhe.DeserializeEvalMultKeyString(products, BINARY)
    openfhe.DeserializeEvalAutomorphismKeyString(rotations, BINARY)
    t_there = openfhe.DeserializeCiphertextString(t_sent, BINARY)
    h_there = openfhe.DeserializeCiphertextString(h_sent, BINARY)
    first = cloud.EvalMult(cloud.EvalSum(t_there, he.slots), 0.8 / len(t))
    second = cloud.EvalMult(cloud.EvalInnerProduct(t_there, h_there, he.slots), 0.01 / len(t))
    answer = cloud.EvalAdd(cloud.EvalAdd(first, second), 46.0)
    answer = yield openfhe.Serialize(answer, BINARY)
    return _decrypted(he, openfhe.DeserializeCiphertextString(answer, BINARY), 1)
