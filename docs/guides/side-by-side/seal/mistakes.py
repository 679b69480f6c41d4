"""How SEAL answers to four mistakes in the program beside this file."""

import tenseal.sealapi as seal

from side_by_side import SCALE, W, X, new_context


def encrypted(context, generator, values):
    plain, ciphertext, public = seal.Plaintext(), seal.Ciphertext(), seal.PublicKey()
    generator.create_public_key(public)
    seal.CKKSEncoder(context).encode(values, SCALE, plain)
    seal.Encryptor(context, public).encrypt(plain, ciphertext)
    return ciphertext


def first(context, secret, ciphertext):
    plain = seal.Plaintext()
    seal.Decryptor(context, secret).decrypt(ciphertext, plain)
    return seal.CKKSEncoder(context).decode_double(plain)[0]


def attempt(name, mistake):
    try:
        print(f"{name}: answers {mistake():.4g}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")


def main():
    context = new_context()
    generator = seal.KeyGenerator(context)
    evaluator, relin, galois = seal.Evaluator(context), seal.RelinKeys(), seal.GaloisKeys()
    generator.create_relin_keys(relin)
    generator.create_galois_keys([pow(3, 4, 16384)], galois)
    secret = generator.secret_key()

    def powers(values, squarings):
        x = encrypted(context, generator, values)
        for _ in range(squarings):
            evaluator.square_inplace(x)
            evaluator.relinearize_inplace(x, relin)
            evaluator.rescale_to_next_inplace(x)
        return first(context, secret, x)

    def rotated():
        x, turned = encrypted(context, generator, X), seal.Ciphertext()
        evaluator.rotate_vector(x, 2, galois, turned)
        return first(context, secret, turned)

    def another_key():
        return first(context, seal.KeyGenerator(context).secret_key(), encrypted(context, generator, X))

    def levels():
        x, w = encrypted(context, generator, X), encrypted(context, generator, W)
        evaluator.square_inplace(x)
        evaluator.rescale_to_next_inplace(x)
        evaluator.add_inplace(x, w)
        return first(context, secret, x)

    attempt("a product too many", lambda: powers(X, 3))
    attempt("a rotation without its key", rotated)
    attempt("18.25² + 0.05 without aligning levels", levels)
    attempt("1000⁴ = 1e12, beyond the last prime", lambda: powers([1000.0] * 8, 2))
    attempt("another secret key, of 18.25", another_key)


if __name__ == "__main__":
    main()
