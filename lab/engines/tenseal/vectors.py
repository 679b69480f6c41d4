"""Vectors of TenSEAL. It encodes when it encrypts, decodes when it decrypts, and relinearises every product: the
engine lacks these steps on their own."""

import random
from functools import cached_property
from math import log2

import tenseal
import tenseal.sealapi as sealapi
from _tenseal_cpp import PlainTensorDouble, PlainTensorInt64

import trip
from clock import Operation
from conversation import Unsupported
from program import evaluate
from windows import Windows

# The largest error of a real that counts as correct.
CLOSE = 1e-2


def bits_of(request, sort):
    return request.get(f"{sort}_bits") or [prime.bit_length() for prime in request.get(sort, [])]


class Vectors:
    """A context with all its keys and two vectors."""

    # False if products are not rescaled here; None if the scheme has no rescaling.
    rescales = None

    def __init__(self, request):
        self.degree, self.request = request["degree"], request
        self.bits = [bits_of(request, sort) for sort in ("data", "special")]
        if len(self.bits[1]) > 1:
            # TenSEAL would take further special primes for data primes and compute with more than was requested.
            raise ValueError("SEAL has one special prime")
        self.context = self.context_of(request, tenseal.ENCRYPTION_TYPE.ASYMMETRIC)
        self.inputs = [self.random_slots() for _ in range(2)]
        self.vectors = [self.encrypted(values) for values in self.inputs]
        self.plain = self.tensor(self.inputs[0])
        self.of_windows = self.windows()

    def prepared(self):
        data, special = self.bits
        # The context does not show its primes; the same call makes the same primes.
        primes = [prime.value() for prime in sealapi.CoeffModulus.Create(self.degree, data + special)]
        return {
            "data": primes[: len(data)],
            "special": primes[len(data) :],
            "log2_q": sum(log2(prime) for prime in primes[: len(data)]),
            "limbs": len(data),
            "special_limbs": len(special),
            "security": 128,
        }

    def says(self, expected):
        return lambda vector: self.near(vector.decrypt(), expected)

    def operations(self):
        (a, b), (x, y) = self.vectors, self.inputs
        total, product = [s + t for s, t in zip(x, y)], [s * t for s, t in zip(x, y)]
        into, out = self.conversion_in, self.conversion_out
        gives = lambda expected, run, conversion=None: lambda _: Operation(
            lambda _: run(), self.says(expected), conversion=conversion
        )
        return {
            "encode_encrypt_public": gives(x, lambda: self.encrypted(x), into),
            "decrypt_decode": lambda _: Operation(
                lambda _: a.decrypt(), lambda found: self.near(found, x), conversion=out
            ),
            "add": gives(total, lambda: a + b),
            "add_in_place": lambda _: Operation(lambda own: own.add_(b), self.says(total), a.copy),
            "encode_add_plain": gives(total, lambda: a + y, into),
            "subtract": gives([s - t for s, t in zip(x, y)], lambda: a - b),
            "multiply_relin": gives(product, lambda: a * b),
            "serialise": lambda request: self.through_bytes(request, False),
            "parse": lambda request: self.through_bytes(request, True),
            "list_conversion": lambda _: Operation(lambda _: into(), lambda _: True),
            **self.of_windows.operations(),
        }

    @cached_property
    def symmetric(self):
        """A context that encrypts with the secret key, in half the time of the public key, which is the default."""
        return self.context_of(self.request, tenseal.ENCRYPTION_TYPE.SYMMETRIC)

    def windows(self):
        """Returns windows under the secret key, as those of the scheme `sums`."""
        return Windows(
            lambda readings: self.vector(self.symmetric, readings),
            lambda total, window: total.add_(window),
            lambda total: [round(one) for one in total.decrypt()],
            lambda total: len(total.serialize()),
            lambda window: window.copy(),
        )

    def verify(self, request):
        """Runs a program. Vectors of integers and reals have no rotation of their own."""
        if any(node["op"] in ("rotate", "swap_rows") for node in request["program"]["nodes"]):
            raise Unsupported
        return evaluate(self, request["program"], request["inputs"])

    def encrypted(self, values):
        return self.vector(self.context, values)

    def padded(self, values):
        return list(values) + [0] * (len(self.inputs[0]) - len(values))

    def spread(self, values):
        return list(values) * len(self.inputs[0]) if len(values) == 1 else self.padded(values)

    # A program's value is a vector and the number of scale factors in it. The library takes a rescaled product to have
    # the first scale, which holds only if the primes are as large as the scale: so programs rescale nothing.

    def encrypt(self, values):
        return self.encrypted(self.padded(values)), 1

    def decrypt(self, a):
        return [value % self.t for value in a[0].decrypt()] if self.rescales is None else a[0].decrypt()

    def negate(self, a):
        return self.times_constant(a, [-1])

    def sum(self, a, b):
        a, b = self.aligned(a, b)
        return a[0] + b[0], a[1]

    def difference(self, a, b):
        a, b = self.aligned(a, b)
        return a[0] - b[0], a[1]

    def product(self, a, b):
        return a[0] * b[0], a[1] + b[1]

    def plus_constant(self, a, values):
        return a[0] + self.spread(values), a[1]

    def times_constant(self, a, values):
        return a[0] * self.spread(values), a[1] + 1

    def aligned(self, a, b):
        """Brings two values to the same number of scale factors, by products with 1."""
        if self.rescales is None or a[1] == b[1]:
            return a, b
        while a[1] < b[1]:
            a = self.times_constant(a, [1])
        while b[1] < a[1]:
            b = self.times_constant(b, [1])
        return a, b

    def edge(self, request):
        """Carries out an edge's step. The cloud's context holds the public part and the relinearisation keys."""
        if request["step"] == "encrypt":
            keys = lambda: self.context.serialize(save_secret_key=False, save_galois_keys=False)
            return trip.encrypt(request, keys, lambda values: self.encrypted(values).serialize())
        return trip.decrypt(request, lambda answer: self.read(self.context, answer).decrypt())

    @classmethod
    def cloud(cls, _, request):
        context = tenseal.context_from(trip.read(request["folder"], "keys"))
        if cls.rescales is not None:
            # Products are rescaled here, as by the other engines.
            context.auto_rescale = True

        def answer(a, b, step):
            a, b = cls.read(context, a), cls.read(context, b)
            return (a + b if step == "add" else a * b).serialize()

        return trip.compute(request, answer)

    def conversion_in(self):
        """Returns the binding's first step with a list: a vector of its numbers."""
        return self.tensor(self.inputs[0])

    def conversion_out(self):
        return self.plain.data()

    def through_bytes(self, request, parse):
        """Times writing or parsing; the library's format is compressed with Zstandard."""
        if request.get("codec", "zstd") != "zstd" or request.get("object", "ciphertext") != "ciphertext":
            raise Unsupported
        written = self.vectors[0].serialize()
        load = lambda _: self.read(self.context, written)
        right = self.says(self.inputs[0])
        run = load if parse else lambda _: self.vectors[0].serialize()
        return Operation(run, right if parse else lambda _: right(load(None)), size=lambda _: len(written))


