"""SEAL in the TenSEAL wheel: BFV and CKKS."""

import tenseal.sealapi as seal

from conversation import talk

STEPS = [1]


class Wheel:
    def __init__(self, folder, request):
        self.folder, self.request = folder, request
        self.real = request["scheme"] == "ckks"

    def path(self, name):
        return str(self.folder / name)

    def prepare(self, parameters):
        self.context = seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)
        if not self.context.parameters_set():
            raise ValueError(self.context.parameters_error_message())
        self.evaluator = seal.Evaluator(self.context)
        self.encoder = (seal.CKKSEncoder if self.real else seal.BatchEncoder)(self.context)

    def elements(self):
        degree = self.request["degree"]
        return [pow(3, step, 2 * degree) for step in STEPS] + [2 * degree - 1]

    def make(self):
        schemes = seal.SCHEME_TYPE
        parameters = seal.EncryptionParameters(schemes.CKKS if self.real else schemes.BFV)
        degree = self.request["degree"]
        parameters.set_poly_modulus_degree(degree)
        if self.request["bits"]:
            primes = seal.CoeffModulus.Create(degree, self.request["bits"])
        else:
            primes = seal.CoeffModulus.BFVDefault(degree, seal.SEC_LEVEL_TYPE.TC128)
        parameters.set_coeff_modulus(primes)
        if not self.real:
            parameters.set_plain_modulus(self.request["plain"])
        self.prepare(parameters)
        keys = seal.KeyGenerator(self.context)
        secret, public = keys.secret_key(), seal.PublicKey()
        keys.create_public_key(public)
        symmetric, asymmetric = (seal.Encryptor(self.context, key) for key in (secret, public))
        b = seal.Ciphertext()
        asymmetric.encrypt(self.encoded(self.request["b"]), b)
        made = {
            "parameters": parameters,
            "secret-key": secret,
            "public-key": public,
            # With their seeds, in the form for sending.
            "relinearisation": keys.create_relin_keys(),
            "galois": keys.create_galois_keys(self.elements()),
            "a": symmetric.encrypt_symmetric(self.encoded(self.request["a"])),
            "b": b,
        }
        for name, what in made.items():
            what.save(self.path(name))

    def load(self):
        parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.NONE)
        parameters.load(self.path("parameters"))
        self.prepare(parameters)
        secret = self.loaded(seal.SecretKey(), "secret-key")
        self.decryptor = seal.Decryptor(self.context, secret)
        self.encryptor = seal.Encryptor(self.context, self.loaded(seal.PublicKey(), "public-key"))
        self.relinearisation = self.loaded(seal.RelinKeys(), "relinearisation")
        self.galois = self.loaded(seal.GaloisKeys(), "galois")

    def loaded(self, what, name):
        what.load(self.context, self.path(name))
        return what

    def read(self, name):
        return self.loaded(seal.Ciphertext(), name)

    def save(self, ciphertext, name):
        ciphertext.save(self.path(name))

    def encoded(self, values):
        out = seal.Plaintext()
        if self.real:
            self.encoder.encode(values, 2.0 ** self.request["scale_bits"], out)
        else:
            self.encoder.encode(values, out)
        return out

    def encrypt(self, values):
        out = seal.Ciphertext()
        self.encryptor.encrypt(self.encoded(values), out)
        return out

    def slots(self, ciphertext):
        plain = seal.Plaintext()
        self.decryptor.decrypt(ciphertext, plain)
        return self.encoder.decode_double(plain) if self.real else self.encoder.decode_int64(plain)

    def sum(self, a, b):
        out = seal.Ciphertext()
        self.evaluator.add(a, b, out)
        return out

    def product(self, a, b):
        out = seal.Ciphertext()
        self.evaluator.multiply(a, b, out)
        self.evaluator.relinearize_inplace(out, self.relinearisation)
        if self.real:
            self.evaluator.rescale_to_next_inplace(out)
        return out

    def automorphism(self, a, element):
        out = seal.Ciphertext()
        self.evaluator.apply_galois(a, element, self.galois, out)
        return out

    def rotated(self, a, _):
        return self.automorphism(a, self.elements()[0])

    def swapped(self, a, _):
        return self.automorphism(a, self.elements()[-1])

    def dropped(self, a, _):
        out = seal.Ciphertext()
        self.evaluator.mod_switch_to_next(a, out)
        return out


talk(Wheel)
