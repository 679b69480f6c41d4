"""`st.paillier` against python-paillier and exact fractions."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import sotto as st
from hypothesis import given, settings
from hypothesis import strategies as some

phe = pytest.importorskip("phe")
ours = st.paillier

SHORT = ours.insecure_generate_paillier_keypair(n_length=512)
numbers = some.one_of(
    some.integers(-(2**80), 2**80),
    some.floats(-1e12, 1e12, allow_nan=False),
    some.sampled_from([0, 0.0, -0.0, 1, -1, 2.0**-60, -(2.0**60), 5e-324]),
)


def theirs_of(private):
    public = phe.PaillierPublicKey(private.public_key.n)
    return public, phe.PaillierPrivateKey(public, private.p, private.q)


@pytest.fixture(scope="module")
def pair():
    return ours.generate_paillier_keypair(n_length=2048)


def same(found, expected):
    assert found == expected and type(found) is type(expected)


@given(value=numbers)
@settings(max_examples=60, deadline=None)
def test_each_reads_the_other(value):
    public, private = SHORT
    their_public, their_private = theirs_of(private)
    sent = public.encrypt(value)
    received = phe.EncryptedNumber(their_public, sent.ciphertext(), sent.exponent)
    assert their_private.decrypt(received) == value
    sent = their_public.encrypt(value)
    received = ours.EncryptedNumber(public, sent.ciphertext(), sent.exponent)
    # Floats without fractions come back as integers there, too.
    same(private.decrypt(received), their_private.decrypt(sent))
    assert private.decrypt(received) == value


@given(value=numbers, precision=some.sampled_from([None, 1e-3, 0.5, 7, 16.0**-5]))
@settings(max_examples=100, deadline=None)
def test_encodings_are_equal(value, precision):
    public, private = SHORT
    their_public, _ = theirs_of(private)
    found = ours.EncodedNumber.encode(public, value, precision, max_exponent=3)
    expected = phe.EncodedNumber.encode(their_public, value, precision, max_exponent=3)
    assert (found.encoding, found.exponent) == (expected.encoding, expected.exponent)
    same(found.decode(), expected.decode())
    lower = found.exponent - 5
    assert (
        found.decrease_exponent_to(lower).encoding == expected.decrease_exponent_to(lower).encoding
    )


@given(a=numbers, b=numbers, c=some.one_of(some.integers(-(2**40), 2**40), some.floats(-1e3, 1e3)))
@settings(max_examples=60, deadline=None)
def test_operations(a, b, c):
    """Exponents and ciphertext arithmetic as in python-paillier; values as with fractions."""
    public, private = SHORT
    their_public, their_private = theirs_of(private)
    x, y = public.encrypt(a), public.encrypt(b)
    u = phe.EncryptedNumber(their_public, x.ciphertext(), x.exponent)
    v = phe.EncryptedNumber(their_public, y.ciphertext(), y.exponent)
    exact = [Fraction(number) for number in (a, b, c)]
    operations = [
        (lambda p, q: p + q, exact[0] + exact[1]),
        (lambda p, q: p - q, exact[0] - exact[1]),
        (lambda p, q: p + c, exact[0] + exact[2]),
        (lambda p, q: p * c, exact[0] * exact[2]),
        (lambda p, q: c - q, exact[2] - exact[1]),
        (lambda p, q: p * -1 + 2 * q, 2 * exact[1] - exact[0]),
    ]
    for operation, value in operations:
        try:
            expected = operation(u, v)
            opened = their_private.decrypt(expected)
        except (ValueError, OverflowError) as refused:
            with pytest.raises(type(refused)):
                private.decrypt(operation(x, y))
            continue
        found = operation(x, y)
        assert found.exponent == expected.exponent
        assert found.ciphertext(be_secure=False) == expected.ciphertext(be_secure=False)
        same(private.decrypt(found), opened)
        encoded = private.decrypt_encoded(found)
        unit = Fraction(16) ** encoded.exponent
        # Beyond n/3 sums wrap round, here as there: numbers too far apart for one exponent.
        if abs(value) <= public.max_int * unit:
            assert encoded.signed() * unit == value


def test_the_scheme_itself():
    """Decryption by Carmichael's function on small primes, in Python's integers."""
    p, q = 1009, 1013
    n, order = p * q, (p - 1) * (q - 1)
    public = ours.PaillierPublicKey.insecure_any_length(n)
    private = ours.PaillierPrivateKey(public, p, q)
    for plaintext in (0, 1, 2, n // 2, n - 1):
        sent = public.raw_encrypt(plaintext)
        message = (pow(sent, order, n * n) - 1) // n * pow(order, -1, n) % n
        assert message == plaintext == private.raw_decrypt(sent)
        known = public.raw_encrypt(plaintext, r_value=17)
        assert known == (1 + n * plaintext) * pow(17, n, n * n) % (n * n)


def test_a_key_that_python_paillier_made():
    their_public, their_private = phe.generate_paillier_keypair(n_length=2048)
    public = ours.PaillierPublicKey(their_public.n)
    private = ours.PaillierPrivateKey(public, their_private.q, their_private.p)
    assert (private.p, private.q) == (their_private.p, their_private.q)
    assert (
        ours.PaillierPrivateKey.from_totient(public, (private.p - 1) * (private.q - 1)) == private
    )
    for value in (0, -1, 20.5, -1e-9, 2**600, -(2**600), 1e300):
        assert private.decrypt(public.encrypt(value)) == value
        sent = their_public.encrypt(value)
        received = ours.EncryptedNumber(public, sent.ciphertext(), sent.exponent)
        assert private.decrypt(received) == value
    assert public.max_int == their_public.max_int and public.g == their_public.g


def test_overflow(pair):
    public, private = pair
    largest = public.encrypt(public.max_int)
    assert private.decrypt(largest) == public.max_int
    with pytest.raises(OverflowError):
        private.decrypt(largest + largest)
    with pytest.raises(st.SottoError):
        private.decrypt(largest + 1)
    assert private.decrypt(largest - largest) == 0
    with pytest.raises(ValueError, match="precision"):
        public.encrypt(public.max_int + 1)
    with pytest.raises(OverflowError, match="float"):
        private.decrypt(public.encrypt(10**300, precision=0.1) * 10**300)
    for bad in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(st.OutOfRange):
            public.encrypt(bad)
        with pytest.raises(st.OutOfRange):
            public.encrypt(1) + bad
    with pytest.raises(st.OutOfRange):
        public.encrypt(1, precision=0)
    with pytest.raises(st.OutOfRange):
        public.encrypt(1).decrease_exponent_to(1)
    with pytest.raises(st.OutOfRange):
        public.encrypt(1).decrease_exponent_to(-(10**15))
    with pytest.raises(st.OutOfRange):
        ours.EncodedNumber(public, 1, 10**15)
    for bad in ("1", None, 1j, [1]):
        with pytest.raises(TypeError):
            public.encrypt(bad)


def test_masks(pair):
    public, private = pair
    x = public.encrypt(7)
    assert x.ciphertext() != public.encrypt(7).ciphertext()
    tripled = x * 3
    bare = tripled.ciphertext(be_secure=False)
    assert bare == pow(x.ciphertext(), 3, public.nsquare)
    assert tripled.ciphertext() != bare
    assert tripled.ciphertext() == tripled.ciphertext()
    before = tripled.ciphertext()
    tripled.obfuscate()
    assert tripled.ciphertext() != before and private.decrypt(tripled) == 21
    assert private.decrypt(x / 4) == 1.75
    assert private.decrypt(sum([x, x, x])) == 21
    assert private.decrypt(x * 0) == 0 and private.decrypt(-x) == -7
    lower = x.decrease_exponent_to(-10)
    assert lower.exponent == -10 and private.decrypt(lower) == 7.0


def test_arrays(pair):
    public, private = pair
    values = np.array([[1.5, -2.25, 0.0], [1e-3, -1e3, 4.0]])
    hidden = public.encrypt_array(values)
    assert hidden.shape == values.shape
    assert (private.decrypt_array(hidden) == values).all()
    weights = np.array([0.5, 2.0, -1.0])
    assert (private.decrypt_array(hidden * 2) == values * 2).all()
    assert np.allclose(private.decrypt_array(hidden @ weights), values @ weights, rtol=1e-15)
    assert (private.decrypt_array(hidden.sum(axis=0)) == values.sum(axis=0)).all()
    assert len({number.exponent for number in public.encrypt_array(values, 1e-3).flat}) == 1
    whole = np.array([2**62, -5])
    opened = private.decrypt_array(public.encrypt_array(whole))
    assert opened.dtype == np.int64 and (opened == whole).all()
    assert private.decrypt_array(public.encrypt_array(whole) * 4).tolist() == [2**64, -20]
    assert private.decrypt(np.float64(2) * public.encrypt(3)) == 6
    with pytest.raises(TypeError):
        public.encrypt_array([True])
    with pytest.raises(TypeError):
        private.decrypt_array([1])


def test_keyrings_and_other_keys(pair):
    public, private = pair
    ring = ours.PaillierPrivateKeyring([private])
    stranger, its_private = ours.insecure_generate_paillier_keypair(ring)
    assert len(ring) == 2 and set(ring) == {public, stranger} and ring[public] is private
    assert ring.decrypt(public.encrypt(5)) == 5
    del ring[stranger]
    with pytest.raises(KeyError):
        ring.decrypt(stranger.encrypt(5))
    with pytest.raises(TypeError):
        ring.add(public)
    x, y = public.encrypt(1), stranger.encrypt(1)
    for call in (
        lambda: x + y,
        lambda: x - y,
        lambda: x * ours.EncodedNumber.encode(stranger, 2),
        lambda: x + ours.EncodedNumber.encode(stranger, 2),
        lambda: public.encrypt(ours.EncodedNumber.encode(stranger, 2)),
        lambda: private.decrypt(y),
        lambda: private.decrypt_array(np.array([y])),
        lambda: ours.PaillierPrivateKey(public, its_private.p, its_private.q),
        lambda: ours.PaillierPrivateKey.from_totient(public, 12345),
    ):
        with pytest.raises(st.WrongKeys):
            call()
    with pytest.raises(TypeError, match="no product"):
        x * x
    with pytest.raises(TypeError):
        private.decrypt(5)


def test_short_and_weak_keys(pair):
    public, private = pair
    short, short_private = SHORT
    for bad in (
        lambda: ours.generate_paillier_keypair(n_length=1024),
        lambda: ours.PaillierPublicKey(short.n),
        lambda: ours.PaillierPublicKey(public.n + 1),
        lambda: ours.PaillierPublicKey(15),
        # A long n with a short factor.
        lambda: ours.PaillierPrivateKey(ours.PaillierPublicKey(3 * (2**2046 + 1)), 3, 2**2046 + 1),
    ):
        with pytest.raises(st.WrongParameters):
            bad()
    assert short.is_insecure and not public.is_insecure
    again = ours.PaillierPublicKey.insecure_any_length(short.n)
    assert again == short and hash(again) == hash(short)
    opened = ours.PaillierPrivateKey(again, short_private.p, short_private.q)
    assert opened.decrypt(short.encrypt(-2)) == -2
    for number in (0, -1, public.nsquare, public.n, private.p):
        with pytest.raises(st.SottoError):
            ours.EncryptedNumber(public, number)
    for bad in (0, -5, 1 << 70000):
        with pytest.raises(st.SottoError):
            ours.PaillierPublicKey(bad)
    with pytest.raises(TypeError):
        ours.EncryptedNumber(public, 1.5)
    with pytest.raises(TypeError):
        ours.PaillierPublicKey("15")


def test_pickles_and_representations(pair):
    public, private = pair
    assert pickle.loads(pickle.dumps(public)) == public
    sent = pickle.loads(pickle.dumps(public.encrypt(2.5) + 1))
    assert private.decrypt(sent) == 3.5
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(private)
    text = repr(private) + repr(public) + repr(sent)
    for secret in (private.p, private.q):
        assert str(secret) not in text and f"{secret:x}" not in text


def test_products_that_would_wrap_are_refused(pair):
    public, private = pair
    number, exact = public.encrypt(3.14), Fraction(3.14)
    products = 0
    while True:
        try:
            longer = number * 0.1
        except st.OutOfRange as refused:
            assert "has room for 2046" in str(refused) and "precision" in str(refused)
            break
        number, exact, products = longer, exact * Fraction(0.1), products + 1
        assert private.decrypt(number) == pytest.approx(float(exact), rel=1e-12)
    # Each product takes 53 bits or a little less.
    assert 35 <= products <= 40
    with pytest.raises(st.OutOfRange, match="room"):
        number / 3.0
    # The cure: one public number in place of many.
    once = ours.EncodedNumber.encode(public, 0.1**30 * 0.1**30, precision=1e-70)
    assert private.decrypt(public.encrypt(3.14) * once) == pytest.approx(3.14e-60, rel=1e-6)
    # Sums take next to nothing, and whole numbers are exact as before.
    total = sum((public.encrypt(0.1) for _ in range(20)), start=public.encrypt(0.0))
    assert private.decrypt(total * 0.5) == pytest.approx(1.0)
    assert private.decrypt(public.encrypt(7) * 3) == 21
    again = ours.EncryptedNumber.from_json(public, (public.encrypt(2.5) * 0.5).to_json())
    assert private.decrypt(again * 0.5) == 0.625
