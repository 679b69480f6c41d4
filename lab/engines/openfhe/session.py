"""Parameters and keys. OpenFHE chooses its primes: the session asks for those whose product is nearest to what is wanted."""

from math import ceil, log2

import numpy
import openfhe

from operations import Operations

# The primes of key switching alone have this many bits.
SPECIAL_BITS = 60
# How far the data modulus may be from what was asked for.
TOLERANCE = 0.03
# The largest error with which a real still counts as right.
CLOSE = 1e-2


class Session(Operations):
    """A context with keys. Subclasses choose its parameters."""

    def __init__(self, request):
        self.degree = request["degree"]
        self.bits = request.get("data_bits") or [prime.bit_length() for prime in request["data"]]
        self.wanted = sum(log2(prime) for prime in request["data"]) if "data" in request else sum(self.bits)
        special = request.get("special_bits") or request.get("special") or [SPECIAL_BITS]
        self.digits = ceil(len(self.bits) / len(special))
        self.security = openfhe.HEStd_NotSet if request.get("insecure") else openfhe.HEStd_128_classic
        self.context = self.nearest(request)
        self.pair = self.context.KeyGen()
        self.ready = set()

    def nearest(self, request):
        made, refused = [], None
        for choice in self.choices():
            try:
                made.append(self.context_of(*choice, request))
            except RuntimeError as error:  # too few primes for so many digits, for instance
                refused = error
        if not made:
            raise refused
        best = min(made, key=lambda context: abs(self.log2_q(context) - self.wanted))
        if abs(self.log2_q(best) - self.wanted) > TOLERANCE * self.wanted:
            raise ValueError(f"the nearest data modulus has {self.log2_q(best):.1f} bits, not {self.wanted:.1f}")
        return best

    def filled(self, parameters, depth, bits):
        parameters.SetRingDim(self.degree)
        parameters.SetMultiplicativeDepth(depth)
        parameters.SetScalingModSize(bits)
        parameters.SetSecurityLevel(self.security)
        parameters.SetKeySwitchTechnique(openfhe.HYBRID)
        parameters.SetNumLargeDigits(min(self.digits, len(self.bits)))
        context = openfhe.GenCryptoContext(parameters)
        for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE):
            context.Enable(feature)
        return context

    def log2_q(self, context):
        return log2(context.GetModulus())

    def prepared(self):
        total = self.log2_q(self.context)
        limbs = round(total / (self.wanted / len(self.bits)))
        digit = ceil(limbs / self.digits) * total / limbs
        return {
            "data": [],
            "special": [],
            "log2_q": total,
            "limbs": limbs,
            "special_limbs": ceil(digit / SPECIAL_BITS),
            # It hides them; their number and length are known.
            "log2_qp": total + ceil(digit / SPECIAL_BITS) * SPECIAL_BITS,
            "security": None if self.security == openfhe.HEStd_NotSet else 128,
        }


def centred(value, t):
    return value - t if value > t // 2 else value


class Integers(Session):
    def __init__(self, request):
        self.t = request["plain_modulus"]
        super().__init__(request)
        generator = numpy.random.default_rng()
        self.count = 1 if request.get("encoding") == "scalar" else self.degree
        self.inputs = [generator.integers(0, self.t, self.count) for _ in range(2)]

    def encoded(self, values):
        if self.count == 1:
            # Plain values lie between -t/2 and t/2.
            return self.context.MakeCoefPackedPlaintext([centred(int(value), self.t) for value in values % self.t])
        return self.context.MakePackedPlaintext(values)

    def near(self, plain, expected):
        plain.SetLength(self.count)
        found = numpy.array(plain.GetCoefPackedValue() if self.count == 1 else plain.GetPackedValue())
        return bool(((found - expected) % self.t == 0).all())


class Bfv(Integers):
    def choices(self):
        sizes = {max(self.bits), round(self.wanted / len(self.bits))}
        return [(depth, bits) for bits in sizes for depth in range(len(self.bits) + 2)]

    def context_of(self, depth, bits, _):
        parameters = openfhe.CCParamsBFVRNS()
        parameters.SetPlaintextModulus(self.t)
        return self.filled(parameters, depth, bits)


class Bgv(Integers):
    def choices(self):
        return [(len(self.bits) - 1, self.bits[-1])]

    def context_of(self, depth, bits, _):
        parameters = openfhe.CCParamsBGVRNS()
        parameters.SetPlaintextModulus(self.t)
        parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
        parameters.SetFirstModSize(self.bits[0])
        return self.filled(parameters, depth, bits)


class Ckks(Session):
    def __init__(self, request):
        super().__init__(request)
        generator = numpy.random.default_rng()
        self.inputs = [generator.uniform(-1, 1, self.degree // 2) for _ in range(2)]

    def choices(self):
        return [(len(self.bits) - 1, self.bits[-1])]

    def context_of(self, depth, bits, _):
        parameters = openfhe.CCParamsCKKSRNS()
        parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
        parameters.SetFirstModSize(self.bits[0])
        parameters.SetBatchSize(self.degree // 2)
        return self.filled(parameters, depth, bits)

    def encoded(self, values):
        return self.context.MakeCKKSPackedPlaintext(values)

    def near(self, plain, expected):
        plain.SetLength(self.degree // 2)
        return bool((abs(numpy.array(plain.GetRealPackedValue()) - expected) < CLOSE).all())
