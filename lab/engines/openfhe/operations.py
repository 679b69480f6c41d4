"""The measured operations. OpenFHE decodes when it decrypts, and relinearises when it squares: it cannot time these
steps apart."""

from functools import cached_property

import numpy
import openfhe

import tasks
from clock import Operation
from conversation import Unsupported


class Operations:
    """Operations of a session. A subclass provides encoded(values) and near(plaintext, values)."""

    @cached_property
    def plains(self):
        return [self.encoded(values) for values in self.inputs]

    @cached_property
    def ciphertexts(self):
        return [self.context.Encrypt(self.pair.publicKey, plain) for plain in self.plains]

    def says(self, expected):
        secret = self.pair.secretKey
        return lambda ciphertext: self.near(self.context.Decrypt(secret, ciphertext), expected)

    def need(self, keys):
        """Makes keys if they are missing. The library keeps keys in maps, by the tag of the secret key."""
        if keys not in self.ready:
            if keys == "products":
                self.context.EvalMultKeyGen(self.pair.secretKey)
            else:
                self.context.EvalRotateKeyGen(self.pair.secretKey, [1])
            self.ready.add(keys)

    def gives(self, expected, run, keys=None):
        def operation(_):
            if keys:
                self.need(keys)
            return Operation(lambda _: run(), self.says(expected))

        return operation

    def operations(self):
        c, (a, b), (p, q), (x, y) = self.context, self.ciphertexts, self.plains, self.inputs
        public, secret = self.pair.publicKey, self.pair.secretKey
        found = {
            "keygen": lambda _: Operation(lambda _: c.KeyGen(), self.fits),
            "relin_keys": self.relin_keys,
            "galois_keys": self.galois_keys,
            "encode": lambda _: Operation(lambda _: self.encoded(x), lambda plain: self.near(plain, x)),
            "encrypt_public": self.gives(x, lambda: c.Encrypt(public, p)),
            "encrypt_secret": self.gives(x, lambda: c.Encrypt(secret, p)),
            "encode_encrypt_public": self.gives(x, lambda: c.Encrypt(public, self.encoded(x))),
            "encode_encrypt_secret": self.gives(x, lambda: c.Encrypt(secret, self.encoded(x))),
            "decrypt_decode": lambda _: Operation(
                lambda _: c.Decrypt(secret, a), lambda plain: self.near(plain, x)
            ),
            "add": self.gives(x + y, lambda: c.EvalAdd(a, b)),
            "add_in_place": self.add_in_place,
            "add_plain": self.gives(x + y, lambda: c.EvalAdd(a, q)),
            "encode_add_plain": self.gives(x + y, lambda: c.EvalAdd(a, self.encoded(y))),
            "subtract": self.gives(x - y, lambda: c.EvalSub(a, b)),
            "negate": self.gives(-x, lambda: c.EvalNegate(a)),
            "multiply": self.gives(self.times(x, y), lambda: c.EvalMultNoRelin(a, b), "products"),
            "multiply_relin": self.gives(self.times(x, y), lambda: c.EvalMult(a, b), "products"),
            "multiply_plain": self.gives(self.times(x, y), lambda: c.EvalMult(a, q)),
            "rotate": self.gives(self.rotated(), lambda: c.EvalRotate(a, 1), "rotation"),
            "rotate_hoisted": self.hoisted,
            "serialise": lambda request: self.through_bytes(request, False),
            "parse": lambda request: self.through_bytes(request, True),
        }
        found.update(tasks.named(self))
        scheme = type(self).__name__
        if scheme == "Ckks" and self.limbs > 1:
            product = c.EvalMult(a, q)
            found["rescale"] = self.gives(self.times(x, y), lambda: c.Rescale(product))
            found["modswitch"] = self.gives(x, lambda: c.LevelReduce(a, None, 1))
        if scheme == "Bgv" and self.limbs > 1:
            found["modswitch"] = self.gives(x, lambda: c.ModReduce(a))
        return found

    def times(self, x, y):
        return x * y

    def rotated(self):
        if len(self.inputs[0]) == 1:
            return self.inputs[0]
        rows = numpy.split(self.inputs[0], len(self.inputs[0]) // (self.degree // 2))
        return numpy.concatenate([numpy.roll(row, -1) for row in rows])

    def fits(self, pair):
        ciphertext = self.context.Encrypt(pair.publicKey, self.plains[0])
        return self.near(self.context.Decrypt(pair.secretKey, ciphertext), self.inputs[0])

    def add_in_place(self, _):
        a, b = self.ciphertexts

        def run(own):
            self.context.EvalAddInPlace(own, b)
            return own

        return Operation(run, self.says(self.inputs[0] + self.inputs[1]), a.Clone)

    def hoisted(self, _):
        self.need("rotation")
        a = self.ciphertexts[0]
        digits = self.context.EvalFastRotationPrecompute(a)
        run = lambda _: self.context.EvalFastRotation(a, 1, 2 * self.degree, digits)
        return Operation(run, self.says(self.rotated()))

    def made_for_another(self, make, uses):
        """Makes keys for a new secret in every run, because the library makes no key twice for one secret; empties
        the maps."""
        c = self.context

        def before():
            c.ClearEvalAutomorphismKeys()
            openfhe.ClearEvalMultKeys()
            self.ready.clear()
            return c.KeyGen()

        def run(pair):
            make(pair.secretKey)
            return pair

        def right(pair):
            ciphertexts = [c.Encrypt(pair.publicKey, plain) for plain in self.plains]
            result, expected = uses(*ciphertexts)
            return self.near(c.Decrypt(pair.secretKey, result), expected)

        return Operation(run, right, before)

    def relin_keys(self, _):
        product = self.times(*self.inputs)
        return self.made_for_another(
            self.context.EvalMultKeyGen, lambda a, b: (self.context.EvalMult(a, b), product)
        )

    def galois_keys(self, _):
        columns = self.degree // 2
        powers = [1 << bit for bit in range(columns.bit_length() - 1)]
        steps = sorted({step for power in powers for step in (power, columns - power)})

        def make(secret):
            self.context.EvalRotateKeyGen(secret, steps)
            self.context.EvalAutomorphismKeyGen(secret, [2 * self.degree - 1])

        return self.made_for_another(make, lambda a, _: (self.context.EvalRotate(a, 1), self.rotated()))

    def through_bytes(self, request, parse):
        if request.get("codec", "none") != "none":
            raise Unsupported
        objects = {
            "ciphertext": (self.ciphertexts[0], openfhe.DeserializeCiphertextString, self.says(self.inputs[0])),
            "public_key": (self.pair.publicKey, openfhe.DeserializePublicKeyString, self.encrypts),
            "secret_key": (self.pair.secretKey, openfhe.DeserializePrivateKeyString, self.decrypts),
        }
        if request.get("object", "ciphertext") not in objects:
            raise Unsupported
        written, read, right = objects[request.get("object", "ciphertext")]
        as_bytes = openfhe.Serialize(written, openfhe.BINARY)
        load = lambda _: read(as_bytes, openfhe.BINARY)
        run = load if parse else lambda _: openfhe.Serialize(written, openfhe.BINARY)
        checked = right if parse else lambda _: right(load(None))
        return Operation(run, checked, size=lambda _: len(as_bytes))

    def encrypts(self, public):
        return self.says(self.inputs[0])(self.context.Encrypt(public, self.plains[0]))

    def decrypts(self, secret):
        return self.near(self.context.Decrypt(secret, self.ciphertexts[0]), self.inputs[0])
