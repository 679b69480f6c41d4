//! The encryption of kept readings: XChaCha20-Poly1305 under a key of the device, with random nonces.
//!
//! A file is `SKR1 ‖ length of the head 4 ‖ nonce 24 ‖ head and tag ‖ nonce 24 ‖ body and tag`. Associated data are the
//! device, the stream and the name of the file, and for the body the nonce of its head: no file stands in for another.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use rand_core::Rng as _;
use sotto_keys::{DeviceKeys, SigningIdentity};
use zeroize::Zeroizing;

const MAGIC: &[u8; 4] = b"SKR1";
const NONCE: usize = 24;
const TAG: usize = 16;
/// Bytes before the head.
const BEFORE: usize = MAGIC.len() + 4 + NONCE;
/// Maximum bytes of a head.
const LARGEST_HEAD: usize = 16 << 20;
/// Maximum bytes of a file.
const LARGEST: u64 = 512 << 20;

/// The key of a device's kept readings. Wiped when dropped.
#[derive(Clone)]
pub struct KeptKey(Zeroizing<[u8; 32]>);

impl KeptKey {
    /// Derives the key: from the secret of the device, or from its signing key if it has public keys only.
    #[must_use]
    pub fn derive(keys: &DeviceKeys, identity: &SigningIdentity) -> Self {
        let contexts = ("sotto kept readings v1", "sotto kept readings v1, public keys only");
        Self::of_context(contexts, keys, identity)
    }

    /// Derives the key of the readings that a gateway has accepted, and whose windows are open.
    #[cfg(feature = "gateway")]
    pub(crate) fn accepted(keys: &DeviceKeys, identity: &SigningIdentity) -> Self {
        let contexts = ("sotto accepted readings v1", "sotto accepted readings v1, public keys only");
        Self::of_context(contexts, keys, identity)
    }

    fn of_context(
        (of_secret, of_public): (&str, &str),
        keys: &DeviceKeys,
        identity: &SigningIdentity,
    ) -> Self {
        let (context, secret) = match keys {
            DeviceKeys::Secret(secret) => (of_secret, secret.expose_secret_bytes()),
            DeviceKeys::Public(_) => (of_public, identity.expose_secret_bytes()),
        };
        Self(Zeroizing::new(blake3::derive_key(context, secret)))
    }

    pub(crate) fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&(*self.0).into())
    }
}

/// The head and the body of a file. Wiped when dropped.
pub(super) type Parts = (Zeroizing<Vec<u8>>, Zeroizing<Vec<u8>>);

/// Names a file of kept readings.
#[derive(Clone, Copy)]
pub(super) struct Place<'n> {
    pub(super) device: &'n str,
    pub(super) stream: &'n str,
    pub(super) name: &'n str,
}

impl Place<'_> {
    /// Returns the associated data of a part.
    fn data(&self, part: &[u8]) -> Vec<u8> {
        let mut data = Vec::new();
        for text in [self.device.as_bytes(), self.stream.as_bytes(), self.name.as_bytes(), part] {
            data.extend_from_slice(&(text.len() as u64).to_le_bytes());
            data.extend_from_slice(text);
        }
        data
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it cannot be opened with the key of this device")
}

/// Encrypts head and body.
///
/// # Errors
/// There is no randomness, or they are too long.
pub(super) fn seal(key: &KeptKey, place: Place<'_>, head: &[u8], body: &[u8]) -> io::Result<Vec<u8>> {
    if head.len() > LARGEST_HEAD || (BEFORE + NONCE + 2 * TAG + head.len() + body.len()) as u64 > LARGEST {
        return Err(io::Error::other("a window has too many readings to be kept"));
    }
    let mut rng = sotto_ring::secure_rng().map_err(|error| io::Error::other(error.to_string()))?;
    let mut nonces = [[0; NONCE]; 2];
    nonces.iter_mut().for_each(|nonce| rng.fill_bytes(nonce));
    let part = |nonce: [u8; NONCE], msg: &[u8], part: &[u8]| {
        let aad = &place.data(part);
        key.cipher().encrypt(&XNonce::from(nonce), Payload { msg, aad }).map_err(|_| damaged())
    };
    let (sealed, rest) = (part(nonces[0], head, b"head")?, part(nonces[1], body, &nonces[0])?);
    let length = (sealed.len() as u32).to_le_bytes();
    Ok([&MAGIC[..], &length, &nonces[0], &sealed, &nonces[1], &rest].concat())
}

/// Reads and decrypts the head of a file, and the body if it is asked for.
///
/// # Errors
/// The file cannot be read, or is not of this key and place.
pub(super) fn open(key: &KeptKey, place: Place<'_>, path: &Path, with_body: bool) -> io::Result<Parts> {
    let mut file = File::open(path)?;
    let mut before = [0; BEFORE];
    file.read_exact(&mut before)?;
    let length = u32::from_le_bytes([before[4], before[5], before[6], before[7]]) as usize;
    if &before[..4] != MAGIC || length > LARGEST_HEAD + TAG {
        return Err(damaged());
    }
    let mut sealed = Vec::new();
    file.by_ref().take(length as u64).read_to_end(&mut sealed)?;
    let nonce: [u8; NONCE] = before[8..].try_into().map_err(|_| damaged())?;
    let part = |nonce: [u8; NONCE], msg: &[u8], part: &[u8]| {
        let aad = &place.data(part);
        let opened = key.cipher().decrypt(&XNonce::from(nonce), Payload { msg, aad });
        opened.map(Zeroizing::new).map_err(|_| damaged())
    };
    let head = part(nonce, &sealed, b"head")?;
    if !with_body {
        return Ok((head, Zeroizing::default()));
    }
    let mut rest = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut rest)?;
    let (second, body) = rest.split_first_chunk::<NONCE>().ok_or_else(damaged)?;
    if rest.len() as u64 > LARGEST {
        return Err(damaged());
    }
    Ok((head, part(*second, body, &nonce)?))
}
