"""A weighted sum of squares of eight encrypted readings with Microsoft SEAL, by the classes of its C++ interface."""

import os
import time

# [program
import tenseal.sealapi as seal

SCALE = 2.0**40


def new_context():
    parameters = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parameters.set_poly_modulus_degree(8192)
    parameters.set_coeff_modulus(seal.CoeffModulus.Create(8192, [60, 40, 40, 60]))
    return seal.SEALContext(parameters, True, seal.SEC_LEVEL_TYPE.TC128)


def keys(context):
    """The owner makes keys, and sends the public ones."""
    generator = seal.KeyGenerator(context)
    generator.create_relin_keys().save("relin")
    generator.create_galois_keys([pow(3, step, 16384) for step in (4, 2, 1)]).save("galois")
    return generator.secret_key()


def encrypt(context, secret, **vectors):
    """The device encrypts."""
    encryptor, encoder, plain = seal.Encryptor(context, secret), seal.CKKSEncoder(context), seal.Plaintext()
    for name, values in vectors.items():
        encoder.encode(values, SCALE, plain)
        encryptor.encrypt_symmetric(plain).save(name)


def compute(context):
    """The cloud computes."""
    relin, galois, x, w = seal.RelinKeys(), seal.GaloisKeys(), seal.Ciphertext(), seal.Ciphertext()
    for item, name in (relin, "relin"), (galois, "galois"), (x, "x"), (w, "w"):
        item.load(context, name)
    evaluator, twenty, turned = seal.Evaluator(context), seal.Plaintext(), seal.Ciphertext()
    seal.CKKSEncoder(context).encode(20.0, SCALE, twenty)
    evaluator.sub_plain_inplace(x, twenty)
    evaluator.square_inplace(x)
    evaluator.relinearize_inplace(x, relin)
    evaluator.rescale_to_next_inplace(x)
    evaluator.mod_switch_to_inplace(w, x.parms_id())
    evaluator.multiply_inplace(x, w)
    evaluator.relinearize_inplace(x, relin)
    evaluator.rescale_to_next_inplace(x)
    for step in 4, 2, 1:
        evaluator.rotate_vector(x, step, galois, turned)
        evaluator.add_inplace(x, turned)
    x.save("answer")


def decrypt(context, secret):
    """The owner decrypts."""
    answer, plain = seal.Ciphertext(), seal.Plaintext()
    answer.load(context, "answer")
    seal.Decryptor(context, secret).decrypt(answer, plain)
    return seal.CKKSEncoder(context).decode_double(plain)[0]
# program]


X = [18.25, 19.5, 20.75, 21.0, 22.4, 23.85, -3.1, 20.0]
W = [0.05, 0.1, 0.15, 0.2, 0.2, 0.15, 0.1, 0.05]


def main():
    seconds = []

    def timed(step, *arguments, **named):
        start = time.perf_counter()
        result = step(*arguments, **named)
        seconds.append(time.perf_counter() - start)
        return result

    def owner():
        context = new_context()
        return context, keys(context)

    context, secret = timed(owner)
    timed(encrypt, context, secret, x=X, w=W)
    timed(lambda: compute(new_context()))
    found = timed(decrypt, context, secret)
    exact = sum(w * (x - 20) ** 2 for x, w in zip(X, W))
    size = os.path.getsize
    sizes = [size("relin") + size("galois"), size("x"), size("w"), size("answer")]
    print("bytes   keys {}, x {}, w {}, answer {}".format(*sizes))
    print("seconds keys {:.4f}, encrypt {:.4f}, cloud {:.4f}, decrypt {:.4f}".format(*seconds))
    print(f"answer  {found:.6f}, exact {exact:.6f}, error {abs(found - exact):.1e}")


if __name__ == "__main__":
    main()
