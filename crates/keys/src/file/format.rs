//! The bytes of key files.

use alloc::string::ToString;
use alloc::vec::Vec;
use std::path::Path;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use super::cost::{COST, Cost};
use super::{KeyFile, KeyFileError, Protected, Protection, damaged};
use crate::plant_key::{NAME, PlantKey, PlantKeyName};

pub(super) const MAGIC: &[u8; 8] = b"sottokey";
const SALT: usize = 16;
const NONCE: usize = 24;
pub(super) const TAG: usize = 16;
pub(super) const DIGEST: usize = 32;
pub(super) const HEADER: usize = MAGIC.len() + 3;
pub(super) const OVERHEAD: usize = HEADER + NAME + COST + SALT + NONCE + TAG + DIGEST;

/// Place of the byte for the kind.
pub(super) const KIND: usize = MAGIC.len() + 1;

/// Place of the byte `protection`.
const PROTECTION: usize = KIND + 1;

/// Values of the byte `protection`.
pub(super) const IN_THE_CLEAR: u8 = 0;
const UNDER_FIXED_COST: u8 = 1;
const UNDER_STATED_COST: u8 = 2;
const UNDER_PLANT_KEY: u8 = 3;

/// Returns the protection that a file names; None if the bytes are not a key file of version 1.
pub(super) fn protected(bytes: &[u8]) -> Option<Protected> {
    if bytes.get(..MAGIC.len()) != Some(MAGIC) || bytes.get(MAGIC.len()) != Some(&1) {
        return None;
    }
    match *bytes.get(PROTECTION)? {
        IN_THE_CLEAR => Some(Protected::FileMode),
        UNDER_FIXED_COST | UNDER_STATED_COST => Some(Protected::Passphrase),
        UNDER_PLANT_KEY => {
            bytes.get(HEADER..)?.first_chunk().map(|name| Protected::PlantKey(PlantKeyName(*name)))
        }
        _ => None,
    }
}

