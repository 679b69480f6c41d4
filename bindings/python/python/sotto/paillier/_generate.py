"""New keys."""

from __future__ import annotations

from sotto._native import paillier as native
from sotto.paillier._keyring import PaillierPrivateKeyring
from sotto.paillier._private import PaillierPrivateKey
from sotto.paillier._public import DEFAULT_KEYSIZE, PaillierPublicKey


def generate_paillier_keypair(
    private_keyring: PaillierPrivateKeyring | None = None, n_length: int = DEFAULT_KEYSIZE
) -> tuple[PaillierPublicKey, PaillierPrivateKey]:
    """Generate a key of 2048, 3072 or 4096 bits, and add it to a keyring if one is given."""
    return _pair(native.PrivateKey.generate(n_length), private_keyring)


def insecure_generate_paillier_keypair(
    private_keyring: PaillierPrivateKeyring | None = None, n_length: int = 256
) -> tuple[PaillierPublicKey, PaillierPrivateKey]:
    """Generate a key of at least 256 bits, a multiple of 128, for tests."""
    return _pair(native.PrivateKey.insecure_generate(n_length), private_keyring)


def _pair(
    inner: native.PrivateKey, keyring: PaillierPrivateKeyring | None
) -> tuple[PaillierPublicKey, PaillierPrivateKey]:
    public = PaillierPublicKey._of_native(inner.public_key)
    private = PaillierPrivateKey._of(public, inner)
    if keyring is not None:
        keyring.add(private)
    return public, private
