//! Public key, ciphertexts and operations of ElGamal on Ristretto.

use alloc::boxed::Box;
use alloc::vec::Vec;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::error::PartialError;
use crate::key_id::KeyId;

/// Bits of the longest message, without its sign, for encryption and search.
pub const LARGEST_BITS: u32 = 40;

/// Bits of a digit of the message. A table holds the digits' multiples of B.
const DIGIT: u32 = 4;

/// The public key H = x·B, with tables for H and for messages.
///
/// ```
/// use curve25519_dalek::{ristretto::RistrettoPoint, scalar::Scalar};
/// use sotto_partial::ristretto::{BabySteps, Ciphertext, PublicKey};
/// # use rand_core::SeedableRng;
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
///
/// let x = Scalar::from(77u64); // the owner's secret: in earnest a random scalar
/// let key = PublicKey::from_point(RistrettoPoint::mul_base(&x))?;
/// let sum: Ciphertext = key.add(&key.encrypt(1250, &mut rng)?, &key.encrypt(-300, &mut rng)?)?;
/// assert_eq!(key.write_ciphertext(&sum).len(), 64);
/// let (a, b) = sum.components();
/// let opened = BabySteps::new(20)?.search_vartime(&(b - x * a), |_, _| ())?;
/// assert_eq!(opened, 950);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct PublicKey {
    point: RistrettoPoint,
    table: Box<RistrettoBasepointTable>,
    /// The multiples d·16^i·B, for each digit i.
    messages: Vec<[RistrettoPoint; 1 << DIGIT]>,
    id: KeyId,
}

/// A ciphertext (k·B, k·H + m·B).
///
/// Example: [`PublicKey`]
#[derive(Clone, Copy)]
pub struct Ciphertext {
    a: RistrettoPoint,
    b: RistrettoPoint,
    key: KeyId,
}

impl Ciphertext {
    /// Returns the name of the ciphertext's key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns k·B and k·H + m·B.
    pub fn components(&self) -> (&RistrettoPoint, &RistrettoPoint) {
        (&self.a, &self.b)
    }
}

impl PublicKey {
    /// Makes a key of its point.
    ///
    /// # Errors
    /// [`PartialError::OutsideGroup`] for the neutral element.
    pub fn from_point(point: RistrettoPoint) -> Result<Self, PartialError> {
        if point == RistrettoPoint::identity() {
            return Err(PartialError::OutsideGroup);
        }
        let mut start = RISTRETTO_BASEPOINT_POINT;
        let mut row = || {
            let mut multiple = RistrettoPoint::identity();
            let row = [(); 1 << DIGIT].map(|()| {
                let this = multiple;
                multiple += start;
                this
            });
            start = multiple;
            row
        };
        let messages = (0..LARGEST_BITS.div_ceil(DIGIT)).map(|_| row()).collect();
        let id = Self::id_of(&point);
        Ok(Self { point, table: Box::new(RistrettoBasepointTable::create(&point)), messages, id })
    }

    /// Returns the name of the key with this point.
    pub fn id_of(point: &RistrettoPoint) -> KeyId {
        Self::id_of_bytes(point.compress().as_bytes())
    }

    /// Returns the name of the key whose bytes are these, as [`write`](Self::write) returns them.
    pub fn id_of_bytes(bytes: &[u8; 32]) -> KeyId {
        KeyId::of("sotto elgamal-ristretto key v1", &[bytes])
    }

    /// Reads a key from 32 bytes in canonical form.
    ///
    /// # Errors
    /// [`PartialError::Length`] for another length, [`PartialError::OutsideGroup`] for bytes that are not
    /// canonical or encode the neutral element.
    pub fn read(bytes: &[u8]) -> Result<Self, PartialError> {
        Self::from_point(point(bytes)?)
    }

    /// Returns the point's 32 bytes.
    pub fn write(&self) -> [u8; 32] {
        self.point.compress().0
    }