impl KeyFile {
    /// Returns the bytes of a file of this kind; `path` names it in errors.
    pub(super) fn encode_for(
        self,
        path: &Path,
        secret: &[u8],
        protection: Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        if secret.len() > self.longest() {
            return Err(damaged(path, "would be longer than a key file of its kind may be"));
        }
        let mut bytes = Zeroizing::new(Vec::with_capacity(OVERHEAD + secret.len()));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[1, self as u8]);
        let failed = || damaged(path, "cannot be encrypted with this passphrase");
        let seal = |bytes: &mut Vec<u8>, cipher: &XChaCha20Poly1305, nonce: [u8; NONCE], name: &str| {
            bytes.extend_from_slice(&nonce);
            let payload = Payload { msg: secret, aad: &[bytes, name.as_bytes()].concat() };
            let sealed = cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| failed())?;
            bytes.extend_from_slice(&sealed);
            Ok(())
        };
        let mut nonce = [0; NONCE];
        rng.fill_bytes(&mut nonce);
        match protection {
            Protection::FileMode => {
                bytes.push(IN_THE_CLEAR);
                bytes.extend_from_slice(&self.public_name(secret));
                bytes.extend_from_slice(secret);
            }
            Protection::Passphrase(passphrase) => {
                bytes.push(UNDER_STATED_COST);
                bytes.extend_from_slice(&self.public_name(secret));
                bytes.extend_from_slice(&Cost::NEW.bytes());
                let mut salt = [0; SALT];
                rng.fill_bytes(&mut salt);
                bytes.extend_from_slice(&salt);
                let cipher = Cost::NEW.cipher(passphrase, &salt).ok_or_else(failed)?;
                seal(&mut bytes, &cipher, nonce, "")?;
            }
            Protection::PlantKey { key, name } => {
                bytes.push(UNDER_PLANT_KEY);
                bytes.extend_from_slice(&key.name().0);
                seal(&mut bytes, &key.file_cipher(), nonce, name)?;
            }
        }
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        Ok(bytes)
    }

    /// Returns the public name in a file of the kind `Plant`; nothing in others.
    fn public_name(self, secret: &[u8]) -> Vec<u8> {
        match <&[u8; 32]>::try_from(secret) {
            Ok(secret) if self == Self::Plant => PlantKey::from_bytes(secret).name().0.to_vec(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn parse_secret(
        self,
        bytes: &[u8],
        path: &Path,
        protection: Protection<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        if bytes.len() > self.largest() {
            return Err(damaged(path, "is too long to be a key file"));
        }
        let checked = bytes.len().checked_sub(DIGEST).filter(|end| *end >= HEADER);
        let Some(end) = checked else { return Err(damaged(path, "is too short to be a key file")) };
        let (body, digest) = bytes.split_at(end);
        if &body[..8] != MAGIC || body[8] != 1 {
            return Err(damaged(path, "is not a sotto key file of version 1"));
        }
        if blake3::hash(body)
            != *<&[u8; DIGEST]>::try_from(digest).map_err(|_| damaged(path, "is damaged"))?
        {
            return Err(damaged(path, "is damaged: its digest does not match"));
        }
        if body[KIND] != self as u8 {
            return Err(damaged(path, "holds another kind of key"));
        }
        let secret = self.open_body(body, path, protection)?;
        if self == Self::Plant && !body[HEADER..].starts_with(&self.public_name(&secret)) {
            return Err(damaged(path, "has the name of another plant's key"));
        }
        Ok(secret)
    }

    fn open_body(
        self,
        body: &[u8],
        path: &Path,
        protection: Protection<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        let refused = |reason| KeyFileError::Passphrase { path: path.display().to_string(), reason };
        let name = if self == Self::Plant { NAME } else { 0 };
        let rest = body.get(HEADER + name..).ok_or_else(|| damaged(path, "is damaged"))?;
        let (cost, rest) = match (body[PROTECTION], protection) {
            (IN_THE_CLEAR, Protection::FileMode) => return Ok(Zeroizing::new(rest.to_vec())),
            (IN_THE_CLEAR, Protection::Passphrase(_)) => {
                return Err(refused(
                    "is not under a passphrase, although one was given: somebody may have put it in the place of your own. If it is meant to be \
                     so, give no passphrase",
                ));
            }
            (IN_THE_CLEAR, Protection::PlantKey { .. }) => {
                return Err(refused(
                    "is in the clear, although the plant has a passphrase: somebody may have put it in the place of your own. If it is yours, \
                     run `sotto passphrase seal` with its name",
                ));
            }
            (UNDER_PLANT_KEY, Protection::PlantKey { key, name }) => {
                return open_sealed(body, path, key, name);
            }
            (UNDER_PLANT_KEY, _) => {
                return Err(refused(
                    "is sealed under the key of a plant: only `sotto` with this plant's passphrase opens it",
                ));
            }
            (UNDER_FIXED_COST, _) => (Cost::FIXED, rest),
            (UNDER_STATED_COST, _) => {
                let (cost, rest) =
                    rest.split_first_chunk::<COST>().ok_or_else(|| damaged(path, "is damaged"))?;
                let cost = Cost::read(cost);
                (cost.ok_or_else(|| damaged(path, "asks for more memory or time than a key file may"))?, rest)
            }
            _ => return Err(damaged(path, "is protected in a way that this version does not know")),
        };
        let Protection::Passphrase(passphrase) = protection else {
            return Err(refused("needs its passphrase"));
        };
        let (salt, sealed) = rest.split_first_chunk::<SALT>().ok_or_else(|| damaged(path, "is damaged"))?;
        if sealed.len() < NONCE + TAG {
            return Err(damaged(path, "is damaged"));
        }
        let cipher = cost.cipher(passphrase, salt);
        let opened = cipher.and_then(|cipher| decrypt(&cipher, body, sealed, ""));
        opened.ok_or_else(|| refused("does not open with this passphrase"))
    }
}

fn open_sealed(
    body: &[u8],
    path: &Path,
    key: &PlantKey,
    name: &str,
) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let refused = |reason| KeyFileError::Passphrase { path: path.display().to_string(), reason };
    let (of_key, sealed) =
        body[HEADER..].split_first_chunk::<NAME>().ok_or_else(|| damaged(path, "is damaged"))?;
    if PlantKeyName(*of_key) != key.name() {
        return Err(refused("is sealed under the key of another plant, or of an earlier one of this plant"));
    }
    decrypt(&key.file_cipher(), body, sealed, name).ok_or_else(|| {
        damaged(
            path,
            "does not open under this name: it is damaged, or the file of another secret is in its place",
        )
    })
}

/// Opens nonce and ciphertext at the end of a body; all bytes before the ciphertext and the name are associated data.
fn decrypt(cipher: &XChaCha20Poly1305, body: &[u8], sealed: &[u8], name: &str) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
    let payload =
        Payload { msg: sealed, aad: &[&body[..body.len() - sealed.len()], name.as_bytes()].concat() };
    cipher.decrypt(&XNonce::from(*nonce), payload).ok().map(Zeroizing::new)
}
