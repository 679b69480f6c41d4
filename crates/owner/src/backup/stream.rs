//! The chunks of a segment: STREAM over XChaCha20-Poly1305 (Hoang and others, ePrint 2015/189).

use std::io::{self, Read, Write};

use aead_stream::{DecryptorBE32, EncryptorBE32};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit as _;
use zeroize::Zeroizing;

use super::head::{NONCE, PLANT, SALT};
use sotto_keys::PlantKey;

/// Bytes of a chunk before it is encrypted.
const CHUNK: usize = 64 << 10;

const TAG: usize = 16;

/// The keys of one backup.
pub(super) struct Keys {
    chunks: Zeroizing<[u8; 32]>,
    lists: Zeroizing<[u8; 32]>,
}

impl Keys {
    /// Derives the keys of a plant's backup with this salt from the key in its head.
    pub(super) fn new(key: &PlantKey, plant: &[u8; PLANT], salt: &[u8; SALT]) -> Self {
        let head = [&plant[..], salt].concat();
        let file = Zeroizing::new(*blake3::keyed_hash(&key.derived("sotto backup v1"), &head).as_bytes());
        let derived = |context| Zeroizing::new(blake3::derive_key(context, file.as_slice()));
        Self { chunks: derived("sotto backup chunks v1"), lists: derived("sotto backup lists v1") }
    }

    /// Returns the keyed digest of a list.
    pub(super) fn digest(&self, list: &[u8]) -> [u8; 32] {
        blake3::keyed_hash(&self.lists, list).into()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&(*self.chunks).into())
    }
}

/// Encrypts the bytes written to it.
pub(super) struct Sealer<W> {
    out: W,
    encryptor: EncryptorBE32<XChaCha20Poly1305>,
    associated: Vec<u8>,
    chunk: Zeroizing<Vec<u8>>,
    written: u64,
}

impl<W: Write> Sealer<W> {
    pub(super) fn new(out: W, keys: &Keys, nonce: &[u8; NONCE], associated: Vec<u8>) -> Self {
        let encryptor = EncryptorBE32::from_aead(keys.cipher(), &(*nonce).into());
        let chunk = Zeroizing::new(Vec::with_capacity(CHUNK + TAG));
        Self { out, encryptor, associated, chunk, written: 0 }
    }

    /// Writes the last chunk. Returns the number of bytes of all.
    pub(super) fn finish(mut self) -> io::Result<(W, u64)> {
        let sealed = self.encryptor.encrypt_last_in_place(&self.associated, &mut *self.chunk);
        sealed.map_err(io::Error::other)?;
        self.out.write_all(&self.chunk)?;
        self.out.flush()?;
        Ok((self.out, self.written + self.chunk.len() as u64))
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk waits, as it may be the last.
        if self.chunk.len() == CHUNK && !bytes.is_empty() {
            let sealed = self.encryptor.encrypt_next_in_place(&self.associated, &mut *self.chunk);
            sealed.map_err(io::Error::other)?;
            self.out.write_all(&self.chunk)?;
            self.written += self.chunk.len() as u64;
            self.chunk.clear();
        }
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decrypts the bytes read from it. A chunk that does not open is an error of the kind `InvalidData`.
pub(super) struct Opener<R> {
    from: R,
    /// None after the last chunk.
    decryptor: Option<DecryptorBE32<XChaCha20Poly1305>>,
    associated: Vec<u8>,
    /// Encrypted bytes that are left.
    left: u64,
    chunk: Zeroizing<Vec<u8>>,
    read: usize,
}

impl<R: Read> Opener<R> {
    /// Opens the chunks, of `bytes` bytes together.
    pub(super) fn new(from: R, bytes: u64, keys: &Keys, nonce: &[u8; NONCE], associated: Vec<u8>) -> Self {
        let decryptor = Some(DecryptorBE32::from_aead(keys.cipher(), &(*nonce).into()));
        Self { from, decryptor, associated, left: bytes, chunk: Zeroizing::default(), read: 0 }
    }

    fn next(&mut self) -> io::Result<()> {
        let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "a chunk does not open");
        let length = self.left.min((CHUNK + TAG) as u64);
        self.chunk.clear();
        self.chunk.reserve(CHUNK + TAG);
        self.read = 0;
        (&mut self.from).take(length).read_to_end(&mut self.chunk)?;
        self.left -= length;
        let Some(mut decryptor) = self.decryptor.take() else { return Ok(()) };
        if self.left == 0 {
            return decryptor.decrypt_last_in_place(&self.associated, &mut *self.chunk).map_err(wrong);
        }
        decryptor.decrypt_next_in_place(&self.associated, &mut *self.chunk).map_err(wrong)?;
        self.decryptor = Some(decryptor);
        Ok(())
    }
}

impl<R: Read> Read for Opener<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.read == self.chunk.len() && self.decryptor.is_some() {
            self.next()?;
        }
        let there = &self.chunk[self.read..];
        let given = there.len().min(out.len());
        out[..given].copy_from_slice(&there[..given]);
        self.read += given;
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back_and_nothing_is_cut_or_changed() {
        let key = PlantKey::from_bytes(&[5; 32]);
        let keys = Keys::new(&key, &[5; PLANT], &[6; SALT]);
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let plain: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut sealer = Sealer::new(Vec::new(), &keys, &[7; NONCE], b"head".to_vec());
            sealer.write_all(&plain).expect("written");
            let (sealed, bytes) = sealer.finish().expect("written");
            assert_eq!(sealed.len() as u64, bytes);
            let open = |sealed: &[u8], keys: &Keys, associated: &[u8]| {
                let mut opened = Vec::new();
                let length = sealed.len() as u64;
                let mut opener = Opener::new(sealed, length, keys, &[7; NONCE], associated.to_vec());
                opener.read_to_end(&mut opened).map(|_| opened)
            };
            assert_eq!(open(&sealed, &keys, b"head").expect("opened"), plain);
            assert!(open(&sealed, &keys, b"tail").is_err());
            assert!(open(&sealed, &Keys::new(&key, &[5; PLANT], &[8; SALT]), b"head").is_err());
            for cut in [0, sealed.len() / 2, sealed.len() - 1, sealed.len().saturating_sub(CHUNK + TAG)] {
                assert!(
                    cut == sealed.len() || open(&sealed[..cut], &keys, b"head").is_err(),
                    "{length} {cut}"
                );
            }
            let mut changed = sealed.clone();
            changed[sealed.len() / 2] ^= 1;
            assert!(open(&changed, &keys, b"head").is_err());
        }
    }
}
