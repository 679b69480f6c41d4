"""The common part of BFV and CKKS: parameters, keys, linear operations."""

from math import log2

import tenseal.sealapi as seal


from made import Made
from measured import Measured
from program import evaluate


class Session(Measured, Made):
    """Parameters and keys of one scheme. Subclasses encode, multiply and align."""

    def __init__(self, request, scheme, plain_modulus=None):
        degree = request["degree"]
        if "data" in request:
            data, special = request["data"], request.get("special", [])
        else:
            bits = request["data_bits"] + request.get("special_bits", [])
            made = [prime.value() for prime in seal.CoeffModulus.Create(degree, bits)]
            data, special = made[: len(request["data_bits"])], made[len(request["data_bits"]) :]
        if len(special) > 1:
            raise ValueError("SEAL has one special prime")
        parameters = seal.EncryptionParameters(scheme)
        parameters.set_poly_modulus_degree(degree)
        parameters.set_coeff_modulus([seal.Modulus(prime) for prime in data + special])
        if plain_modulus is not None:
            parameters.set_plain_modulus(plain_modulus)
        levels = seal.SEC_LEVEL_TYPE
        security = levels.NONE if request.get("insecure") else levels.TC128
        self.context = seal.SEALContext(parameters, True, security)
        if not self.context.parameters_set():
            raise ValueError(f"SEAL refuses the parameters: {self.context.parameters_error_message()}")
        self.primes = (data, special)
        self.degree = degree
        self.generate(request)

    def generate(self, request):
        self.generator = generator = seal.KeyGenerator(self.context)
        self.public = seal.PublicKey()
        generator.create_public_key(self.public)
        self.encryptor = seal.Encryptor(self.context, self.public)
        self.symmetric = seal.Encryptor(self.context, generator.secret_key())
        self.decryptor = seal.Decryptor(self.context, generator.secret_key())
        self.evaluator = seal.Evaluator(self.context)
        self.relinearisation, self.galois = seal.RelinKeys(), seal.GaloisKeys()
        if self.context.using_keyswitching():
            generator.create_relin_keys(self.relinearisation)
            elements = {self.element(step) for step in request.get("rotations", [])}
            if request.get("swap_rows"):
                elements.add(2 * self.degree - 1)
            if elements:
                generator.create_galois_keys(sorted(elements), self.galois)

    def prepared(self):
        data, special = self.primes
        total = sum(log2(prime) for prime in data + special)
        named = ((256, seal.SEC_LEVEL_TYPE.TC256), (192, seal.SEC_LEVEL_TYPE.TC192), (128, seal.SEC_LEVEL_TYPE.TC128))
        most = [(bits, seal.CoeffModulus.MaxBitCount(self.degree, level)) for bits, level in named]
        return {
            "data": data,
            "special": special,
            "log2_q": sum(log2(prime) for prime in data),
            "limbs": len(data),
            "special_limbs": len(special),
            "security": next((bits for bits, largest in most if total <= largest), None),
        }

    def verify(self, request):
        return evaluate(self, request["program"], request["inputs"])

    def opened(self, a, secret=None):
        """Decrypts to slots without a check of the noise budget, for comparison with expected values."""
        decryptor = seal.Decryptor(self.context, secret) if secret else self.decryptor
        return self.decoded(self.into(decryptor.decrypt, a, kind=seal.Plaintext))

    def element(self, steps):
        """Returns the Galois element of a rotation to the left."""
        return pow(3, steps % (self.degree // 2), 2 * self.degree)

    def encrypt(self, values):
        ciphertext = seal.Ciphertext()
        self.encryptor.encrypt(self.encode_input(values), ciphertext)
        return ciphertext

    def encrypt_number(self, number):
        """Encrypts a number in the first slot. The library fills the others with zeros, so that no long list is
        converted."""
        ciphertext = seal.Ciphertext()
        self.encryptor.encrypt(self.encode_number(number), ciphertext)
        return ciphertext

    def negate(self, a):
        out = seal.Ciphertext()
        self.evaluator.negate(a, out)
        return out

    def sum(self, a, b):
        out = seal.Ciphertext()
        self.evaluator.add(*self.aligned(a, b), out)
        return out

    def difference(self, a, b):
        out = seal.Ciphertext()
        self.evaluator.sub(*self.aligned(a, b), out)
        return out

    def product(self, a, b):
        out = seal.Ciphertext()
        if a is b:
            self.evaluator.square(a, out)
        else:
            self.evaluator.multiply(*self.aligned(a, b), out)
        self.evaluator.relinearize_inplace(out, self.relinearisation)
        return self.after_product(out)

    def rotate(self, a, steps):
        if steps % (self.degree // 2) == 0:
            return a
        return self.automorphism(a, self.element(steps))

    def swap_rows(self, a):
        return self.automorphism(a, 2 * self.degree - 1)

    def automorphism(self, a, element):
        out = seal.Ciphertext()
        self.evaluator.apply_galois(a, element, self.galois, out)
        return out