class Integers(Vectors):
    tensor, read = PlainTensorInt64, staticmethod(tenseal.bfv_vector_from)
    vector = staticmethod(tenseal.bfv_vector)

    def context_of(self, request, encryption):
        self.t = request["plain_modulus"]
        bits = [bits for sort in self.bits for bits in sort]
        return tenseal.context(
            tenseal.SCHEME_TYPE.BFV, self.degree, self.t, coeff_mod_bit_sizes=bits, encryption_type=encryption, n_threads=1
        )

    def random_slots(self):
        return [random.randrange(self.t) for _ in range(self.degree)]

    def near(self, found, expected):
        return len(found) == len(expected) and all((a - b) % self.t == 0 for a, b in zip(found, expected))


class Reals(Vectors):
    # Products are timed without rescaling.
    rescales = False
    tensor, read = PlainTensorDouble, staticmethod(tenseal.ckks_vector_from)
    vector = staticmethod(tenseal.ckks_vector)

    def context_of(self, request, encryption):
        bits = [bits for sort in self.bits for bits in sort]
        context = tenseal.context(
            tenseal.SCHEME_TYPE.CKKS, self.degree, coeff_mod_bit_sizes=bits, encryption_type=encryption, n_threads=1
        )
        context.global_scale = 2.0 ** request["scale_bits"]
        context.auto_rescale = self.rescales
        return context

    def random_slots(self):
        return [random.uniform(-1, 1) for _ in range(self.degree // 2)]

    def near(self, found, expected):
        return len(found) == len(expected) and all(abs(a - b) < CLOSE for a, b in zip(found, expected))
