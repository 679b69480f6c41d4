//! The secret key of the LWE scheme of Aono and others: the matrix S.

use alloc::vec::Vec;

use sotto_partial::lwe::{DIMENSION, LARGEST_NORM, LONGEST_MESSAGE, PLAIN_MODULUS, PublicKey, error, reduce};
use sotto_partial::{KeyId, PartialError};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

/// S: `DIMENSION` rows, one column for each entry of a message. No Debug, Clone or PartialEq; wiped on drop.
///
/// ```
/// use sotto_keys::partial::lwe::SecretKey;
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let (secret, public) = SecretKey::generate(3, &mut rng)?;
/// let window = public.encrypt(&[71, 72, 70], &mut rng)?;
/// assert_eq!(window.key(), secret.id());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct SecretKey {
    s: Zeroizing<Vec<i64>>,
    length: usize,
    id: KeyId,
}

impl SecretKey {
    /// Generates a key for messages of `length` entries, and its public key.
    ///
    /// # Errors
    /// [`PartialError::Slots`] if `length` is not 1 to [`LONGEST_MESSAGE`].
    pub fn generate(length: usize, rng: &mut impl SecretRng) -> Result<(Self, PublicKey), PartialError> {
        if !(1..=LONGEST_MESSAGE).contains(&length) {
            return Err(PartialError::Slots { found: length, slots: LONGEST_MESSAGE });
        }
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let a = PublicKey::expand(&seed);
        let (r, s) = loop {
            let [r, s] = [(); 2]
                .map(|()| Zeroizing::new((0..DIMENSION * length).map(|_| error(rng)).collect::<Vec<i64>>()));
            let norm = |column: usize| {
                let square = |x: &i64| (x * x) as f64;
                let of = |m: &[i64]| m.iter().skip(column).step_by(length).map(square).sum::<f64>();
                of(&r) + of(&s)
            };
            if (0..length).all(|column| norm(column) <= LARGEST_NORM) {
                break (r, s);
            }
        };
        // P = p·R − A·S
        let mut p: Vec<u64> = r.iter().map(|r| (*r as u64).wrapping_mul(PLAIN_MODULUS)).collect();
        for (a, p) in a.chunks_exact(DIMENSION).zip(p.chunks_exact_mut(length)) {
            for (a, s) in a.iter().zip(s.chunks_exact(length)) {
                for (p, s) in p.iter_mut().zip(s) {
                    *p = p.wrapping_sub(a.wrapping_mul(*s as u64));
                }
            }
            p.iter_mut().for_each(|p| *p = reduce(*p));
        }
        let public = PublicKey::from_parts(seed, a, p, length)?;
        Ok((Self { s, length, id: public.id() }, public))
    }

    /// Returns the key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns the number of entries in a message.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns S, row by row. Anybody who has it reads everything under this key.
    pub fn expose_secret_matrix(&self) -> &[i64] {
        &self.s
    }
}
