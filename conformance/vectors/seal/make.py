"""Makes the files of this folder with Microsoft SEAL, as the TenSEAL wheel has it: `python make.py FOLDER`. Each run makes new keys,
so all files are made together. Sets with key switching are small and insecure."""

import sys
from pathlib import Path

import tenseal
import tenseal.sealapi as seal

# The wheel's list of schemes has no name for BGV.
BGV = 3

# (name, scheme, degree, bits of the primes, plain modulus, generator of the seeds)
SETS = [
    ("bfv1024", seal.SCHEME_TYPE.BFV, 1024, None, 12289, None),
    ("bfv1024shake", seal.SCHEME_TYPE.BFV, 1024, [27], 12289, seal.Shake256PRNGFactory()),
    ("bfv128chain", seal.SCHEME_TYPE.BFV, 128, [40, 40, 41], 257, None),
    ("ckks128chain", seal.SCHEME_TYPE.CKKS, 128, [45, 30, 46], None, None),
    ("bgv128single", BGV, 128, [59], 257, None),
]
SCALE = 2.0**30


def serialised(made):
    """The object with its seed, which can only be saved, if the wheel supports it."""
    try:
        return made()
    except TypeError:
        return None


def public_key(keys):
    public = seal.PublicKey()
    keys.create_public_key(public)
    return public


def make(folder, name, scheme, degree, bits, plain, generator):
    def save(kind, what):
        if what is not None:
            what.save(str(folder / f"{name}.{kind}"))

    levels = seal.SEC_LEVEL_TYPE
    parameters = seal.EncryptionParameters(scheme)
    parameters.set_poly_modulus_degree(degree)
    primes = seal.CoeffModulus.Create(degree, bits) if bits else seal.CoeffModulus.BFVDefault(degree, levels.TC128)
    parameters.set_coeff_modulus(primes)
    if plain:
        parameters.set_plain_modulus(plain)
    if generator:
        parameters.set_random_generator(generator)
    context = seal.SEALContext(parameters, True, levels.NONE if bits else levels.TC128)
    assert context.parameters_set(), context.parameters_error_message()
    keys = seal.KeyGenerator(context)
    secret = keys.secret_key()
    save("parameters", parameters)
    save("secret-key", secret)
    encoded = seal.Plaintext()
    if plain:
        seal.BatchEncoder(context).encode([i % plain for i in range(degree)], encoded)
    else:
        seal.CKKSEncoder(context).encode([i / 8 for i in range(degree // 2)], SCALE, encoded)
    encryptor = seal.Encryptor(context, secret)
    save("seeded", encryptor.encrypt_symmetric(encoded))
    if name == "bfv1024":
        save("plaintext", encoded)
        save("public-key", public_key(keys))
    if name == "ckks128chain":
        save("plaintext", encoded)
    if name == "bgv128single":
        encryptor.set_public_key(public_key(keys))
        fresh, product = seal.Ciphertext(), seal.Ciphertext()
        encryptor.encrypt(encoded, fresh)
        seal.Evaluator(context).multiply(fresh, fresh, product)
        save("product", product)
    if bits and len(bits) > 1:
        save("relinearisation", serialised(keys.create_relin_keys))
        save("galois", serialised(lambda: keys.create_galois_keys([3])))


def make_tenseal(folder):
    """Objects in TenSEAL's own format, without a secret key."""
    context = tenseal.context(tenseal.SCHEME_TYPE.CKKS, 2048, coeff_mod_bit_sizes=[27, 27])
    context.global_scale = 2.0**20
    keys = ["save_public_key", "save_secret_key", "save_galois_keys", "save_relin_keys"]
    (folder / "tenseal.context").write_bytes(context.serialize(**{key: False for key in keys}))
    (folder / "tenseal.vector").write_bytes(tenseal.ckks_vector(context, [0.5, 0.25]).serialize())


def main():
    folder = Path(sys.argv[1])
    make_tenseal(folder)
    for chosen in SETS:
        make(folder, *chosen)
    parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.BFV)
    parameters.set_poly_modulus_degree(4096)
    parameters.set_coeff_modulus(seal.CoeffModulus.BFVDefault(4096, seal.SEC_LEVEL_TYPE.TC128))
    parameters.set_plain_modulus(1032193)
    parameters.save(str(folder / "bfv4096.parameters"))


if __name__ == "__main__":
    main()
