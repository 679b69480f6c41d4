//! Public key, ciphertexts and operations of the LWE scheme.

use alloc::vec::Vec;

use chacha20::ChaCha20Rng;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use rand_core::{CryptoRng, Rng, SeedableRng};
use zeroize::Zeroizing;

use super::{DIMENSION, LOG2_Q, LONGEST_MESSAGE, PLAIN_MODULUS, error, fresh_bound, reduce};
use crate::error::PartialError;
use crate::key_id::KeyId;

/// The public key: A as a seed and expanded (32 MiB), and P = p·R − A·S, row by row.
///
/// ```
/// use sotto_partial::lwe::{Ciphertext, DIMENSION, PublicKey, decode};
/// # use rand_core::SeedableRng;
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
///
/// // A real key has a secret S and P = p·R − A·S. Here both are zero, so that the sum can be read.
/// let (seed, length) = ([7; 32], 3);
/// let key = PublicKey::from_parts(seed, PublicKey::expand(&seed), vec![0; 3 * DIMENSION], length)?;
/// let monday = key.encrypt(&[71, 72, 70], &mut rng)?;
/// let week: Ciphertext = monday.add(&key.encrypt(&[-1, 0, 2], &mut rng)?)?;
/// let phases = &week.entries()[DIMENSION..];
/// assert_eq!(phases.iter().map(|phase| decode(*phase)).collect::<Vec<_>>(), [70, 72, 72]);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct PublicKey {
    seed: [u8; 32],
    a: Vec<u64>,
    p: Vec<u64>,
    length: usize,
    id: KeyId,
}

/// A ciphertext of n + l residues modulo q, for messages of l entries.
///
/// Example: [`PublicKey`]
#[derive(Clone)]
pub struct Ciphertext {
    pub(super) entries: Vec<u64>,
    bound: f64,
    key: KeyId,
}

/// A product of two ciphertexts: all (n + l)² products of their entries modulo q. 32 MiB.
///
/// ```
/// use sotto_partial::lwe::{DIMENSION, Product, PublicKey, decode};
/// # use rand_core::SeedableRng;
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
///
/// // A real key has a secret S and P = p·R − A·S. Here both are zero, so that the product can be read.
/// let seed = [7; 32];
/// let key = PublicKey::from_parts(seed, PublicKey::expand(&seed), vec![0; DIMENSION], 1)?;
/// let (volts, amperes) = (key.encrypt(&[23], &mut rng)?, key.encrypt(&[-5], &mut rng)?);
/// let watts: Product = volts.multiply(&amperes)?;
/// assert_eq!(watts.entries().len(), (DIMENSION + 1) * (DIMENSION + 1));
/// assert_eq!(watts.entries().last().map(|phase| decode(*phase)), Some(-115));
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone)]
pub struct Product {
    entries: Vec<u64>,
    bound: f64,
    key: KeyId,
}

impl PublicKey {
    /// Expands a seed to the matrix A, row by row: ChaCha20's words modulo q.
    pub fn expand(seed: &[u8; 32]) -> Vec<u64> {
        let mut stream = ChaCha20Rng::from_seed(*seed);
        (0..DIMENSION * DIMENSION).map(|_| reduce(stream.next_u64())).collect()
    }

    /// Makes a key of a seed, its expanded matrix A, and P of n rows of `length` entries.
    ///
    /// # Errors
    /// [`PartialError::Length`] if P does not fit a `length` of 1 to [`LONGEST_MESSAGE`],
    /// [`PartialError::OutOfRange`] for entries of P not below q or a wrong size of A.
    pub fn from_parts(seed: [u8; 32], a: Vec<u64>, p: Vec<u64>, length: usize) -> Result<Self, PartialError> {
        if !(1..=LONGEST_MESSAGE).contains(&length) || p.len() != DIMENSION * length {
            return Err(PartialError::Length { found: p.len(), expected: DIMENSION * length });
        }
        if p.iter().any(|entry| *entry >> LOG2_Q != 0) || a.len() != DIMENSION * DIMENSION {
            return Err(PartialError::OutOfRange);
        }
        let bytes: Vec<u8> = p.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        let id = KeyId::of("sotto lwe key v1", &[&seed, &bytes]);
        Ok(Self { seed, a, p, length, id })
    }

