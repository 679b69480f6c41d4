//! Writes a seeded ciphertext's frame limb by limb, for devices that hold one limb at a time.

use alloc::vec::Vec;

use sotto_ring::{Modulus, SEED_BYTES, Seed};
use sotto_rlwe::{KeyId, Origin, ParameterSpec, Params, Scheme, Shape};

use crate::bits::pack;
use crate::ciphertext::{self, CiphertextHeader};
use crate::error::WireError;
use crate::frame::{self, DIGEST_BYTES, FRAME_OVERHEAD};
use crate::kind::Kind;

/// Bytes of a frame before its seed.
pub const SEEDED_PREAMBLE_BYTES: usize = frame::HEADER + ciphertext::HEADER;

/// The bytes of a seeded ciphertext's frame before its seed. They are the same for every window of a key, so they are
/// computed once, from the parameters ([`Params`]), and the device keeps 92 bytes.
///
/// Example: [`SeededWriter`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededPreamble([u8; SEEDED_PREAMBLE_BYTES]);

impl SeededPreamble {
    /// Builds the preamble for a key and for values of at most `magnitude` (CKKS; BFV and BGV take any message).
    ///
    /// # Errors
    /// [`WireError::Value`] if a ciphertext of these values could not be decrypted.
    pub fn new<S: Scheme>(params: &Params<S>, key: KeyId, magnitude: f64) -> Result<Self, WireError> {
        let shape = Shape::fresh(params, Origin::SecretKey, magnitude);
        let shape = shape
            .map_err(|_| WireError::Value("these parameters do not hold values as large as declared"))?;
        let mut bytes = Vec::with_capacity(SEEDED_PREAMBLE_BYTES);
        let payload = ciphertext::seeded_bytes(params) - FRAME_OVERHEAD;
        frame::begin(&mut bytes, Kind::Ciphertext, payload as u64);
        ciphertext::write_header(params, key, &shape, ciphertext::SEEDED, &mut bytes);
        let mut preamble = [0; SEEDED_PREAMBLE_BYTES];
        preamble.copy_from_slice(&bytes);
        Ok(Self(preamble))
    }

    /// Returns the frame up to the seed.
    pub fn bytes(&self) -> &[u8; SEEDED_PREAMBLE_BYTES] {
        &self.0
    }

    /// Checks that bytes are the preamble for a specification and a key.
    ///
    /// # Errors
    /// [`WireError`] if they are not the preamble of a seeded ciphertext of these parameters and this key.
    pub fn from_bytes(
        bytes: &[u8; SEEDED_PREAMBLE_BYTES],
        spec: &ParameterSpec,
        key: KeyId,
    ) -> Result<Self, WireError> {
        let (header, length) = CiphertextHeader::of_preamble(bytes)?;
        let residues: usize = spec.data.iter().map(|q| limb_bytes(spec.degree, *q)).sum();
        let expected = (ciphertext::HEADER + SEED_BYTES + residues) as u64;
        if header.parameters != spec.id() {
            return Err(WireError::Parameters { expected: spec.id(), found: header.parameters });
        }
        if header.key != key {
            return Err(WireError::Key { expected: key, found: header.key });
        }
        if !header.seeded || length != expected {
            return Err(WireError::Length { expected, found: length });
        }
        Ok(Self(*bytes))
    }

    /// Returns the length in bytes of the whole frame.
    pub fn frame_bytes(&self) -> usize {
        let mut length = [0; 8];
        length.copy_from_slice(&self.0[8..frame::HEADER]);
        u64::from_le_bytes(length) as usize + FRAME_OVERHEAD
    }
}

fn limb_bytes(degree: usize, prime: u64) -> usize {
    (degree * (64 - prime.leading_zeros()) as usize).div_ceil(8)
}

/// Writes a frame piece by piece to a sink. Holds the packed bytes of one limb.
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bfv, Params, Scheme};
/// use sotto_wire::{AnyCiphertext, SeededPreamble, SeededWriter};
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
///
/// let plain = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// let fresh = key.encrypt(&plain, &mut rng)?;
/// let preamble = SeededPreamble::new(&params, key.id(), 215.0)?;
/// let mut sent = Vec::new();
/// let mut writer = SeededWriter::new(&preamble, &fresh.seed, |bytes| sent.extend_from_slice(bytes));
/// for limb in fresh.body.limbs() {
///     writer.limb(params.modulus(limb), fresh.body.limb(limb));
/// }
/// writer.finish()?;
/// assert_eq!(sent, AnyCiphertext::Seeded(fresh).write());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SeededWriter<W: FnMut(&[u8])> {
    digest: blake3::Hasher,
    packed: Vec<u8>,
    expected: usize,
    written: usize,
    sink: W,
}

impl<W: FnMut(&[u8])> SeededWriter<W> {
    /// Begins a frame: writes the preamble and the seed.
    pub fn new(preamble: &SeededPreamble, seed: &Seed, sink: W) -> Self {
        let expected = preamble.frame_bytes() - DIGEST_BYTES;
        let mut writer =
            Self { digest: blake3::Hasher::new(), packed: Vec::new(), expected, written: 0, sink };
        writer.write(preamble.bytes());
        writer.write(&seed.0);
        writer
    }

    fn write(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.written += bytes.len();
        (self.sink)(bytes);
    }

    /// Writes the next limb of the body, from q_0 on. Residues must be below the prime.
    pub fn limb(&mut self, modulus: &Modulus, residues: &[u64]) {
        let mut packed = core::mem::take(&mut self.packed);
        packed.clear();
        packed.reserve_exact((residues.len() * modulus.bits() as usize).div_ceil(8));
        pack(&mut packed, residues, modulus.bits());
        self.write(&packed);
        self.packed = packed;
    }

    /// Ends the frame: writes the digest.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if limbs are missing, [`WireError::Trailing`] if there are more or wider ones than the
    /// preamble declares. The bytes in the sink are then not a frame.
    pub fn finish(mut self) -> Result<(), WireError> {
        let (expected, found) = (self.expected as u64, self.written as u64);
        if found < expected {
            return Err(WireError::Truncated { expected, found });
        }
        if found > expected {
            return Err(WireError::Trailing { extra: found - expected });
        }
        let digest = self.digest.finalize();
        (self.sink)(digest.as_bytes());
        Ok(())
    }
}
