//! Documents sealed under a device's secret: only its owner, or the device itself, can open them.

use alloc::vec::Vec;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::DeviceSecret;

const NONCE: usize = 24;

impl DeviceSecret {
    /// Seals a document: a random nonce of 24 bytes, then the document under XChaCha20-Poly1305. `name` is what it is
    /// about, and is not hidden: it opens only under the same name.
    ///
    /// ```
    /// use sotto_keys::DeviceSecret;
    ///
    /// let boiler = DeviceSecret::from_bytes(&[7; 32]);
    /// let sealed = boiler.seal("boiler", b"{}", &mut sotto_ring::secure_rng()?);
    /// assert_eq!(boiler.open("boiler", &sealed).as_deref(), Some(&b"{}"[..]));
    /// assert_eq!(boiler.open("cellar", &sealed), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn seal(&self, name: &str, document: &[u8], rng: &mut impl SecretRng) -> Vec<u8> {
        let mut nonce = [0; NONCE];
        rng.fill_bytes(&mut nonce);
        let payload = Payload { msg: document, aad: name.as_bytes() };
        // It fails only for documents of more than 256 GiB.
        let sealed = self.sealing_cipher().encrypt(&XNonce::from(nonce), payload).unwrap_or_default();
        [&nonce[..], &sealed].concat()
    }

    /// Opens a document. Returns None if it was sealed under another secret or another name, or was changed.
    pub fn open(&self, name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: name.as_bytes() };
        self.sealing_cipher().decrypt(&XNonce::from(*nonce), payload).ok()
    }

    fn sealing_cipher(&self) -> XChaCha20Poly1305 {
        let key = Zeroizing::new(blake3::derive_key("sotto sealed document v1", self.expose_secret_bytes()));
        XChaCha20Poly1305::new(&(*key).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_opens_what_is_unchanged() {
        let mut rng = sotto_ring::secure_rng().expect("randomness");
        let secret = DeviceSecret::from_bytes(&[1; 32]);
        for document in [&b""[..], b"one", &[9; 70_000]] {
            let sealed = secret.seal("boiler", document, &mut rng);
            assert_eq!(secret.open("boiler", &sealed).as_deref(), Some(document));
            assert_eq!(DeviceSecret::from_bytes(&[2; 32]).open("boiler", &sealed), None);
            assert_eq!(secret.open("boile", &sealed), None);
            for length in (0..sealed.len()).step_by(1 + sealed.len() / 200) {
                assert_eq!(secret.open("boiler", &sealed[..length]), None, "{length}");
            }
            for at in (0..sealed.len()).step_by(1 + sealed.len() / 200) {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert_eq!(secret.open("boiler", &changed), None, "{at}");
            }
        }
        assert_ne!(secret.seal("boiler", b"one", &mut rng), secret.seal("boiler", b"one", &mut rng));
    }
}