    /// Returns A's seed.
    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Returns the number of entries in a message.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Encrypts one number from −p/2 to p/2 for each entry of a message.
    ///
    /// # Errors
    /// [`PartialError::Slots`] for a wrong number of entries, [`PartialError::Message`] for a number out of
    /// range.
    pub fn encrypt(&self, message: &[i64], rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        if message.len() != self.length {
            return Err(PartialError::Slots { found: message.len(), slots: self.length });
        }
        let half = PLAIN_MODULUS as i64 / 2;
        // Timing reveals only the result of this check.
        if message.iter().fold(false, |outside, m| outside | !(-half..=half).contains(m)) {
            return Err(PartialError::Message { bits: half.ilog2() });
        }
        let mut draw = || (error(rng) as u64).wrapping_mul(PLAIN_MODULUS);
        let mut entries: Vec<u64> = (0..DIMENSION + self.length).map(|_| draw()).collect();
        let (mask, body) = entries.split_at_mut(DIMENSION);
        for (entry, m) in body.iter_mut().zip(message) {
            *entry = entry.wrapping_add(*m as u64);
        }
        let rows = self.a.chunks_exact(DIMENSION).zip(self.p.chunks_exact(self.length));
        for (a, p) in rows {
            let e = Zeroizing::new(error(rng) as u64);
            for (entry, x) in mask.iter_mut().zip(a).chain(body.iter_mut().zip(p)) {
                *entry = entry.wrapping_add(e.wrapping_mul(*x));
            }
        }
        entries.iter_mut().for_each(|entry| *entry = reduce(*entry));
        Ok(Ciphertext { entries, bound: fresh_bound(), key: self.id })
    }
}

impl Ciphertext {
    /// Returns the name of the ciphertext's key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the n + l residues.
    pub fn entries(&self) -> &[u64] {
        &self.entries
    }

    /// Computes E(a + b).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key, [`PartialError::Noise`] if the noise bound no longer
    /// guarantees decryption.
    pub fn add(&self, other: &Self) -> Result<Self, PartialError> {
        let (entries, bound) =
            sum((&self.entries, self.bound, self.key), (&other.entries, other.bound, other.key))?;
        Ok(Self { entries, bound, key: self.key })
    }

    /// Computes all products a_i·b_j. The scheme allows one product.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key, [`PartialError::Noise`] if the noise bound no longer
    /// guarantees decryption.
    pub fn multiply(&self, other: &Self) -> Result<Product, PartialError> {
        let bound = within(self.bound * other.bound)?;
        if self.key != other.key {
            return Err(PartialError::OtherKey);
        }
        let row = |x: &u64| {
            let x = *x;
            other.entries.iter().map(move |y| reduce(x.wrapping_mul(*y)))
        };
        Ok(Product { entries: self.entries.iter().flat_map(row).collect(), bound, key: self.key })
    }
}

impl Product {
    /// Returns the name of the product's key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the (n + l)² residues, row by row.
    pub fn entries(&self) -> &[u64] {
        &self.entries
    }

    /// Adds two products.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key, [`PartialError::Noise`] if the noise bound no longer
    /// guarantees decryption.
    pub fn add(&self, other: &Self) -> Result<Self, PartialError> {
        let (entries, bound) =
            sum((&self.entries, self.bound, self.key), (&other.entries, other.bound, other.key))?;
        Ok(Self { entries, bound, key: self.key })
    }
}

type Part<'a> = (&'a [u64], f64, KeyId);

fn sum((a, x, key): Part<'_>, (b, y, other): Part<'_>) -> Result<(Vec<u64>, f64), PartialError> {
    if key != other {
        return Err(PartialError::OtherKey);
    }
    let entries = a.iter().zip(b).map(|(a, b)| reduce(a.wrapping_add(*b))).collect();
    Ok((entries, within(x + y)?))
}

/// Checks that a phase decrypts: its bound must be below q/2.
fn within(bound: f64) -> Result<f64, PartialError> {
    if bound < f64::from(LOG2_Q - 1).exp2() { Ok(bound) } else { Err(PartialError::Noise) }
}
