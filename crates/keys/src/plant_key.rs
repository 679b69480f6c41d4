//! The key of a plant, which seals its other secrets.

use core::fmt;

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit;
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

/// Bytes of a plant key's public name.
pub(crate) const NAME: usize = 16;

/// The public name of a plant's key. Tells which key sealed a file, and nothing about the key.
///
/// Example: [`PlantKey`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlantKeyName(pub [u8; NAME]);

impl fmt::Display for PlantKeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A random key of 32 bytes that seals the secrets of a plant. It stands in a file of its own under a passphrase, so that
/// the passphrase's costly derivation happens once and not for each secret.
///
/// ```
/// use sotto_keys::{KeyFile, PlantKey, Protection};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("plant-key");
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = PlantKey::generate(&mut rng);
/// let protection = Protection::Passphrase("correct horse");
/// KeyFile::Plant.write(&path, key.expose_secret_bytes(), &protection, &mut rng)?;
/// assert_eq!(PlantKey::name_of(&std::fs::read(&path)?), Some(key.name())); // public: without the passphrase
/// let opened = PlantKey::from_bytes(&*KeyFile::Plant.read(&path, Some("correct horse"))?);
/// assert_eq!(opened.name(), key.name());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct PlantKey {
    bytes: Zeroizing<[u8; 32]>,
}

impl PlantKey {
    /// Draws a key.
    pub fn generate(rng: &mut impl SecretRng) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        rng.fill_bytes(bytes.as_mut_slice());
        Self { bytes }
    }

    /// Makes the key of these secret bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self { bytes: Zeroizing::new(*bytes) }
    }

    /// Returns the secret bytes. Anybody who has them can open every secret of the plant.
    pub fn expose_secret_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Returns the public name.
    pub fn name(&self) -> PlantKeyName {
        let name = self.derived("sotto plant key name v1");
        let mut public = [0; NAME];
        public.copy_from_slice(&name[..NAME]);
        PlantKeyName(public)
    }

    /// Returns the name in a file of the kind [`KeyFile::Plant`](crate::KeyFile::Plant); None for other files. The file is
    /// not opened, and its digest is not checked.
    pub fn name_of(file: &[u8]) -> Option<PlantKeyName> {
        use crate::file::{KeyFile, NAME_AT};
        let is_plant = KeyFile::of(file) == Some(KeyFile::Plant);
        let name = file.get(NAME_AT..)?.first_chunk()?;
        is_plant.then_some(PlantKeyName(*name))
    }

    /// Returns a key for another purpose. `context` is hard-coded, and unique in the world.
    pub fn derived(&self, context: &'static str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(blake3::derive_key(context, self.bytes.as_slice()))
    }

    /// Returns the cipher of key files.
    pub(crate) fn file_cipher(&self) -> XChaCha20Poly1305 {
        let key = self.derived("sotto key file under a plant key v1");
        XChaCha20Poly1305::new(&(*key).into())
    }
}
