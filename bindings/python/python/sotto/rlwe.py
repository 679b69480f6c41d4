"""BFV, BGV and CKKS as they are: parameters, keys, encoders, evaluator, levels and noise.

For researchers. Nothing here chooses a modulus, a level or a scale for you; `sotto.Owner` does. The
classes are those of the Rust crates `sotto-rlwe`, `sotto-keys` and `sotto-decrypt`, with the same
names for the same operations.

>>> from sotto import rlwe
>>> parameters = rlwe.Parameters.default("bfv", 4096, plain_modulus=65537)
>>> secret, encoder = rlwe.SecretKey.generate(parameters), rlwe.Encoder(parameters)
>>> evaluator = rlwe.Evaluator(parameters)
>>> x = secret.encrypt(encoder.encode([20, -3]))
>>> y = evaluator.add(x, x)
>>> encoder.decode(secret.decrypt(y))[:2].tolist()
[40, -6]

`values` are NumPy arrays or sequences of one dimension. Contiguous int64 and float64 arrays are
read in place. Operations release the interpreter's lock.

All errors are `sotto.SottoError`:

- `WrongParameters`: parameters that are invalid, below the security level, or of another object;
- `WrongKeys`: operands under different keys, or a missing evaluation key;
- `WrongLevel`: operands whose levels, scales, factors or components do not go together;
- `OutOfDepth`: no prime left, or noise beyond the decryption limit;
- `OutOfRange`, `ShapeMismatch`: values that do not fit a plaintext;
- `NotTrusted`: decryption of bytes whose noise is only claimed;
- `BadBytes`: bytes that are damaged or of another object.

Unaudited: nobody outside the project has reviewed this code.
"""

from sotto._native.rlwe import (
    Addend,
    Ciphertext,
    Encoder,
    EvaluationKeys,
    Evaluator,
    Multiplier,
    Parameters,
    Plaintext,
    PublicKey,
    SecretKey,
    Shape,
    largest_modulus_bits,
)

__all__ = [
    "Addend",
    "Ciphertext",
    "Encoder",
    "EvaluationKeys",
    "Evaluator",
    "Multiplier",
    "Parameters",
    "Plaintext",
    "PublicKey",
    "SecretKey",
    "Shape",
    "largest_modulus_bits",
]
