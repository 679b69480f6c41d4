"""A context with keys, and the measured operations. Pyfhel takes numpy arrays, so that no list is converted."""

from math import log2
from pathlib import Path

import numpy
from Pyfhel import PyCtxt, Pyfhel

import trip
from clock import Operation
from conversation import Unsupported
from programs import IntegerPrograms, RealPrograms

BUILT = Path(__file__).parent / "codecs"
# Compression methods of this build; build.py writes the file.
CODECS = BUILT.read_text().split() if BUILT.is_file() else []
# The largest error of a real that counts as correct.
CLOSE = 1e-2


def chain_of(request):
    primes = request.get("data", []) + request.get("special", [])
    sizes = request.get("data_bits", []) + request.get("special_bits", [])
    return {"qi": primes} if primes else {"qi_sizes": sizes}


class Session:
    """A session. Subclasses make inputs, encode and compare."""

    def __init__(self, request):
        self.scheme, self.degree = request["scheme"], request["degree"]
        self.special = len(request.get("special", []) or request.get("special_bits", []))
        if self.special > 1:
            # Pyfhel would take further special primes for data primes and compute with more than was requested.
            raise ValueError("SEAL has one special prime")
        self.chain = chain_of(request)
        self.he = self.fresh()
        primes = list(self.he.qi)
        total = sum(log2(prime) for prime in primes)
        most = [(level, self.he.maxBitCount(self.degree, level)) for level in (256, 192, 128)]
        self.security = next((level for level, bits in most if total <= bits), None)
        if self.security is None and not request.get("insecure"):
            raise ValueError("the parameters are below 128 bits of security")
        self.primes = (primes[: len(primes) - self.special], primes[len(primes) - self.special :])
        self.he.relinKeyGen()
        self.he.rotateKeyGen([1])
        self.inputs = [self.random_slots() for _ in range(2)]
        self.plains = [self.encoded(values) for values in self.inputs]
        self.ciphertexts = [self.he.encryptPtxt(plain) for plain in self.plains]

    @classmethod
    def cloud(cls, request, step):
        session = cls.__new__(cls)
        session.scheme, session.degree = request["scheme"], request["degree"]
        session.t, session.scale_bits = request.get("plain_modulus"), request.get("scale_bits")
        session.chain = chain_of(request)
        session.he = he = session.without_keys()
        he.from_bytes_relin_key(trip.read(step["folder"], "keys"))

        def answer(a, b, operation):
            a, b = (PyCtxt(pyfhel=he, bytestring=operand) for operand in (a, b))
            if operation == "add":
                return he.add(a, b, True).to_bytes("none")
            product = he.multiply(a, b, True)
            he.relinearize(product)
            if session.scheme == "ckks":
                he.rescale_to_next(product)
            return product.to_bytes("none")

        return trip.compute(step, answer)

    def edge(self, request):
        he = self.he
        if request["step"] == "encrypt":
            encrypted = lambda values: he.encryptPtxt(self.encoded(self.padded(values))).to_bytes("none")
            return trip.encrypt(request, lambda: he.to_bytes_relin_key("none"), encrypted)
        opened = lambda answer: self.decoded(he.decryptPtxt(PyCtxt(pyfhel=he, bytestring=answer))).tolist()
        return trip.decrypt(request, opened)

    def padded(self, values):
        return numpy.array(values, dtype=self.inputs[0].dtype)

    def fresh(self):
        """Returns an instance of the same parameters with new keys."""
        he = self.without_keys()
        he.keyGen()
        return he

    def without_keys(self):
        he = Pyfhel()
        said = he.contextGen(self.scheme, self.degree, sec=0, **self.chain, **self.plain_space())
        if "success" not in str(said):
            raise ValueError(f"Pyfhel refuses the parameters: {said}")
        return he

    def prepared(self):
        data, special = self.primes
        return {
            "data": data,
            "special": special,
            "log2_q": sum(log2(prime) for prime in data),
            "limbs": len(data),
            "special_limbs": len(special),
            "security": self.security,
        }

    def says(self, expected, he=None):
        he = he or self.he
        return lambda ciphertext: self.near(self.decoded(he.decryptPtxt(ciphertext)), expected)

    def gives(self, expected, run):
        return lambda _: Operation(lambda _: run(), self.says(expected))

    def changes(self, expected, run, operand):
        """An operation in place, on a copy that is made outside the time."""

        def whole(own):
            run(own)
            return own

        return lambda _: Operation(whole, self.says(expected), lambda: PyCtxt(operand))

    def operations(self):
        he, (a, b), (p, q), (x, y) = self.he, self.ciphertexts, self.plains, self.inputs

        def product_of_both():
            product = he.multiply(a, b, True)
            he.relinearize(product)
            return product

        found = {
            "encode": lambda _: Operation(
                lambda _: self.encoded(x), lambda plain: self.near(self.decoded(plain), x)
            ),
            "decode": lambda _: Operation(lambda _: self.decoded(p), lambda slots: self.near(slots, x)),
            "encrypt_public": self.gives(x, lambda: he.encryptPtxt(p)),
            "encode_encrypt_public": self.gives(x, lambda: he.encryptPtxt(self.encoded(x))),
            "decrypt": lambda _: Operation(
                lambda _: he.decryptPtxt(a), lambda plain: self.near(self.decoded(plain), x)
            ),
            "decrypt_decode": lambda _: Operation(
                lambda _: self.decoded(he.decryptPtxt(a)), lambda slots: self.near(slots, x)
            ),
            "add": self.gives(x + y, lambda: he.add(a, b, True)),
            "add_in_place": self.changes(x + y, lambda own: he.add(own, b), a),
            "add_plain": self.gives(x + y, lambda: he.add_plain(a, q, True)),
            "encode_add_plain": self.gives(x + y, lambda: he.add_plain(a, self.encoded(y), True)),
            "subtract": self.gives(x - y, lambda: he.sub(a, b, True)),
            "negate": self.gives(-x, lambda: he.negate(a, True)),
            "multiply": self.gives(self.times(x, y), lambda: he.multiply(a, b, True)),
            "multiply_relin": self.gives(self.times(x, y), product_of_both),
            "square": self.gives(self.times(x, x), lambda: he.square(a, True)),
            "multiply_plain": self.gives(self.times(x, y), lambda: he.multiply_plain(a, q, True)),
            "rotate": self.gives(self.rotated(), lambda: he.rotate(a, 1, True)),
            "keygen": self.keygen,
            "relin_keys": self.relin_keys,
            "serialise": lambda request: self.through_bytes(request, False),
            "parse": lambda request: self.through_bytes(request, True),
        }
        # For BFV it keeps every prime and reports no error.
        if len(self.primes[0]) > 1 and self.scheme != "bfv":
            found["modswitch"] = self.modswitch
        return found

    def modswitch(self, _):
        a, x = self.ciphertexts[0], self.inputs[0]

        def run(own):
            self.he.mod_switch_to_next(own)
            return own

        smaller = lambda own: len(own.to_bytes("none")) < len(a.to_bytes("none"))
        return Operation(run, lambda own: smaller(own) and self.says(x)(own), lambda: PyCtxt(a))

    def times(self, x, y):
        return x * y

    def rotated(self):
        rows = numpy.split(self.inputs[0], len(self.inputs[0]) // (self.degree // 2))
        return numpy.concatenate([numpy.roll(row, -1) for row in rows])

    def keygen(self, _):
        other = self.fresh()
        right = lambda _: self.says(self.inputs[0], other)(other.encryptPtxt(self.plains[0]))
        return Operation(lambda _: other.keyGen(), right)

    def relin_keys(self, _):
        other = self.fresh()

        def right(_):
            a, b = (other.encryptPtxt(plain) for plain in self.plains)
            product = other.multiply(a, b, True)
            other.relinearize(product)
            return self.says(self.times(*self.inputs), other)(product)

        return Operation(lambda _: other.relinKeyGen(), right)

    def through_bytes(self, request, parse):
        codec = request.get("codec", "none")
        if codec not in ("none", *CODECS) or request.get("object", "ciphertext") != "ciphertext":
            raise Unsupported
        a = self.ciphertexts[0]
        written = a.to_bytes(codec)
        load = lambda _: PyCtxt(pyfhel=self.he, bytestring=written)
        right = self.says(self.inputs[0])
        run = load if parse else lambda _: a.to_bytes(codec)
        return Operation(run, right if parse else lambda _: right(load(None)), size=lambda _: len(written))


class Integers(IntegerPrograms, Session):
    def __init__(self, request):
        self.t = request["plain_modulus"]
        super().__init__(request)

    def plain_space(self):
        return {"t": self.t}

    def times(self, x, y):
        """Multiplies with Python integers: products of long values do not fit 64 bits."""
        return (x.astype(object) * y % self.t).astype(numpy.int64)

    def random_slots(self):
        return numpy.random.default_rng().integers(0, self.t, self.degree)

    def encoded(self, values):
        return self.he.encodeBGV(values) if self.scheme == "bgv" else self.he.encodeInt(values)

    def decoded(self, plain):
        return self.he.decodeBGV(plain) if self.scheme == "bgv" else self.he.decodeInt(plain)

    def near(self, found, expected):
        return len(found) == len(expected) and bool(((found - expected) % self.t == 0).all())


class Reals(RealPrograms, Session):
    def __init__(self, request):
        self.scale_bits = request["scale_bits"]
        super().__init__(request)

    def plain_space(self):
        return {"scale": 2**self.scale_bits}

    def random_slots(self):
        return numpy.random.default_rng().uniform(-1, 1, self.degree // 2)

    def encoded(self, values):
        return self.he.encodeFrac(values)

    def decoded(self, plain):
        return self.he.decodeFrac(plain)

    def near(self, found, expected):
        return len(found) == len(expected) and bool((abs(found - expected) < CLOSE).all())

    def operations(self):
        found = super().operations()
        if len(self.primes[0]) > 1:
            a, x, y = self.ciphertexts[0], *self.inputs
            product = self.he.multiply_plain(a, self.plains[1], True)
            found["rescale"] = self.changes(self.times(x, y), self.he.rescale_to_next, product)
        return found
