//! Public key, ciphertexts, operations.

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::error::PartialError;
use crate::key_id::KeyId;

/// The longest message, without its sign, that is encrypted or found.
pub const LARGEST_BITS: u32 = 40;

/// Bits of a digit of the message, whose multiples of B lie in a table.
const DIGIT: u32 = 4;

/// H = x·B, with tables for H and for messages.
pub struct PublicKey {
    point: RistrettoPoint,
    table: Box<RistrettoBasepointTable>,
    /// d·16^i·B, digit by digit.
    messages: Vec<[RistrettoPoint; 1 << DIGIT]>,
    id: KeyId,
}

/// (k·B, k·H + m·B).
#[derive(Clone, Copy)]
pub struct Ciphertext {
    a: RistrettoPoint,
    b: RistrettoPoint,
    key: KeyId,
}

impl Ciphertext {
    /// The key that it is under.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// k·B and k·H + m·B.
    pub fn components(&self) -> (&RistrettoPoint, &RistrettoPoint) {
        (&self.a, &self.b)
    }
}

impl PublicKey {
    /// From its point, which must not be the neutral one.
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

    /// The name of a key with this point.
    pub fn id_of(point: &RistrettoPoint) -> KeyId {
        Self::id_of_bytes(point.compress().as_bytes())
    }

    /// The name of the key that [`write`](Self::write) gave these bytes of.
    pub fn id_of_bytes(bytes: &[u8; 32]) -> KeyId {
        KeyId::of("sotto elgamal-ristretto key v1", &[bytes])
    }

    /// From 32 bytes in canonical form.
    pub fn read(bytes: &[u8]) -> Result<Self, PartialError> {
        Self::from_point(point(bytes)?)
    }

    /// 32 bytes.
    pub fn write(&self) -> [u8; 32] {
        self.point.compress().0
    }

    /// The key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Encrypts a number below 2^40 in size.
    pub fn encrypt(&self, message: i64, rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        // Only whether it fits shows.
        if message.unsigned_abs() >> LARGEST_BITS != 0 {
            return Err(PartialError::Message { bits: LARGEST_BITS });
        }
        let mut ciphertext = self.encryption_of_zero(rng);
        let mut point = self.multiple(message);
        ciphertext.b += point;
        point.zeroize();
        Ok(ciphertext)
    }

    /// E(a + b).
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        self.expect(y.key)?;
        Ok(Ciphertext { a: x.a + y.a, b: x.b + y.b, key: self.id })
    }

    /// E(a − b).
    pub fn subtract(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        self.expect(y.key)?;
        Ok(Ciphertext { a: x.a - y.a, b: x.b - y.b, key: self.id })
    }

    /// E(a·k).
    pub fn multiply_plain(&self, x: &Ciphertext, k: i64) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        let size = Scalar::from(k.unsigned_abs());
        let k = if k < 0 { -size } else { size };
        Ok(Ciphertext { a: x.a * k, b: x.b * k, key: self.id })
    }

    /// The same message under fresh randomness.
    pub fn rerandomise(&self, x: &Ciphertext, rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        self.add(x, &self.encryption_of_zero(rng))
    }

    /// 64 bytes.
    pub fn write_ciphertext(&self, ciphertext: &Ciphertext) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(ciphertext.a.compress().as_bytes());
        bytes[32..].copy_from_slice(ciphertext.b.compress().as_bytes());
        bytes
    }

    /// Two points in canonical form, the first not neutral. The group has prime order: nothing else is small.
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

    /// m·B: a look-up a digit, every entry read.
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
