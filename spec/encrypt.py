"""Keys, encryption and phase, once for the three schemes: they differ in the error's factor f and in `inject`.

Ring-LWE encryption with a secret or a public key: Lyubashevsky-Peikert-Regev, ePrint 2012/230; in this form
"the basic scheme" of Fan-Vercauteren, ePrint 2012/144, section 3. Secrets, errors and the ternary u are lists of small
signed integers, masks come from seeds: both determine every bit.
"""

from spec.poly import Poly
from spec.scheme import Ciphertext


def zero_pair(scheme, secret, seed, error, primes, domain=0):
    """(-a*s + f*e, a), an encryption of zero under s: its phase is the noise f*e."""
    mask = scheme.mask(seed, domain, primes)
    s, e = Poly.from_integers(secret, primes), Poly.from_integers(error, primes)
    return [scheme.error_factor * e - mask * s, mask]


def public_key(scheme, secret, seed, error):
    """A zero pair over the whole basis, special primes too."""
    return zero_pair(scheme, secret, seed, error, scheme.whole_basis)


def encrypt_with_secret(scheme, message, secret, seed, error):
    level = scheme.top_level
    body, mask = zero_pair(scheme, secret, seed, error, scheme.basis(level))
    return Ciphertext(level, [body + scheme.inject(message, level), mask])


def encrypt_with_public(scheme, message, key, ternary, errors):
    """(b*u + f*e0 + inject(m), a*u + f*e1), in the data limbs of the public key (b, a)."""
    level = scheme.top_level
    basis = scheme.basis(level)
    body, mask = (part.over(basis) for part in key)
    u, e0, e1 = (Poly.from_integers(small, basis) for small in (ternary, *errors))
    first = body * u + scheme.error_factor * e0 + scheme.inject(message, level)
    return Ciphertext(level, [first, mask * u + scheme.error_factor * e1])


def phase(scheme, ciphertext, secret):
    """c0 + c1*s + c2*s^2 ..., by Horner's rule."""
    s = Poly.from_integers(secret, scheme.basis(ciphertext.level))
    total = ciphertext.components[-1]
    for component in reversed(ciphertext.components[:-1]):
        total = total * s + component
    return total


def decrypt(scheme, ciphertext, secret):
    return scheme.recover(ciphertext, phase(scheme, ciphertext, secret))
