"""Measured operations on two random inputs at the top level. Destinations are made once, as in SEAL's own
benchmarks."""

from functools import cached_property

import tenseal.sealapi as seal

import tasks
from clock import Operation


class Measured:
    """Operations of a session. A subclass makes inputs (`slots`, `encoded`), compares (`near`), and provides the list
    conversions `conversion_in` and `conversion_out`."""

    @cached_property
    def inputs(self):
        return [self.random_slots() for _ in range(2)]

    @cached_property
    def plains(self):
        return [self.encoded(values) for values in self.inputs]

    @cached_property
    def ciphertexts(self):
        return [self.into(self.encryptor.encrypt, plain) for plain in self.plains]

    @cached_property
    def rotation(self):
        keys = seal.GaloisKeys()
        self.generator.create_galois_keys([self.element(1)], keys)
        return keys

    def into(self, call, *operands, kind=seal.Ciphertext):
        out = kind()
        call(*operands, out)
        return out

    def copy(self, a):
        """Copies by negating twice: the binding has no copy."""
        out = seal.Ciphertext()
        self.evaluator.negate(a, out)
        self.evaluator.negate_inplace(out)
        return out

    def gives(self, expected, call, *operands, kind=seal.Ciphertext):
        """Returns an operation that writes to a destination."""
        out = kind()

        def run(_):
            call(*operands, out)
            return out

        return lambda _: Operation(run, lambda result: self.near(self.opened(result), expected()))

    def operations(self):
        e, zipped = self.evaluator, lambda f: [f(a, b) for a, b in zip(*self.inputs)]
        (a, b), (_, p) = self.ciphertexts, self.plains
        total, product = lambda: zipped(lambda x, y: x + y), lambda: zipped(lambda x, y: x * y)
        first = lambda: self.inputs[0]
        found = {
            "add": self.gives(total, e.add, a, b),
            "add_in_place": self.in_place,
            "add_plain": self.gives(total, e.add_plain, a, p),
            "encode_add_plain": self.encode_add_plain,
            "subtract": self.gives(lambda: zipped(lambda x, y: x - y), e.sub, a, b),
            "negate": self.gives(lambda: [-x for x in self.inputs[0]], e.negate, a),
            "multiply": self.gives(product, e.multiply, a, b),
            "square": self.gives(lambda: [x * x for x in self.inputs[0]], e.square, a),
            "multiply_plain": self.multiply_plain,
            "keygen": lambda _: Operation(self.keygen, self.fits),
            "encrypt_public": self.gives(first, self.encryptor.encrypt, self.plains[0]),
            "encrypt_secret": self.encrypt_secret,
            "encode": self.encode_only,
            "decode": self.decode,
            "decrypt": self.decrypted,
            "decrypt_decode": self.decrypt_decode,
            "encode_encrypt_public": lambda _: self.encode_encrypt(self.encryptor.encrypt),
            "encode_encrypt_secret": self.encode_encrypt_secret,
            "serialise": lambda request: self.serialise(request),
            "parse": lambda request: self.parse(request),
            "list_conversion": lambda _: Operation(lambda _: self.conversion_in(), lambda _: True),
        }
        if len(self.primes[0]) > 1:
            found["modswitch"] = self.gives(first, e.mod_switch_to_next, a)
        if self.context.using_keyswitching():
            found["relin_keys"] = lambda _: Operation(self.relin_keys, self.relinearises)
            found["galois_keys"] = lambda _: Operation(self.galois_keys, self.rotates)
            found["rotate"] = self.gives(self.rotated, e.apply_galois, a, self.element(1), self.rotation)
            found["multiply_relin"] = self.multiply_relin
            found.update(tasks.named(self))
        return found

    def rotated(self):
        columns = self.degree // 2
        rows = [self.inputs[0][at : at + columns] for at in range(0, len(self.inputs[0]), columns)]
        return [value for row in rows for value in row[1:] + row[:1]]

    def in_place(self, _):
        a, b = self.ciphertexts
        total = [x + y for x, y in zip(*self.inputs)]

        def run(own):
            self.evaluator.add_inplace(own, b)
            return own

        return Operation(run, lambda own: self.near(self.opened(own), total), lambda: self.copy(a))

    def multiply_relin(self, _):
        (a, b), out = self.ciphertexts, seal.Ciphertext()

        def run(_):
            self.evaluator.multiply(a, b, out)
            self.evaluator.relinearize_inplace(out, self.relinearisation)
            return out

        product = [x * y for x, y in zip(*self.inputs)]
        return Operation(run, lambda result: self.near(self.opened(result), product))

    def multiply_plain(self, _):
        """Multiplies in NTT form; BFV's operands are brought there before, untimed."""
        a, p = self.copy(self.ciphertexts[0]), self.encoded(self.inputs[1])
        bring_back = not a.is_ntt_form()
        if bring_back:
            self.evaluator.transform_to_ntt_inplace(a)
            self.evaluator.transform_to_ntt_inplace(p, a.parms_id())
        out = seal.Ciphertext()

        def run(_):
            self.evaluator.multiply_plain(a, p, out)
            return out

        def right(result):
            own = self.copy(result)
            if bring_back:
                self.evaluator.transform_from_ntt_inplace(own)
            return self.near(self.opened(own), [x * y for x, y in zip(*self.inputs)])

        return Operation(run, right)

    def encode_add_plain(self, _):
        a, out = self.ciphertexts[0], seal.Ciphertext()

        def run(_):
            self.evaluator.add_plain(a, self.encoded(self.inputs[1]), out)
            return out

        total = [x + y for x, y in zip(*self.inputs)]
        right = lambda result: self.near(self.opened(result), total)
        return Operation(run, right, conversion=self.conversion_in)
