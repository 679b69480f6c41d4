"""Several private keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sotto.paillier._number import EncryptedNumber
from sotto.paillier._private import PaillierPrivateKey
from sotto.paillier._public import PaillierPublicKey


class PaillierPrivateKeyring(Mapping[PaillierPublicKey, PaillierPrivateKey]):
    """Private keys by their public keys: a mapping with `add` and `del`."""

    def __init__(self, private_keys: Iterable[PaillierPrivateKey] = ()) -> None:
        """Take some keys."""
        self._keys: dict[PaillierPublicKey, PaillierPrivateKey] = {}
        for key in private_keys or ():
            self.add(key)

    def add(self, private_key: PaillierPrivateKey) -> None:
        """Add a key."""
        if not isinstance(private_key, PaillierPrivateKey):
            raise TypeError(f"add takes a PaillierPrivateKey, not a {type(private_key).__name__}")
        self._keys[private_key.public_key] = private_key

    def decrypt(self, encrypted_number: EncryptedNumber) -> float:
        """Decrypt with the key of the number.

        Raises:
            KeyError: the ring does not hold it.
        """
        return self._keys[encrypted_number.public_key].decrypt(encrypted_number)

    def __getitem__(self, key: PaillierPublicKey) -> PaillierPrivateKey:
        """Return the private key of a public key."""
        return self._keys[key]

    def __delitem__(self, key: PaillierPublicKey) -> None:
        """Remove the private key of a public key."""
        del self._keys[key]

    def __iter__(self) -> Iterator[PaillierPublicKey]:
        """Iterate over the public keys."""
        return iter(self._keys)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._keys)
