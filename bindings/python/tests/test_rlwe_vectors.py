"""`st.rlwe` against the specification's vectors, which plain Python with big integers made."""

import json
from pathlib import Path

import numpy as np
import pytest
from sotto import rlwe

VECTORS = Path(__file__).parents[3] / "conformance/vectors"
PRIMES = [1152921504606830593, 1152921504606748673]


def small(values):
    return np.array(values, dtype=np.int64)


def cases(scheme):
    found = json.loads((VECTORS / f"{scheme}.json").read_text())["cases"]
    return [pytest.param(scheme, case, id=f"{scheme}-{i}") for i, case in enumerate(found)]


def parameters_of(scheme, case):
    plain = (
        {"log2_scale": case["scale_bits"]}
        if scheme == "ckks"
        else {"plain_modulus": case["plain_modulus"]}
    )
    digits = len(case["relinearisation_key"]["digits"])
    return rlwe.Parameters.insecure_from_primes(
        scheme,
        case["degree"],
        data=case["data"],
        special=case["special"],
        digit_primes=-(-len(case["data"]) // digits),
        **plain,
    )


@pytest.mark.parametrize(("scheme", "case"), cases("bfv") + cases("bgv") + cases("ckks"))
def test_scheme(scheme, case):
    parameters = parameters_of(scheme, case)
    encoder, evaluator = rlwe.Encoder(parameters), rlwe.Evaluator(parameters)
    secret = rlwe.SecretKey.from_unprotected_coefficients(parameters, small(case["secret"]))

    def encoded(part):
        if part["slots"] is None:
            return encoder.encode_coefficients(small(part["message"]))
        slots = np.array(part["slots"])
        if case.get("scale_bits") == 50:
            # Transforms in float64 are too coarse for this scale, as the encoder's bound says.
            message = np.array(part["message"]) / 2.0**50
            return encoder.encode_coefficients(message, magnitude=2.0)
        return encoder.encode(slots, magnitude=1.01 * np.abs(slots).max())

    def same(ciphertext, expected):
        assert (ciphertext.residues() == np.array(expected["components"], dtype=np.uint64)).all()
        assert ciphertext.level == expected["level"]
        assert (ciphertext.shape.factor or 1) == expected["factor"]
        assert (ciphertext.shape.scale_power or 1) == expected["power"]

    def opens(ciphertext, expected):
        opened = secret.decrypt(ciphertext)
        if expected["slots"] is None:
            found = encoder.decode_coefficients(opened, unsigned=True)
            assert found.tolist() == expected["message"]
        elif scheme == "ckks":
            found = encoder.decode(opened)
            bound = ciphertext.shape.slot_error + 1e-6
            assert np.allclose(found, expected["slots"], atol=bound)
        else:
            assert encoder.decode(opened, unsigned=True).tolist() == expected["slots"]

    key = case["public_key"]
    public = secret.public_key_with(bytes.fromhex(key["seed"]), small(key["error"]))
    part = case["left"]
    left = secret.encrypt_with(encoded(part), bytes.fromhex(part["seed"]), small(part["error"]))
    same(left, part["ciphertext"])
    opens(left, part["ciphertext"])
    part = case["right"]
    errors = [small(error) for error in part["errors"]]
    right = public.encrypt_with(encoded(part), small(part["ternary"]), *errors)
    same(right, part["ciphertext"])
    opens(right, part["ciphertext"])
    total = evaluator.add(left, right)
    same(total, case["sum"])
    opens(total, case["sum"])
    product = evaluator.multiply(left, right)
    same(product, case["product"])
    if scheme != "ckks":
        opens(product, case["product"])
    else:
        levels = range(len(case["data"]))
        scales = [np.log2(parameters.scale(level)) for level in levels]
        assert np.allclose(scales, np.log2(case["scales"]), rtol=0, atol=1e-12)


def test_batching():
    """Slots to coefficients by a number-theoretic transform of the specification."""
    for case in json.loads((VECTORS / "encode.json").read_text())["batching"]:
        parameters = rlwe.Parameters.insecure_from_primes(
            "bfv", case["degree"], data=PRIMES, plain_modulus=case["plain_modulus"]
        )
        encoder = rlwe.Encoder(parameters)
        slots, coefficients = np.array(case["slots"]), np.array(case["coefficients"])
        plaintext = encoder.encode(slots)
        found = encoder.decode_coefficients(plaintext, unsigned=True)
        assert found.tolist() == (coefficients % case["plain_modulus"]).tolist()
        assert encoder.decode(plaintext, unsigned=True).tolist() == slots.tolist()


@pytest.mark.parametrize("name", ["embedding", "complex"])
def test_embedding(name):
    """Slots to scaled coefficients by the definition of the canonical embedding."""
    for case in json.loads((VECTORS / "encode.json").read_text())[name]:
        parameters = rlwe.Parameters.insecure_from_primes(
            "ckks", case["degree"], data=PRIMES[:1], log2_scale=case["scale_bits"]
        )
        slots = np.array(case["slots"])
        if name == "complex":
            slots = slots @ [1, 1j]
        encoder = rlwe.Encoder(parameters)
        scaled = encoder.decode_coefficients(encoder.encode(slots)) * 2.0 ** case["scale_bits"]
        assert scaled.tolist() == case["coefficients"]
