"""Parameters, keys and ciphertexts as bytes; what does not go together is refused."""

import pickle
import threading

import numpy as np
import pytest
import sotto as st

rlwe = st.rlwe


@pytest.fixture(scope="module")
def parameters():
    return rlwe.Parameters.default("bgv", 4096, 65537)


@pytest.fixture(scope="module")
def secret(parameters):
    return rlwe.SecretKey.generate(parameters)


@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
def test_round_trips(scheme):
    parameters = rlwe.Parameters.default(scheme, 4096, None if scheme == "ckks" else 65537)
    again = rlwe.Parameters.from_bytes(bytes(parameters))
    assert again == parameters and hash(again) == hash(parameters) and again.id == parameters.id
    secret, encoder = rlwe.SecretKey.generate(parameters), rlwe.Encoder(parameters)
    public = rlwe.PublicKey.from_bytes(again, bytes(secret.public_key()))
    keys = secret.evaluation_keys(steps=[1, 0])
    received = rlwe.EvaluationKeys.from_bytes(again, bytes(keys))
    assert bytes(received) == bytes(keys)
    assert received.can_relinearise and received.can_rotate(0) and not received.can_rotate(2)
    assert len(received.galois_elements) == 2
    values = np.array([1, -1, 0]) if scheme != "ckks" else np.array([1.0, -1.0, 0.25])
    seeded = secret.encrypt(encoder.encode(values))
    whole = public.encrypt(encoder.encode(values))
    assert seeded.is_seeded and not whole.is_seeded
    assert len(bytes(seeded)) < 0.51 * len(bytes(whole))
    for sent in (seeded, whole):
        arrived = rlwe.Ciphertext.from_bytes(again, bytes(sent))
        assert bytes(arrived) == bytes(sent)
        assert (arrived.residues() == sent.residues()).all()
        assert arrived.is_claimed and arrived.key_id == secret.key_id


def test_a_claimed_shape_is_not_decrypted(parameters, secret):
    encoder, evaluator = rlwe.Encoder(parameters), rlwe.Evaluator(parameters)
    sent = secret.encrypt(encoder.encode([7]))
    arrived = rlwe.Ciphertext.from_bytes(parameters, bytes(sent))
    with pytest.raises(st.NotTrusted, match="expect"):
        secret.decrypt(arrived)
    total = evaluator.add(arrived, sent)
    with pytest.raises(st.NotTrusted):
        secret.decrypt(total)
    fresh = rlwe.Shape.fresh(parameters)
    answer = rlwe.Ciphertext.from_bytes(parameters, bytes(total)).expect(fresh.add(fresh))
    assert encoder.decode(secret.decrypt(answer))[0] == 14
    with pytest.raises(st.NotTrusted, match="noise"):
        rlwe.Ciphertext.from_bytes(parameters, bytes(total)).expect(fresh)
    with pytest.raises(st.NotTrusted, match="level"):
        arrived.expect(fresh.drop_modulus())
    assert encoder.decode(secret.decrypt(arrived.with_claimed_shape()))[0] == 7


def test_hostile_bytes(parameters, secret):
    kinds = {
        rlwe.Ciphertext: bytes(secret.encrypt(rlwe.Encoder(parameters).encode([1]))),
        rlwe.PublicKey: bytes(secret.public_key()),
        rlwe.EvaluationKeys: bytes(secret.evaluation_keys(steps=[1])),
    }
    random = np.random.default_rng(3)
    for kind, good in kinds.items():
        for _ in range(30):
            bad = bytearray(good)
            bad[random.integers(len(bad))] ^= 1 << random.integers(8)
            with pytest.raises(st.SottoError):
                kind.from_bytes(parameters, bytes(bad))
        for bad in (b"", good[:-1], good + b"\0", good[:16], b"\xff" * 1000, *kinds.values()):
            if bad is not good:
                with pytest.raises(st.SottoError):
                    kind.from_bytes(parameters, bad)
    for bad in (b"", bytes(parameters)[:-1], b"\xff" * 200):
        with pytest.raises(st.BadBytes):
            rlwe.Parameters.from_bytes(bad)


