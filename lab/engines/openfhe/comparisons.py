"""Compares encrypted readings with a limit, in the three ways of OpenFHE's wheel. Each makes its own parameters, for
the 128 bits of OpenFHE's table, and its own keys."""

import os
import subprocess
import tempfile
from math import ceil, log2
from time import perf_counter_ns, process_time_ns

import openfhe

from conversation import Unsupported

# Readings in one evaluation of `switch`. Nearly all of its time is a bootstrapping for each of them.
SWITCHED = 16
# Levels that comparing and switching back take from a fresh ciphertext.
SWITCH_DEPTH = 12
# n of `table-bootstrap`: its modulus of some 1,600 bits needs it.
BOOTSTRAP_DEGREE = 1 << 16
# The noise that FHEW's decryption tolerates.
BETA = 128


def evaluations(request, batch, encrypt, run, decrypt):
    """Encrypts batches of readings, runs the comparison on them, decrypts; returns the fields of the reply that all
    methods share, and the last operand and answer."""
    readings, answers, taken, processor, i = request["readings"], [], [], [], 0
    while i < request["most"] and (i < request["least"] or sum(taken) < request["seconds"] * 1e6):
        operand = encrypt([readings[(i * batch + k) % len(readings)] for k in range(batch)])
        begin, busy = perf_counter_ns(), process_time_ns()
        answer = run(operand)
        taken.append((perf_counter_ns() - begin) / 1000)
        processor.append((process_time_ns() - busy) / 1000)
        if len(answers) < len(readings):
            answers += decrypt(answer)
        i += 1
    found = answers[: len(readings)]
    return {"batch": batch, "answers": found, "microseconds": taken, "processor": processor}, operand, answer


def written(*writes):
    """Returns the bytes that functions write to the file that they are given, a pipe: keys may take gigabytes."""
    total = 0
    for write in writes:
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            with open(os.devnull) as nothing, subprocess.Popen(
                ["sh", "-c", 'wc -c < "$0"', pipe], stdin=nothing, stdout=subprocess.PIPE, text=True
            ) as counter:
                if not write(pipe):
                    raise ValueError("an object could not be written")
                total += int(counter.stdout.read())
    return total


def whole(request):
    """Returns the largest distance of two readings, and the limit, if both are whole."""
    if request.get("gap") or request["limit"] % 1:
        raise Unsupported
    least, largest = request["range"]
    return int(largest - least), int(request["limit"])


def lwe_sign(request):
    """The sign of c − x by bootstrapping, one LWE ciphertext for a reading. The wheel has no sum of LWE ciphertexts and
    numbers: the limit is subtracted before encryption."""
    width, limit = whole(request)
    # The plaintext space is 16 · 2^log2(Q) / q, and a difference needs twice its range: with q = 4096, Q = 2^9 · range.
    modulus_bits = 9 + (width + 1).bit_length() - 1
    context = openfhe.BinFHEContext()
    context.GenerateBinFHEContext(openfhe.STD128, False, modulus_bits, 0, openfhe.GINX, False)
    secret = context.KeyGen()
    context.BTKeyGen(secret)
    modulus = 1 << modulus_bits
    space = context.GetMaxPlaintextSpace() * modulus // context.Getq()
    if space < 2 * (width + 1):
        raise ValueError(f"a plaintext space of {space} is too small for differences of {width}")
    reply, operand, answer = evaluations(
        request,
        1,
        lambda values: context.Encrypt(secret, int(limit - values[0]) % space, openfhe.FRESH, space, modulus),
        context.EvalSign,
        lambda answer: [context.Decrypt(secret, answer, 2)],
    )
    save = lambda one: lambda path: openfhe.SerializeToFile(path, one, openfhe.BINARY)
    return {
        **reply,
        "scheme": "fhew",
        "n": context.GetN(),
        "security": 128,
        "exact": True,
        "parameters": f"LWE dimension {context.Getn()}, modulus 2^{modulus_bits}, limit subtracted before encryption",
        "bytes_readings": written(save(operand)),
        "bytes_answer": written(save(answer)),
        "bytes_keys": written(save(context.GetBTKey())),
    }


