"""The vectors of whole schemes: two encrypted messages, their product, a rotation and a drop, with every intermediate.

Limbs are in Eval form and in the order of the basis; small polynomials (secret, errors, messages) are coefficients.
"""

from spec import encode, encrypt, evaluate, keyswitch, primes, ring
from spec.bfv import Bfv
from spec.bgv import Bgv
from spec.ckks import Ckks
from spec.sample import Sampler
from spec.scheme import pointwise_tensor

EXACT = [  # degree, special bits, data bits, t, True if the message is a batch
    (8, [36], [32] * 3, 1000, False),
    (16, [40], [40] * 3, 257, True),
    (16, [60] * 2, [55] * 4, 65537, True),
    (64, [40] * 2, [40] * 3, 65537, True),
    (16, [], [45] * 3, 257, True),
]
REAL = [  # degree, special bits, bits of q_0, bits of the scale, scale primes
    (8, [36], 36, 30, 2),
    (16, [45], 45, 40, 2),
    (16, [60] * 2, 60, 50, 3),
    (64, [45] * 2, 45, 40, 2),
]


def scheme_files():
    for kind in (Bfv, Bgv):
        yield kind.name, {"cases": [ExactStory(kind, *parameters).case() for parameters in EXACT]}
    yield Ckks.name, {"cases": [RealStory(*parameters).case() for parameters in REAL]}


class Story:
    """One case: keys and messages, then the computations, in the order of the methods."""

    def __init__(self, scheme):
        self.scheme, self.random = scheme, Sampler(f"{scheme.name} {scheme.degree} {scheme.data}")
        self.secret = self.random.ternary(scheme.degree)

    def case(self):
        scheme, product_g = self.scheme, ring.galois_element(self.scheme.degree, 1)
        out = {"degree": scheme.degree, "special": scheme.special, "data": scheme.data}
        out.update(self.parameters())
        out["secret"] = self.secret
        out["public_key"], public = self.public_key()
        out["relinearisation_key"], relinearisation = self.switching_key(ring.multiply(self.secret, self.secret))
        out["galois_key"], galois = self.switching_key(ring.automorphism(self.secret, product_g))
        out["galois_key"] = {"step": 1, "galois_element": product_g, **out["galois_key"]}
        out["left"], left = self.secret_encryption()
        out["right"], right = self.public_encryption(public)
        out["sum"] = self.ciphertext(evaluate.add(left, right))
        out["product"] = self.ciphertext(evaluate.multiply(scheme, left, right))
        out.update(self.product_intermediates(left, right))
        out["relinearised"], relinearised = self.relinearised(evaluate.multiply(scheme, left, right), relinearisation)
        dropped = evaluate.drop(scheme, relinearised)
        out["dropped"] = self.ciphertext(dropped)
        out["rotated"] = self.rotated(left, galois)
        out["dropped_rotated"] = self.rotated(dropped, galois)
        return out

    def small(self, kind):
        return getattr(self.random, kind)(self.scheme.degree)

    def public_key(self):
        seed, error = self.random.seed(), self.small("error")
        body, mask = key = encrypt.public_key(self.scheme, self.secret, seed, error)
        return {"seed": seed.hex(), "error": error, "body": body.limbs, "mask": mask.limbs}, key

    def switching_key(self, target):
        digits = self.scheme.digits(self.scheme.top_level)
        seed, errors = self.random.seed(), [self.small("error") for _ in digits]
        key = keyswitch.switching_key(self.scheme, self.secret, target, seed, errors)
        pairs = [{"error": e, "body": body.limbs, "mask": mask.limbs} for e, (body, mask) in zip(errors, key)]
        return {"seed": seed.hex(), "digits": pairs}, key

    def secret_encryption(self):
        fields, message = self.message()
        seed, error = self.random.seed(), self.small("error")
        ciphertext = encrypt.encrypt_with_secret(self.scheme, message, self.secret, seed, error)
        return {**fields, "seed": seed.hex(), "error": error, "ciphertext": self.ciphertext(ciphertext)}, ciphertext

    def public_encryption(self, key):
        fields, message = self.message()
        ternary, errors = self.small("ternary"), [self.small("error"), self.small("error")]
        ciphertext = encrypt.encrypt_with_public(self.scheme, message, key, ternary, errors)
        return {**fields, "ternary": ternary, "errors": errors, "ciphertext": self.ciphertext(ciphertext)}, ciphertext

    def relinearised(self, product, key):
        result = evaluate.relinearise(self.scheme, product, key)
        switched = self.key_switch(product.components[2], key, product.level)
        return {"key_switch": switched, "ciphertext": self.ciphertext(result)}, result

    def rotated(self, ciphertext, key):
        moved = ciphertext.components[1].automorphism(ring.galois_element(self.scheme.degree, 1))
        result = evaluate.rotate(self.scheme, ciphertext, 1, key)
        return {"key_switch": self.key_switch(moved, key, ciphertext.level), "ciphertext": self.ciphertext(result)}

    def key_switch(self, poly, key, level):
        digits = keyswitch.decompose(self.scheme, poly, level)
        return {"input": poly.limbs, "digits": [digit.limbs for digit in digits],
                "accumulators": [total.limbs for total in keyswitch.accumulate(digits, key)],
                "output": [part.limbs for part in keyswitch.switch(self.scheme, poly, key, level)]}

    def ciphertext(self, ciphertext):
        phase = encrypt.phase(self.scheme, ciphertext, self.secret)
        return {"level": ciphertext.level, "factor": ciphertext.factor, "power": ciphertext.power,
                "components": [component.limbs for component in ciphertext.components],
                "phase": phase.limbs, **self.decrypted(self.scheme.recover(ciphertext, phase))}

    def product_intermediates(self, left, right):
        return {}


