"""SEAL 4.1 in Pyfhel: BGV."""

import numpy
from Pyfhel import PyCtxt, Pyfhel

from conversation import talk

# Built without compression.
MODE = "none"
# Every SEAL object begins with these bytes; Pyfhel puts data of its own before a context.
MAGIC = bytes([0x5E, 0xA1, 0x10])


class Bgv:
    def __init__(self, folder, request):
        self.folder, self.request = folder, request
        self.he = Pyfhel()

    def path(self, name):
        return str(self.folder / name)

    def prepare(self, **chain):
        said = self.he.contextGen("bgv", self.request["degree"], t=self.request["plain"], sec=128, **chain)
        if "success" not in str(said):
            raise ValueError(f"Pyfhel refuses the parameters: {said}")

    def make(self):
        self.prepare(qi_sizes=self.request["bits"])
        self.he.keyGen()
        self.he.relinKeyGen()
        self.he.rotateKeyGen([1, 0])
        context = self.he.to_bytes_context(MODE)
        (self.folder / "parameters").write_bytes(context[context.index(MAGIC) :])
        self.he.save_secret_key(self.path("secret-key"), MODE)
        self.he.save_public_key(self.path("public-key"), MODE)
        self.he.save_relin_key(self.path("relinearisation"), MODE)
        self.he.save_rotate_key(self.path("galois"), MODE)
        for name in "ab":
            self.save(self.encrypt(self.request[name]), name)

    def load(self):
        self.prepare(qi=self.request["primes"])
        self.he.load_secret_key(self.path("secret-key"))
        self.he.load_public_key(self.path("public-key"))
        self.he.load_relin_key(self.path("relinearisation"))
        self.he.load_rotate_key(self.path("galois"))

    def read(self, name):
        return PyCtxt(pyfhel=self.he, bytestring=(self.folder / name).read_bytes(), scheme="bgv")

    def save(self, ciphertext, name):
        (self.folder / name).write_bytes(ciphertext.to_bytes(MODE))

    def encrypt(self, values):
        return self.he.encryptPtxt(self.he.encodeBGV(numpy.array(values, dtype=numpy.int64)))

    def slots(self, ciphertext):
        return [int(slot) for slot in self.he.decodeBGV(self.he.decryptPtxt(ciphertext))]

    def sum(self, a, b):
        return self.he.add(a, b, True)

    def product(self, a, b):
        """The product, with a correction factor."""
        out = self.he.multiply(a, b, True)
        self.he.relinearize(out)
        return self.he.mod_switch_to_next_ctxt(out, True)

    def rotated(self, a, _):
        return self.he.rotate(a, 1, True)

    def swapped(self, a, _):
        """Pyfhel supports this for BFV only."""

    def dropped(self, a, _):
        return self.he.mod_switch_to_next_ctxt(a, True)


talk(Bgv)