def switch(request):
    """CKKS to FHEW, the sign of c − x by bootstrapping, and back to CKKS."""
    (least, largest), limit, gap = request["range"], request["limit"], request.get("gap")
    if not gap:
        limit, gap = limit + 0.5, 0.5
    # Differences are scaled so that the gap is 1: then 2^pieces is above the largest, and the noise below half a gap.
    pieces = ceil(log2((largest - least) / gap))
    modulus_bits = pieces + 1 + (2 * BETA).bit_length() - 1
    parameters = openfhe.CCParamsCKKSRNS()
    parameters.SetMultiplicativeDepth(SWITCH_DEPTH)
    parameters.SetScalingModSize(50)
    parameters.SetFirstModSize(60)
    parameters.SetScalingTechnique(openfhe.FLEXIBLEAUTO)
    parameters.SetSecurityLevel(openfhe.HEStd_128_classic)
    parameters.SetSecretKeyDist(openfhe.UNIFORM_TERNARY)
    parameters.SetKeySwitchTechnique(openfhe.HYBRID)
    parameters.SetNumLargeDigits(5)
    parameters.SetBatchSize(SWITCHED)
    context = openfhe.GenCryptoContext(parameters)
    enable(context, openfhe.SCHEMESWITCH)
    pair = context.KeyGen()
    between = openfhe.SchSwchParams()
    between.SetSecurityLevelCKKS(openfhe.HEStd_128_classic)
    between.SetSecurityLevelFHEW(openfhe.STD128)
    between.SetCtxtModSizeFHEWLargePrec(modulus_bits)
    between.SetNumSlotsCKKS(SWITCHED)
    between.SetNumValues(SWITCHED)
    secret = context.EvalSchemeSwitchingSetup(between)
    fhew = context.GetBinCCForSchemeSwitch()
    fhew.BTKeyGen(secret)
    context.EvalSchemeSwitchingKeyGen(pair, secret)
    space = (1 << modulus_bits) // (2 * BETA)
    context.EvalCompareSwitchPrecompute(space, 1 / gap)
    encoded = lambda values: context.MakeCKKSPackedPlaintext([float(v) for v in values], 1, 0, None, SWITCHED)
    limits = context.Encrypt(pair.publicKey, encoded([limit] * SWITCHED))

    def decrypt(answer):
        plain = context.Decrypt(pair.secretKey, answer)
        plain.SetLength(SWITCHED)
        return plain.GetRealPackedValue()

    reply, operand, answer = evaluations(
        request,
        SWITCHED,
        lambda values: context.Encrypt(pair.publicKey, encoded(values)),
        lambda operand: context.EvalCompareSchemeSwitching(limits, operand, SWITCHED, SWITCHED, space, 1 / gap),
        decrypt,
    )
    return {
        **reply,
        "scheme": "ckks+fhew",
        "n": context.GetRingDimension(),
        "security": 128,
        "exact": False,
        "parameters": f"depth {SWITCH_DEPTH}; FHEW: N = {fhew.GetN()}, LWE dimension {fhew.Getn()}, "
        f"modulus 2^{modulus_bits}",
        "bytes_readings": len(openfhe.Serialize(operand, openfhe.BINARY)),
        "bytes_answer": len(openfhe.Serialize(answer, openfhe.BINARY)),
        "bytes_keys": written(
            lambda path: openfhe.SerializeToFile(path, fhew.GetBTKey(), openfhe.BINARY),
            lambda path: context.SerializeEvalMultKey(path, openfhe.BINARY, ""),
            lambda path: context.SerializeEvalAutomorphismKey(path, openfhe.BINARY, ""),
        ),
    }


def table_bootstrap(request):
    """A table over all readings by functional bootstrapping: RLWE coefficients to CKKS, and back."""
    width, limit = whole(request)
    least = int(request["range"][0])
    bits = width.bit_length()
    if bits > 8:
        raise Unsupported
    space, modulus_bits, scale, order, budget = 1 << bits, 47, 32, 1, [3, 3]
    modulus, fresh = 1 << modulus_bits, 1 << 60
    degree, slots = BOOTSTRAP_DEGREE, BOOTSTRAP_DEGREE // 2
    above = lambda value: int(value % space + least > limit)
    coefficients = openfhe.GetHermiteTrigCoefficients(above, space, order, scale)
    sparse = openfhe.SPARSE_ENCAPSULATED
    depth = openfhe.CryptoContext.GetFBTDepth(budget, coefficients, space, order, sparse)
    parameters = openfhe.CCParamsCKKSRNS()
    parameters.SetSecretKeyDist(sparse)
    parameters.SetSecurityLevel(openfhe.HEStd_128_classic)
    parameters.SetScalingModSize(modulus_bits)
    parameters.SetFirstModSize(modulus_bits)
    parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
    parameters.SetNumLargeDigits(3)
    parameters.SetBatchSize(slots)
    parameters.SetRingDim(degree)
    parameters.SetMultiplicativeDepth(depth)
    context = openfhe.GenCryptoContext(parameters)
    enable(context, openfhe.FHE)
    pair = context.KeyGen()
    context.EvalFBTSetup(coefficients, slots, space, 2, modulus, pair.publicKey, [0, 0], budget, 0, 0, order)
    context.EvalBootstrapKeyGen(pair.secretKey, slots)
    context.EvalMultKeyGen(pair.secretKey)
    small = openfhe.SchemeletRLWEMP
    elements = small.GetElementParams(pair.secretKey, depth)
    first = small.GetQPrime(pair.publicKey, 0)

    def encrypt(values):
        ciphertext = small.EncryptCoeff([v - least for v in values], fresh, space, pair.secretKey, elements)
        small.ModSwitch(ciphertext, modulus, fresh)
        return ciphertext

    def run(operand):
        inside = small.ConvertRLWEToCKKS(context, operand, pair.publicKey, modulus, slots, depth)
        answer = context.EvalFBT(inside, coefficients, bits, first, scale, 0, order)
        return small.ConvertCKKSToRLWE(answer, modulus)

    def decrypt(answer):
        found = small.DecryptCoeff(answer, modulus, 2, pair.secretKey, elements, slots, degree)
        return [value % 2 for value in found]

    reply, _, _ = evaluations(request, degree, encrypt, run, decrypt)
    # The wheel writes no RLWE ciphertexts: two polynomials modulo 2^47.
    bytes_ciphertext = 2 * degree * modulus_bits // 8
    return {
        **reply,
        "scheme": "rlwe+ckks",
        "n": degree,
        "security": 128,
        "exact": True,
        "parameters": f"depth {depth}, scale 2^{modulus_bits}, sparse secret, encapsulated",
        "bytes_readings": bytes_ciphertext,
        "bytes_answer": bytes_ciphertext,
        "bytes_keys": written(
            lambda path: context.SerializeEvalMultKey(path, openfhe.BINARY, ""),
            lambda path: context.SerializeEvalAutomorphismKey(path, openfhe.BINARY, ""),
        ),
    }


def enable(context, last):
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE, openfhe.ADVANCEDSHE, last):
        context.Enable(feature)


METHODS = {"lwe-sign": lwe_sign, "switch": switch, "table-bootstrap": table_bootstrap}
