"""Parameters and keys. OpenFHE chooses its primes: the session takes the choice whose modulus is nearest to the
requested one."""

from math import ceil, log2

import numpy
import openfhe

from operations import Operations
from programs import Programs

# Bits of the primes that only key switching uses.
SPECIAL_BITS = 60
# The largest relative distance of the data modulus, in bits, from the request.
TOLERANCE = 0.03
# The largest error of a real that counts as correct.
CLOSE = 1e-2


class Session(Programs, Operations):
    """A context with keys. Subclasses choose its parameters."""

    def __init__(self, request):
        self.degree = request["degree"]
        self.bits = request.get("data_bits") or [prime.bit_length() for prime in request["data"]]
        self.wanted = sum(log2(prime) for prime in request["data"]) if "data" in request else sum(self.bits)
        self.one_value = request.get("encoding") == "scalar"
        self.special = len(request.get("special_bits") or request.get("special") or [])
        self.security = openfhe.HEStd_NotSet if request.get("insecure") else openfhe.HEStd_128_classic
        self.context, self.prime_bits, self.digits = self.nearest()
        self.pair = self.context.KeyGen()
        self.ready = set()
        self.constants = {}

    def nearest(self):
        """Returns the context whose data modulus is nearest to the request, with the length of its primes and its
        number of digits."""
        refused = None
        for choices in (self.choices(), self.other_choices()):
            made = []
            for choice in choices:
                try:
                    made.append(self.made(*choice))
                except RuntimeError as error:
                    refused = error
            if made:
                best = min(made, key=lambda one: abs(self.log2_q(one[0]) - self.wanted))
                found = self.log2_q(best[0])
                if abs(found - self.wanted) <= TOLERANCE * self.wanted:
                    return best
                refused = ValueError(f"the nearest data modulus has {found:.1f} bits, not {self.wanted:.1f}")
        raise refused

    def other_choices(self):
        """Further choices, tried if all first choices are outside the tolerance."""
        return []

    def made(self, depth, bits):
        """Makes a context with digits as long as the requested special primes; with one digit fewer if primes are
        lacking."""
        most = ceil(len(self.bits) / max(self.special, 1))
        for digits in (most, most - 1):
            try:
                return self.context_of(depth, bits, digits), bits, digits
            except RuntimeError as error:
                if "digits" not in str(error) or digits == 1:
                    raise
                refused = error
        raise refused

    def filled(self, parameters, depth, bits, digits):
        parameters.SetRingDim(self.degree)
        parameters.SetMultiplicativeDepth(depth)
        parameters.SetScalingModSize(bits)
        parameters.SetSecurityLevel(self.security)
        if self.special:
            parameters.SetKeySwitchTechnique(openfhe.HYBRID)
            parameters.SetNumLargeDigits(digits)
        else:
            # Key switching without special primes has one digit for each prime.
            parameters.SetKeySwitchTechnique(openfhe.BV)
        context = openfhe.GenCryptoContext(parameters)
        for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE):
            context.Enable(feature)
        return context

    @property
    def limbs(self):
        return round(self.log2_q(self.context) / self.prime_bits)

    def log2_q(self, context):
        return log2(context.GetModulus())

    def prepared(self):
        total = self.log2_q(self.context)
        limbs = self.limbs
        digit = ceil(limbs / self.digits) * total / limbs
        special = ceil(digit / SPECIAL_BITS) if self.special else 0
        return {
            "data": [],
            "special": [],
            "log2_q": total,
            "limbs": limbs,
            "special_limbs": special,
            # The library hides the special primes; their number and length are known.
            "log2_qp": total + special * SPECIAL_BITS,
            "security": None if self.security == openfhe.HEStd_NotSet else 128,
        }


def centred(value, t):
    return value - t if value > t // 2 else value


class Integers(Session):
    def __init__(self, request):
        self.t = request["plain_modulus"]
        super().__init__(request)
        generator = numpy.random.default_rng()
        self.count = 1 if self.one_value else self.degree
        given = [numpy.array([value]) for value in request.get("values", [])]
        self.inputs = given or [generator.integers(0, self.t, self.count) for _ in range(2)]

    def encoded(self, values):
        if self.count == 1:
            # The library takes plain values between -t/2 and t/2.
            return self.context.MakeCoefPackedPlaintext([centred(int(value), self.t) for value in values % self.t])
        return self.context.MakePackedPlaintext(values)

    def times(self, x, y):
        """Multiplies with Python integers: products of long values do not fit 64 bits."""
        return (x.astype(object) * y % self.t).astype(numpy.int64)

    def near(self, plain, expected):
        plain.SetLength(self.count)
        found = numpy.array(plain.GetCoefPackedValue() if self.count == 1 else plain.GetPackedValue())
        return bool(((found - expected) % self.t == 0).all())


class Bfv(Integers):
    def choices(self):
        sizes = {max(self.bits), round(self.wanted / len(self.bits))}
        return [(depth, bits) for bits in sizes for depth in range(len(self.bits) + 6)]

    def other_choices(self):
        """Returns choices with fewer and longer primes."""
        sizes = {round(self.wanted / count) for count in range(ceil(self.wanted / 59), len(self.bits))}
        return [(depth, bits) for bits in sizes for depth in range(len(self.bits) + 6)]

    def context_of(self, depth, bits, digits):
        parameters = openfhe.CCParamsBFVRNS()
        parameters.SetPlaintextModulus(self.t)
        return self.filled(parameters, depth, bits, digits)


class Bgv(Integers):
    def choices(self):
        return [(len(self.bits) - 1, self.bits[-1])]

    def context_of(self, depth, bits, digits):
        parameters = openfhe.CCParamsBGVRNS()
        parameters.SetPlaintextModulus(self.t)
        parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
        parameters.SetFirstModSize(self.bits[0] if bits == self.bits[-1] else bits)
        return self.filled(parameters, depth, bits, digits)

    def other_choices(self):
        """Returns choices with fewer and longer primes: its primes are 1 modulo 2n and modulo t, and short ones are
        rare. Returns none if the request fixes the number of digits."""
        counts = [] if self.one_value else range(ceil(self.wanted / 59), len(self.bits))
        return [(count - 1, round(self.wanted / count)) for count in counts]


class Ckks(Session):
    def __init__(self, request):
        super().__init__(request)
        generator = numpy.random.default_rng()
        self.inputs = [generator.uniform(-1, 1, self.degree // 2) for _ in range(2)]

    def choices(self):
        return [(len(self.bits) - 1, self.bits[-1])]

    def context_of(self, depth, bits, digits):
        parameters = openfhe.CCParamsCKKSRNS()
        parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
        parameters.SetFirstModSize(self.bits[0])
        parameters.SetBatchSize(self.degree // 2)
        return self.filled(parameters, depth, bits, digits)

    def encoded(self, values):
        return self.context.MakeCKKSPackedPlaintext(values)

    def near(self, plain, expected):
        plain.SetLength(self.degree // 2)
        return bool((abs(numpy.array(plain.GetRealPackedValue()) - expected) < CLOSE).all())