def test_what_does_not_go_together(parameters, secret):
    other = rlwe.Parameters.default("bgv", 8192, 65537)
    bfv = rlwe.Parameters.default("bfv", 4096, 65537)
    encoder, evaluator = rlwe.Encoder(parameters), rlwe.Evaluator(parameters)
    x = secret.encrypt(encoder.encode([1]))
    for foreign in (other, bfv):
        stranger = rlwe.SecretKey.generate(foreign)
        y = stranger.encrypt(rlwe.Encoder(foreign).encode([1]))
        for call in (
            lambda y=y: evaluator.add(x, y),
            lambda y=y: evaluator.multiply(y, x),
            lambda y=y: evaluator.negate(y),
            lambda y=y: secret.decrypt(y),
            lambda f=foreign: secret.encrypt(rlwe.Encoder(f).encode([1])),
            lambda f=foreign: evaluator.add_plain(x, rlwe.Encoder(f).encode([1])),
            lambda y=y, f=foreign: evaluator.prepare_addend(rlwe.Encoder(f).encode([1]), y),
            lambda y=y, f=foreign: evaluator.add_plain(
                x, rlwe.Evaluator(f).prepare_addend(rlwe.Encoder(f).encode([1]), y)
            ),
            lambda y=y, f=foreign: evaluator.multiply_plain(
                x, rlwe.Evaluator(f).prepare_multiplier(rlwe.Encoder(f).encode([1]), y)
            ),
            lambda f=foreign: encoder.decode(rlwe.Encoder(f).encode([1])),
            lambda f=foreign: encoder.decode_coefficients(rlwe.Encoder(f).encode([1])),
            lambda y=y, f=foreign: y.expect(rlwe.Shape.fresh(parameters)),
            lambda y=y: rlwe.Ciphertext.from_bytes(parameters, bytes(y)),
            lambda f=foreign: rlwe.Shape.fresh(parameters).add(rlwe.Shape.fresh(f)),
        ):
            with pytest.raises((st.WrongParameters, st.BadBytes)):
                call()
    third = rlwe.SecretKey.generate(parameters)
    y = third.encrypt(encoder.encode([1]))
    with pytest.raises(st.WrongKeys):
        evaluator.add(x, y)
    with pytest.raises(st.WrongKeys):
        third.decrypt(x)
    with pytest.raises(st.WrongKeys):
        third.measure_noise_bits(x)
    with pytest.raises(st.WrongKeys):
        evaluator.rotate(x, 1, third.evaluation_keys(steps=[1]))
    with pytest.raises(st.WrongKeys, match="missing"):
        evaluator.rotate(x, 1, secret.evaluation_keys())
    with pytest.raises(st.WrongLevel, match="relinearised"):
        evaluator.multiply(evaluator.square(x), x)


def test_ends_of_arguments(parameters, secret):
    encoder, evaluator = rlwe.Encoder(parameters), rlwe.Evaluator(parameters)
    x, keys = secret.encrypt(encoder.encode([1])), secret.evaluation_keys(steps=[1])
    ckks = rlwe.Encoder(rlwe.Parameters.default("ckks", 4096))
    for call in (
        lambda: evaluator.multiply_scalar(x, -(2**63)),
        lambda: evaluator.rotate(x, -(2**31), keys),
        lambda: secret.evaluation_keys(steps=[2**31 - 1]),
        lambda: encoder.encode_scalar(2**70),
        lambda: encoder.encode_scalar(65537),
        lambda: encoder.encode([1], level=7),
        lambda: evaluator.lower(x, 7),
        lambda: ckks.encode([0.5], magnitude=float("nan")),
        lambda: ckks.encode([0.5], magnitude=-1.0),
        lambda: rlwe.Shape.fresh(parameters, magnitude=float("inf")),
    ):
        with pytest.raises(st.SottoError):
            call()


def test_exhaustion():
    parameters = rlwe.Parameters.default("bfv", 4096, 65537)
    secret, evaluator = rlwe.SecretKey.generate(parameters), rlwe.Evaluator(parameters)
    keys = secret.evaluation_keys()
    x = secret.encrypt(rlwe.Encoder(parameters).encode([2]))
    with pytest.raises(st.OutOfDepth, match="noise"):
        for _ in range(4):
            x = evaluator.relinearise(evaluator.square(x), keys)
    ckks = rlwe.Parameters.default("ckks", 4096)
    secret, evaluator = rlwe.SecretKey.generate(ckks), rlwe.Evaluator(ckks)
    x = secret.encrypt(rlwe.Encoder(ckks).encode([0.5]))
    with pytest.raises(st.WrongLevel, match="rescaled"):
        evaluator.drop_modulus(x)


