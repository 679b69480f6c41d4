"""The vectors of compact ciphertexts of slots: two windows, their residues that travel, their expansion step by step, and both results in
one ciphertext. Keys are given by seeds and errors alone: `scheme_vectors` has their limbs.
"""

from spec import encode, encrypt, expand, keyswitch, ring
from spec.bfv import Bfv
from spec.bgv import Bgv
from spec.ckks import Ckks
from spec.expand import FOLDED, WHOLE, Kept
from spec.scheme_vectors import ExactStory, RealStory

EXACT = [  # degree, special bits, data bits, t, form of the body
    (16, [40], [40] * 3, 257, Kept(WHOLE, 4)),
    (16, [60] * 2, [55] * 4, 65537, Kept(WHOLE, 8)),
    (16, [40], [40] * 3, 257, Kept(FOLDED, 2)),
    (16, [60] * 2, [55] * 4, 65537, Kept(FOLDED, 8)),
    (32, [40] * 2, [40] * 3, 65537, Kept(FOLDED, 4)),
]
REAL = [  # degree, special bits, bits of q_0, bits of the scale, scale primes, form of the body
    (16, [45], 45, 40, 2, Kept(WHOLE, 4)),
    (16, [45] * 2, 45, 40, 3, Kept(WHOLE, 8)),
    (16, [45], 45, 40, 2, Kept(FOLDED, 2)),
    (16, [45] * 2, 45, 40, 3, Kept(FOLDED, 8)),
    (32, [45] * 2, 45, 40, 2, Kept(FOLDED, 4)),
]


def expand_files():
    cases = [ExactExpansion(kind, *parameters).case() for kind in (Bfv, Bgv) for parameters in EXACT]
    yield "expand-exact", {"cases": cases}
    yield "expand-real", {"cases": [RealExpansion(*parameters).case() for parameters in REAL]}


class Expansion:
    """One case, in the order of the methods. Keys and messages come from a story of `scheme_vectors`."""

    def case(self):
        scheme, kept = self.scheme, self.kept
        out = {"scheme": scheme.name, "degree": scheme.degree, "special": scheme.special, "data": scheme.data}
        out.update(self.parameters())
        out["kept"] = {"kind": kept.kind, "places": kept.places}
        out["secret"] = self.secret
        out["galois_keys"], keys = self.galois_keys()
        windows = [self.window(self.secret, self.random.seed()) for _ in range(2)]
        traced = [expand.expand(scheme, fresh, kept, keys) for _, fresh in windows]
        out["windows"] = [{"window": fields, **self.steps(results)} for (fields, _), results in zip(windows, traced)]
        if kept.spacing(scheme.degree) > 1:
            out["together"] = self.together([results[-1] for results in traced])
        else:
            out["together"] = None
        return out

    def key(self, target):
        digits = self.scheme.digits(self.scheme.top_level)
        seed, errors = self.random.seed(), [self.small("error") for _ in digits]
        return {"seed": seed.hex(), "errors": errors}, keyswitch.switching_key(self.scheme, self.secret, target, seed, errors)

    def galois_keys(self):
        fields, keys, n = [], {}, self.scheme.degree
        for step in expand.steps(n, self.kept):
            g = expand.element(n, step)
            key, keys[step] = self.key(ring.automorphism(self.secret, g))
            fields.append({"step": step, "galois_element": g, **key})
        return fields, keys

    def window(self, secret, seed):
        """Values, their encrypted message, and the residues that travel."""
        values, shown, message = self.values()
        error = self.small("error")
        fresh = encrypt.encrypt_with_secret(self.scheme, message, secret, seed, error)
        rows = expand.sent(fresh, self.kept)
        return {"values": values, "message": shown, "seed": seed.hex(), "error": error, "sent": list(zip(*rows))}, fresh

    def steps(self, results):
        """The ciphertext before the first automorphism, and after each; the last is the result."""
        return {"steps": [[part.limbs for part in result.components] for result in results],
                "expanded": self.ciphertext(results[-1])}

    def together(self, expanded):
        merged = expand.together(expanded)
        decrypted = encrypt.decrypt(self.scheme, merged, self.secret)
        parts = [expand.part(decrypted, self.kept, i) for i in range(len(expanded))]
        return {"components": [part.limbs for part in merged.components], "values": [self.read(part) for part in parts]}


class ExactExpansion(Expansion, ExactStory):
    def __init__(self, kind, degree, special_bits, data_bits, plain_modulus, kept):
        super().__init__(kind, degree, special_bits, data_bits, plain_modulus, True)
        self.kept = kept

    def values(self):
        t = self.scheme.plain_modulus
        values = self.random.below(self.kept.values, t)
        message = expand.message(values, self.kept, self.scheme.degree, t)
        return values, message, message

    def read(self, message):
        return encode.unbatch(message, self.scheme.plain_modulus)[:self.kept.values]


class RealExpansion(Expansion, RealStory):
    def __init__(self, degree, special_bits, base_bits, scale_bits, count, kept):
        super().__init__(degree, special_bits, base_bits, scale_bits, count)
        self.kept = kept

    def values(self):
        """No coefficient is nearer than 2^-7 to a half before it is rounded: floats round it alike."""
        while True:
            values = self.random.thousandths(self.kept.values)
            message = expand.message(values, self.kept, self.scheme.degree)
            scaled = [x * 2**self.scale_bits for x in message]
            if all(abs(abs(x - round(x)) * 2 - 1) > 2**-6 for x in scaled):
                return values, self.scheme.rounded(message, self.scheme.top_level), message

    def read(self, message):
        return [round(float(real), 6) for real, _ in encode.unembed(message)][:self.kept.values]