class ExactStory(Story):
    """BFV or BGV: results are equal, slot by slot."""

    def __init__(self, kind, degree, special_bits, data_bits, plain_modulus, batched):
        special, data = primes.chain(degree, special_bits, data_bits)
        super().__init__(kind(degree, tuple(special), tuple(data), plain_modulus))
        self.batched = batched

    def parameters(self):
        return {"plain_modulus": self.scheme.plain_modulus}

    def message(self):
        values = self.random.below(self.scheme.degree, self.scheme.plain_modulus)
        message = encode.batch(values, self.scheme.plain_modulus) if self.batched else values
        return {"slots": values if self.batched else None, "message": message}, message

    def decrypted(self, message):
        slots = encode.unbatch(message, self.scheme.plain_modulus) if self.batched else None
        return {"message": message, "slots": slots}

    def product_intermediates(self, left, right):
        if self.scheme.name != "bfv":
            return {}
        extended = [[self.scheme.extend(c) for c in x.components] for x in (left, right)]
        auxiliary = self.scheme.auxiliary_primes(self.scheme.data)
        return {"product_intermediates": {
            "auxiliary": auxiliary,
            "left": [component.over(auxiliary).limbs for component in extended[0]],
            "right": [component.over(auxiliary).limbs for component in extended[1]],
            "tensor": [component.limbs for component in pointwise_tensor(*extended)],
        }}


class RealStory(Story):
    """CKKS: results are near, so decrypted slots are rounded to six places; the phase is exact."""

    def __init__(self, degree, special_bits, base_bits, scale_bits, count):
        super().__init__(Ckks.build(degree, special_bits, base_bits, scale_bits, count))
        self.scale_bits = scale_bits

    def parameters(self):
        return {"scale_bits": self.scale_bits, "scales": [float(scale) for scale in self.scheme.scales]}

    def message(self):
        slots = self.random.thousandths(self.scheme.degree // 2)
        message = encode.embed([(slot, 0) for slot in slots])
        return {"slots": slots, "message": self.scheme.rounded(message, self.scheme.top_level)}, message

    def decrypted(self, message):
        return {"message": None, "slots": [round(float(real), 6) for real, _ in encode.unembed(message)]}