    /// Returns the key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Encrypts a number below 2^40 in size.
    ///
    /// # Errors
    /// [`PartialError::Message`] for a larger number.
    pub fn encrypt(&self, message: i64, rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        // Timing reveals only the result of this check.
        if message.unsigned_abs() >> LARGEST_BITS != 0 {
            return Err(PartialError::Message { bits: LARGEST_BITS });
        }
        let mut ciphertext = self.encryption_of_zero(rng);
        let mut point = self.multiple(message);
        ciphertext.b += point;
        point.zeroize();
        Ok(ciphertext)
    }

    /// Computes E(a + b).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        self.expect(y.key)?;
        Ok(Ciphertext { a: x.a + y.a, b: x.b + y.b, key: self.id })
    }

    /// Computes E(a − b).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn subtract(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        self.expect(y.key)?;
        Ok(Ciphertext { a: x.a - y.a, b: x.b - y.b, key: self.id })
    }

    /// Computes E(a·k).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if the ciphertext is under another key.
    pub fn multiply_plain(&self, x: &Ciphertext, k: i64) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        let size = Scalar::from(k.unsigned_abs());
        let k = if k < 0 { -size } else { size };
        Ok(Ciphertext { a: x.a * k, b: x.b * k, key: self.id })
    }

    /// Encrypts the same message under fresh randomness.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if the ciphertext is under another key.
    pub fn rerandomise(&self, x: &Ciphertext, rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        self.add(x, &self.encryption_of_zero(rng))
    }

    /// Returns the ciphertext's 64 bytes.
    pub fn write_ciphertext(&self, ciphertext: &Ciphertext) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(ciphertext.a.compress().as_bytes());
        bytes[32..].copy_from_slice(ciphertext.b.compress().as_bytes());
        bytes
    }

    /// Reads two points in canonical form, the first not neutral. The group has prime order, so there are no
    /// other elements of small order.
    ///
    /// # Errors
    /// [`PartialError::Length`] for another length, [`PartialError::OutsideGroup`] for other bytes.
    pub fn read_ciphertext(&self, bytes: &[u8]) -> Result<Ciphertext, PartialError> {
        if bytes.len() != 64 {
            return Err(PartialError::Length { found: bytes.len(), expected: 64 });
        }
        let (a, b) = (point(&bytes[..32])?, point(&bytes[32..])?);
        if a == RistrettoPoint::identity() {
            return Err(PartialError::OutsideGroup);
        }
        Ok(Ciphertext { a, b, key: self.id })
    }

    fn encryption_of_zero(&self, rng: &mut impl CryptoRng) -> Ciphertext {
        let mut wide = Zeroizing::new([0; 64]);
        rng.fill_bytes(wide.as_mut_slice());
        let k = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide));
        Ciphertext { a: RistrettoPoint::mul_base(&k), b: &*k * &*self.table, key: self.id }
    }

    /// Computes m·B by one table look-up a digit, each reading every entry.
    fn multiple(&self, message: i64) -> RistrettoPoint {
        let size = message.unsigned_abs();
        let mut sum = RistrettoPoint::identity();
        for (i, row) in (0..).zip(&self.messages) {
            let digit = (size >> (DIGIT * i)) as u8 & ((1 << DIGIT) - 1);
            let mut entry = row[0];
            for (other, point) in (0u8..).zip(row) {
                ConditionallySelectable::conditional_assign(&mut entry, point, other.ct_eq(&digit));
            }
            sum += entry;
        }
        let negative = Choice::from((message as u64 >> 63) as u8);
        let minus = -sum;
        sum.conditional_assign(&minus, negative);
        sum
    }

    fn expect(&self, key: KeyId) -> Result<(), PartialError> {
        if key == self.id { Ok(()) } else { Err(PartialError::OtherKey) }
    }
}

fn point(bytes: &[u8]) -> Result<RistrettoPoint, PartialError> {
    let wrong = PartialError::Length { found: bytes.len(), expected: 32 };
    let compressed = CompressedRistretto::from_slice(bytes).map_err(|_| wrong)?;
    compressed.decompress().ok_or(PartialError::OutsideGroup)
}