def test_parameters():
    request = rlwe.Parameters.request
    made = request("bgv", 16384, 65537, special_primes=2, digits=3, security_bits=192)
    assert made.digits == 3 and len(made.special_primes) == 2
    assert made.security == "192-bit security by guidelines-2024"
    assert made.modulus_bits <= rlwe.largest_modulus_bits(16384, security_bits=192)
    by_primes = rlwe.Parameters.from_primes(
        "bgv",
        16384,
        data=made.data_primes,
        special=made.special_primes,
        digit_primes=made.digit_primes,
        plain_modulus=65537,
        security_bits=192,
    )
    assert by_primes == made and by_primes.id == made.id
    assert request("ckks", 8192, levels=2, other_bits=45).log2_scale == 45
    sums = request("bfv", 2048, 65537, special_primes=0, levels=0, first_bits=50)
    assert not sums.special_primes and sums.top_level == 0
    with pytest.raises(st.WrongParameters):
        rlwe.SecretKey.generate(sums).evaluation_keys()
    # Several digits switch keys without a special prime, with a digit's noise.
    room = request("bgv", 8192, 65537, special_primes=0, levels=3, first_bits=42, other_bits=42)
    assert not room.special_primes and room.top_level == 3
    secret, encoder = rlwe.SecretKey.generate(room), rlwe.Encoder(room)
    keys = rlwe.EvaluationKeys.from_bytes(room, bytes(secret.evaluation_keys(steps=[1])))
    turned = rlwe.Evaluator(room).rotate(secret.encrypt(encoder.encode([1, 2, 3])), 1, keys)
    assert list(encoder.decode(secret.decrypt(turned))[:2]) == [2, 3]
    for bad in (
        lambda: rlwe.Parameters.default("bfv", 1000, 65537),
        lambda: rlwe.Parameters.default("bfv", 4096, 1),
        lambda: request("bfv", 4096, 65537, levels=9),
        lambda: request("bfv", 4096, 65537, security_bits=160),
        lambda: request("bfv", 4096, 65537, profile="mine"),
        lambda: rlwe.Parameters.from_primes("bfv", 1024, data=[2**40 + 1], plain_modulus=17),
        lambda: rlwe.Parameters.from_primes("bfv", 1024, data=[], plain_modulus=17),
        lambda: rlwe.Parameters.from_primes("bfv", 2**40, data=[97], plain_modulus=17),
        lambda: rlwe.Parameters.from_primes("ckks", 1024, data=[12289], log2_scale=64),
        lambda: rlwe.largest_modulus_bits(7),
    ):
        with pytest.raises(st.WrongParameters):
            bad()
    long = [1152921504606830593, 1152921504606748673]
    with pytest.raises(st.WrongParameters, match="below 128"):
        rlwe.Parameters.from_primes("bfv", 1024, data=long, plain_modulus=12289)
    insecure = rlwe.Parameters.insecure_from_primes("bfv", 1024, data=long, plain_modulus=12289)
    assert insecure.security == "insecure"
    with pytest.raises(st.WrongParameters):
        rlwe.Parameters.from_bytes(bytes(insecure))
    for bad in (
        lambda: rlwe.Parameters.default("rsa", 4096, 3),
        lambda: rlwe.Parameters.default("bfv", 4096),
        lambda: rlwe.Parameters.default("ckks", 4096, 65537),
        lambda: rlwe.Parameters.default("bfv", 4096, 65537).scale(),
        lambda: request("bfv", 8192, 65537, digits=2, digit_primes=2),
    ):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(st.WrongLevel):
        rlwe.Parameters.default("ckks", 4096).scale(2)


def test_secrets_do_not_show(parameters, secret, tmp_path):
    plaintext = rlwe.Encoder(parameters).encode([4711])
    for thing in (secret, plaintext):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            bytes(thing)
        assert "4711" not in repr(thing)
    path = tmp_path / "device.key"
    secret.save(path, "a passphrase")
    assert path.stat().st_mode & 0o077 == 0
    again = rlwe.SecretKey.load(parameters, path, "a passphrase")
    assert again.key_id == secret.key_id
    assert rlwe.Encoder(parameters).decode(again.decrypt(secret.encrypt(plaintext)))[0] == 4711
    with pytest.raises(OSError):
        rlwe.SecretKey.load(parameters, path, "another")
    with pytest.raises(OSError):
        secret.save(path)
    other = rlwe.SecretKey.load(rlwe.Parameters.default("ckks", 4096), path, "a passphrase")
    assert other.key_id != secret.key_id


def test_given_coefficients(parameters):
    random = np.random.default_rng(5)
    for bad in (np.full(4096, 2), np.zeros(4095, dtype=np.int64)):
        with pytest.raises(TypeError):
            rlwe.SecretKey.from_unprotected_coefficients(parameters, bad)
    # A polynomial of ones has a root of unity where it is far larger than a random one.
    with pytest.raises(st.WrongKeys, match="norm"):
        rlwe.SecretKey.from_unprotected_coefficients(parameters, np.ones(4096, dtype=np.int64))
    key = rlwe.SecretKey.from_unprotected_coefficients(parameters, random.integers(-1, 2, 4096))
    encoder = rlwe.Encoder(parameters)
    assert encoder.decode(key.decrypt(key.encrypt(encoder.encode([5]))))[0] == 5


def test_threads_share_an_evaluator(parameters, secret):
    evaluator, encoder = rlwe.Evaluator(parameters), rlwe.Encoder(parameters)
    x, keys = secret.encrypt(encoder.encode([3])), secret.evaluation_keys()
    found = []

    def work():
        product = evaluator.relinearise(evaluator.square(x), keys)
        found.append(encoder.decode(secret.decrypt(product))[0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [9] * 8
    assert evaluator.operations["multiply"] == 8
