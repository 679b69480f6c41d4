"""Measured operations that make keys, plaintexts and ciphertexts, or that write and parse bytes."""

import os
import tempfile

import tenseal.sealapi as seal

from clock import Operation
from conversation import Unsupported


class Made:
    """Operations of a session that make objects."""

    def encode_only(self, _):
        right = lambda plain: self.near(self.decoded(plain), self.inputs[0])
        return Operation(lambda _: self.encoded(self.inputs[0]), right, conversion=self.conversion_in)

    def decode(self, _):
        plain = self.into(self.decryptor.decrypt, self.ciphertexts[0], kind=seal.Plaintext)
        right = lambda slots: self.near(slots, self.inputs[0])
        return Operation(lambda _: self.decoded(plain), right, conversion=self.conversion_out)

    def decrypted(self, _):
        a, out = self.ciphertexts[0], seal.Plaintext()

        def run(_):
            self.decryptor.decrypt(a, out)
            return out

        return Operation(run, lambda plain: self.near(self.decoded(plain), self.inputs[0]))

    def decrypt_decode(self, _):
        a, out = self.ciphertexts[0], seal.Plaintext()

        def run(_):
            self.decryptor.decrypt(a, out)
            return self.decoded(out)

        return Operation(run, lambda slots: self.near(slots, self.inputs[0]), conversion=self.conversion_out)

    def encode_encrypt(self, encrypt):
        out = seal.Ciphertext()

        def run(_):
            encrypt(self.encoded(self.inputs[0]), out)
            return out

        right = lambda result: self.near(self.opened(result), self.inputs[0])
        return Operation(run, right, conversion=self.conversion_in)

    def encrypt_secret(self, _):
        """Times seeded encryption. SEAL makes a seeded ciphertext only to write it: the check reads the written
        bytes."""
        plain = self.plains[0]
        return Operation(lambda _: self.symmetric.encrypt_symmetric(plain), self.seeded_is_right)

    def encode_encrypt_secret(self, _):
        run = lambda _: self.symmetric.encrypt_symmetric(self.encoded(self.inputs[0]))
        return Operation(run, self.seeded_is_right, conversion=self.conversion_in)

    def seeded_is_right(self, seeded):
        with tempfile.NamedTemporaryFile(dir=memory()) as file:
            seeded.save(file.name)
            return self.near(self.opened(self.loaded(seal.Ciphertext(), file.name)), self.inputs[0])

    def loaded(self, made, path):
        made.load(self.context, path)
        return made

    def keygen(self, _):
        generator, public = seal.KeyGenerator(self.context), seal.PublicKey()
        generator.create_public_key(public)
        return generator, public

    def fits(self, pair):
        generator, public = pair
        ciphertext = self.into(seal.Encryptor(self.context, public).encrypt, self.plains[0])
        decryptor = seal.Decryptor(self.context, generator.secret_key())
        plain = self.into(decryptor.decrypt, ciphertext, kind=seal.Plaintext)
        return self.near(self.decoded(plain), self.inputs[0])

    def relin_keys(self, _):
        return self.into(self.generator.create_relin_keys, kind=seal.RelinKeys)

    def relinearises(self, keys):
        product = self.into(self.evaluator.multiply, *self.ciphertexts)
        self.evaluator.relinearize_inplace(product, keys)
        return self.near(self.opened(product), [x * y for x, y in zip(*self.inputs)])

    def power_of_two_elements(self):
        powers = [1 << bit for bit in range((self.degree // 4).bit_length())]
        elements = {self.element(step) for power in powers for step in (power, -power)}
        return sorted(elements | {2 * self.degree - 1})

    def galois_keys(self, _):
        keys = seal.GaloisKeys()
        self.generator.create_galois_keys(self.power_of_two_elements(), keys)
        return keys

    def rotates(self, keys):
        rotated = self.into(self.evaluator.apply_galois, self.ciphertexts[0], self.element(1), keys)
        return self.near(self.opened(rotated), self.rotated())

    def stored(self, name):
        """Returns an object to write, an empty one to parse into, and a check of the parsed object."""
        opens = lambda read: self.near(self.opened(read), self.inputs[0])
        if name == "ciphertext":
            return self.ciphertexts[0], seal.Ciphertext, opens
        if name == "seeded":
            return self.symmetric.encrypt_symmetric(self.plains[0]), seal.Ciphertext, opens
        if name == "public_key":
            return self.public, seal.PublicKey, lambda read: self.fits((self.generator, read))
        if name in ("relin_keys", "galois_keys") and not self.context.using_keyswitching():
            raise Unsupported
        if name == "relin_keys":
            return self.generator.create_relin_keys(), seal.RelinKeys, self.relinearises
        if name == "galois_keys":
            made = self.generator.create_galois_keys(self.power_of_two_elements())
            return made, seal.GaloisKeys, self.rotates
        if name == "plaintext":
            right = lambda read: self.near(self.decoded(read), self.inputs[0])
            return self.plains[0], seal.Plaintext, right
        if name == "secret_key":
            right = lambda read: self.near(self.opened(self.ciphertexts[0], read), self.inputs[0])
            return self.generator.secret_key(), seal.SecretKey, right
        raise Unsupported

    def through_file(self, request, parse):
        """Times writing or parsing. The binding writes only to files, with Zstandard: a file in memory, if the system
        has that."""
        if request.get("codec", "zstd") != "zstd":
            raise Unsupported
        written, kind, right = self.stored(request.get("object", "ciphertext"))
        path = os.path.join(memory(), f"sotto-engine-{os.getpid()}")
        written.save(path)

        def load(_):
            return self.loaded(kind(), path)

        run = load if parse else lambda _: written.save(path)
        checked = right if parse else lambda _: right(load(None))
        return Operation(run, checked, size=lambda _: os.path.getsize(path))

    def serialise(self, request):
        return self.through_file(request, False)

    def parse(self, request):
        return self.through_file(request, True)


def memory():
    return "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()
