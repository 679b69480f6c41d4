"""The three schemes against NumPy, at the ends of their ranges."""

import numpy as np
import pytest
import sotto as st
from hypothesis import given, settings
from hypothesis import strategies as some

rlwe = st.rlwe
T = 65537


class Kit:
    """Everything of one parameter set."""

    def __init__(self, scheme, degree):
        """Make keys and tools."""
        plain = None if scheme == "ckks" else T
        self.parameters = rlwe.Parameters.default(scheme, degree, plain)
        self.scheme, self.exact = scheme, scheme != "ckks"
        self.secret = rlwe.SecretKey.generate(self.parameters)
        self.public = self.secret.public_key()
        steps = [*self.parameters.sum_steps, -3]
        steps += [] if 0 in steps else [0]
        self.keys = self.secret.evaluation_keys(steps=steps)
        self.encoder = rlwe.Encoder(self.parameters)
        self.evaluator = rlwe.Evaluator(self.parameters)
        self.slots = int(np.prod(self.parameters.slot_shape))

    def values(self, seed):
        """Return full slots: the ends of the range first."""
        random = np.random.default_rng(seed)
        if self.exact:
            values = random.integers(-(T // 2), T // 2 + 1, self.slots)
            values[:4] = -(T // 2), T // 2, 0, -1
        else:
            values = random.uniform(-1, 1, self.slots)
            values[:4] = -1, 1, 0, -(2.0**-40)
        return values

    def encrypt(self, values):
        """Encrypt with the secret key."""
        return self.secret.encrypt(self.encoder.encode(values))

    def check(self, ciphertext, expected):
        """Compare decrypted slots with exact values."""
        found = self.encoder.decode(self.secret.decrypt(ciphertext))
        if self.exact:
            expected = np.asarray(expected, dtype=object)
            centred = (expected + T // 2) % T - T // 2
            assert (found == centred).all()
        else:
            assert np.abs(found - expected).max() <= ciphertext.shape.slot_error < 0.02

    def rescale(self, product):
        """Bring a CKKS product back to the first power of the scale."""
        return product if self.exact else self.evaluator.drop_modulus(product)

    def row_roll(self, values, step):
        """Rotate each row left."""
        rows, columns = self.parameters.slot_shape
        return np.roll(values.reshape(rows, columns), -step, axis=1).ravel()


@pytest.fixture(
    scope="module",
    params=[(s, n) for s in ("bfv", "bgv", "ckks") for n in (4096, 8192)],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def kit(request):
    return Kit(*request.param)


def test_linear(kit):
    a, b = kit.values(1), kit.values(2)
    x, y = kit.encrypt(a), kit.public.encrypt(kit.encoder.encode(b))
    e = kit.evaluator
    kit.check(x, a)
    kit.check(y, b)
    kit.check(e.add(x, y), a + b)
    kit.check(e.subtract(x, y), a - b)
    kit.check(e.negate(x), -a)
    kit.check(e.multiply_scalar(x, -3), a * -3)
    plaintext = kit.encoder.encode(b)
    kit.check(e.add_plain(x, plaintext), a + b)
    addend = e.prepare_addend(plaintext, x)
    kit.check(e.add_plain(y, addend), b + b)


def test_products(kit):
    a, b = kit.values(3), kit.values(4)
    x, y, e = kit.encrypt(a), kit.encrypt(b), kit.evaluator
    exact = a.astype(object) * b if kit.exact else a * b
    plaintext = kit.encoder.encode(b)
    by_plain = e.multiply_plain(x, plaintext)
    kit.check(kit.rescale(by_plain), exact)
    prepared = e.prepare_multiplier(plaintext, x)
    kit.check(kit.rescale(e.multiply_plain(x, prepared)), exact)
    product = e.multiply(x, y)
    assert product.components == 3
    kit.check(kit.rescale(product), exact)
    short = e.relinearise(product, kit.keys)
    assert short.components == 2
    kit.check(kit.rescale(short), exact)
    square = e.relinearise(e.square(x), kit.keys)
    kit.check(kit.rescale(square), a.astype(object) ** 2 if kit.exact else a**2)
    dropped = e.drop_modulus(short)
    assert dropped.level == kit.parameters.top_level - 1
    kit.check(dropped, exact)


def test_rotations(kit):
    a, e = kit.values(5), kit.evaluator
    x = kit.encrypt(a)
    kit.check(e.rotate(x, 1, kit.keys), kit.row_roll(a, 1))
    kit.check(e.rotate(x, -3, kit.keys), kit.row_roll(a, -3))
    swapped = e.swap_rows(x, kit.keys)
    rows, columns = kit.parameters.slot_shape
    # The conjugate of real slots is the same.
    kit.check(swapped, a.reshape(rows, columns)[::-1].ravel())
    if kit.exact:
        kit.check(e.sum_slots(x, kit.keys), np.full(kit.slots, a.astype(object).sum()))
    else:
        total = kit.evaluator.sum_slots(x, kit.keys)
        found = kit.encoder.decode(kit.secret.decrypt(total))
        assert np.abs(found - a.sum()).max() <= total.shape.slot_error


def test_levels(kit):
    a = kit.values(6)
    x, e = kit.encrypt(a), kit.evaluator
    for level in range(kit.parameters.top_level, -1, -1):
        lowered = e.lower(x, level)
        assert lowered.level == level
        kit.check(lowered, a)
    with pytest.raises(st.SottoError):
        e.drop_modulus(lowered)
    with pytest.raises(st.WrongLevel, match="levels"):
        e.add(x, lowered)


def test_the_bound_is_never_below_the_noise(kit):
    a, e = kit.values(7), kit.evaluator
    x = kit.encrypt(a)
    y = kit.public.encrypt(kit.encoder.encode(a))
    top = kit.parameters.top_level
    fresh = kit.encoder.encode(a)
    steps = [(x, fresh), (y, fresh), (e.rotate(y, 1, kit.keys), None)]
    if kit.exact:
        product = e.relinearise(e.multiply(x, y), kit.keys)
        steps += [(e.add(x, y), None), (product, None), (e.drop_modulus(product), None)]
    else:
        lower = kit.encoder.encode(a * a, level=top - 1)
        rescaled = e.drop_modulus(e.relinearise(e.multiply(x, y), kit.keys))
        rotated = kit.encoder.encode(kit.row_roll(a, 1))
        steps = [*steps[:2], (e.rotate(y, 1, kit.keys), rotated), (rescaled, lower)]
    for ciphertext, expected in steps:
        noise = kit.secret.measure_noise_bits(ciphertext, expected)
        assert noise <= ciphertext.shape.noise_bits
        assert kit.secret.measure_room_bits(ciphertext, expected) >= ciphertext.room_bits >= 0
        # A bound that says nothing would pass as well.
        assert ciphertext.shape.noise_bits <= noise + 40
    if not kit.exact:
        with pytest.raises(TypeError, match="expected"):
            kit.secret.measure_noise_bits(x)


def test_shapes_predict_the_evaluator(kit):
    a, e = kit.values(8), kit.evaluator
    x, plaintext = kit.encrypt(a), kit.encoder.encode(a)
    shape = rlwe.Shape.fresh(kit.parameters)
    assert x.shape == shape
    product = e.relinearise(e.multiply(x, x), kit.keys)
    predicted = shape.multiply(shape).relinearise()
    assert product.shape.noise_bits == predicted.noise_bits
    assert e.drop_modulus(product).shape.room_bits == predicted.drop_modulus().room_bits
    assert e.rotate(x, 1, kit.keys).shape == shape.rotate(1)
    assert e.add_plain(x, plaintext).shape == shape.add_plain(plaintext)
    assert e.multiply_plain(x, plaintext).shape == shape.multiply_plain(plaintext)
    assert rlwe.Shape.fresh(kit.parameters, by_public_key=True).noise_bits > shape.noise_bits


def test_coefficients_and_scalars(kit):
    n, encoder = kit.parameters.degree, kit.encoder
    a = np.zeros(n, dtype=np.int64 if kit.exact else float)
    a[[0, 1, n - 1]] = 1, 0.5 if not kit.exact else 7, -1
    x = kit.secret.encrypt(encoder.encode_coefficients(a, magnitude=4.0))
    found = encoder.decode_coefficients(kit.secret.decrypt(x))
    assert np.allclose(found, a, atol=0 if kit.exact else x.shape.slot_error)
    one = kit.secret.encrypt(encoder.encode_scalar(-1))
    kit.check(one, np.full(kit.slots, -1))


@given(values=some.lists(some.integers(-(T - 1), T - 1), min_size=1, max_size=40))
@settings(max_examples=30, deadline=None)
def test_integers_modulo_t(values):
    parameters = rlwe.Parameters.default("bgv", 1024, 12289)
    encoder = rlwe.Encoder(parameters)
    values = [value % 12289 - 6144 for value in values]
    found = encoder.decode(encoder.encode(values))
    assert found[: len(values)].tolist() == values
    assert not found[len(values) :].any()


def test_array_types():
    parameters = rlwe.Parameters.default("bfv", 1024, 12289)
    encoder = rlwe.Encoder(parameters)
    strided = np.arange(20)[::2]
    assert encoder.decode(encoder.encode(strided))[:10].tolist() == strided.tolist()
    for dtype in (np.int8, np.uint16, np.uint64, ">i8"):
        values = np.array([1, 2, 100]).astype(dtype)
        assert encoder.decode(encoder.encode(values))[:3].tolist() == [1, 2, 100]
    unsigned = encoder.decode(encoder.encode([-1]), unsigned=True)
    assert unsigned.dtype == np.uint64 and unsigned[0] == 12288
    for bad in ([1.5], [1j], [True], ["1"], [None]):
        with pytest.raises(TypeError):
            encoder.encode(bad)
    for far in ([12289], [-12290], np.array([2**64 - 1], dtype=np.uint64)):
        with pytest.raises(st.OutOfRange):
            encoder.encode(far)
    with pytest.raises(st.ShapeMismatch):
        encoder.encode(np.zeros((2, 2), dtype=np.int64))
    with pytest.raises(st.ShapeMismatch):
        encoder.encode(np.zeros(1025, dtype=np.int64))


def test_complex_slots():
    parameters = rlwe.Parameters.default("ckks", 4096)
    secret, encoder = rlwe.SecretKey.generate(parameters), rlwe.Encoder(parameters)
    keys = secret.evaluation_keys(relinearisation=False, steps=[0])
    z = np.exp(2j * np.pi * np.arange(2048) / 2048)
    x = secret.encrypt(encoder.encode(z))
    conjugate = rlwe.Evaluator(parameters).swap_rows(x, keys)
    found = encoder.decode_complex(secret.decrypt(conjugate))
    assert np.abs(found - z.conj()).max() <= conjugate.shape.slot_error
    for bad in (np.nan, np.inf, 1e300):
        with pytest.raises(st.OutOfRange):
            encoder.encode([bad])
    with pytest.raises(st.OutOfRange, match="magnitude"):
        secret.encrypt(encoder.encode([1.5]))
    assert secret.encrypt(encoder.encode([1.5], magnitude=2.0)).level == parameters.top_level
