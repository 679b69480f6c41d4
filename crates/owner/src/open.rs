//! Decryption of answers. Only a ciphertext of the planned shape is decrypted.

use std::time::{Duration, Instant};

use sotto_decrypt::{Decrypted, Decryptor, FloodingBudget, RangeError};
use sotto_keys::SecretKey;
use sotto_ring::secure_rng;
use sotto_rlwe::{Ciphertext, Selection, SlotValue, Unexpected};
use sotto_runtime::{Managed, Planned};
use sotto_wire::{AnyCiphertext, WireError};

use crate::error::OwnerError;

/// A slot's value that an owner can read from answers.
///
/// ```
/// use sotto_decrypt::Decryptor;
/// use sotto_owner::open::{Bounds, Contents, Numbers, Readable, Release};
/// use sotto_rlwe::{Bfv, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65537)?;
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let key = sotto_keys::SecretKey::derive(&sotto_keys::DeviceSecret::generate(&mut rng), &params);
/// # let sums = Bfv::encode_slots(&params, &[143, -5], params.top_level())?;
/// # let answer = key.encrypt(&sums, &mut rng)?.expand();
///
/// // `answer` is a ciphertext of two sums, at most 200 by the plan.
/// let values = Decryptor::new(&key).slots(&answer)?;
/// let bounds = Bounds { magnitude: 200.0, contents: Contents::Slots(2) };
/// let (numbers, error) = i64::numbers(values, bounds, Release::Rounded)?;
/// let Numbers::Whole(sums) = numbers else { unreachable!("BFV holds whole numbers") };
/// assert_eq!((&sums[..2], error), (&[143, -5][..], 0.0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait Readable: SlotValue {
    /// Returns that many zeros.
    fn zeros(slots: usize) -> Numbers;

    /// Returns a bound on every slot, from the plan's bound and the bound on whole-number results.
    fn magnitude(planned: f64, whole: f64) -> f64;

    /// Returns the numbers in the slots, and a bound on the error of each.
    ///
    /// # Errors
    /// [`OwnerError::WrongAnswer`] if whole numbers of this magnitude cannot be distinguished, or a value exceeds the
    /// bounds;
    /// [`OwnerError::Flooding`] if the budget is spent.
    fn numbers(
        values: Decrypted<Vec<Self>>,
        bounds: Bounds,
        release: Release<'_>,
    ) -> Result<(Numbers, f64), OwnerError>;
}

/// The release of decrypted reals. Whole numbers are exact and released unchanged.
///
/// Example: [`Readable`]
pub enum Release<'b> {
    /// Rounded to the noise bound, for the owner.
    Rounded,
    /// Flooded, for anyone.
    Flooded {
        /// The key's budget.
        budget: &'b mut FloodingBudget,
        /// The decoded slots to release; the others become zero.
        slots: &'b [usize],
    },
}

impl From<RangeError> for OwnerError {
    fn from(error: RangeError) -> Self {
        Self::WrongAnswer(error.to_string())
    }
}

/// The plan's bounds on the values of an answer.
///
/// Example: [`Readable`]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// A bound on the absolute value of every slot.
    pub magnitude: f64,
    /// The positions of the results.
    pub contents: Contents,
}

/// Decrypted slots. Whole numbers are exact.
///
/// Example: [`Readable`]
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// From BFV and BGV.
    Whole(Vec<i64>),
    /// From CKKS.
    Real(Vec<f64>),
    /// From sums without a lattice.
    Sums(Vec<i128>),
}

impl Numbers {
    /// Returns the whole number of a slot, 0 beyond the last one. Returns None for reals.
    pub(crate) fn whole(&self, slot: usize) -> Option<i128> {
        match self {
            Self::Whole(numbers) => Some(numbers.get(slot).copied().unwrap_or_default().into()),
            Self::Sums(numbers) => Some(numbers.get(slot).copied().unwrap_or_default()),
            Self::Real(_) => None,
        }
    }

    /// Returns the number of slots.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(numbers) => numbers.len(),
            Self::Real(numbers) => numbers.len(),
            Self::Sums(numbers) => numbers.len(),
        }
    }
}

impl Readable for i64 {
    fn zeros(slots: usize) -> Numbers {
        Numbers::Whole(vec![0; slots])
    }

    fn magnitude(planned: f64, whole: f64) -> f64 {
        planned.min(whole)
    }

    fn numbers(
        values: Decrypted<Vec<Self>>,
        Bounds { magnitude, contents }: Bounds,
        _: Release<'_>,
    ) -> Result<(Numbers, f64), OwnerError> {
        let values = match contents {
            Contents::Slots(filled) => values.zero_from(filled)?,
            Contents::Parts { .. } => values,
        };
        Ok((Numbers::Whole(values.into_exact(magnitude)?), 0.0))
    }
}

impl Readable for f64 {
    fn zeros(slots: usize) -> Numbers {
        Numbers::Real(vec![0.0; slots])
    }

    fn magnitude(planned: f64, _whole: f64) -> f64 {
        planned
    }

    fn numbers(
        values: Decrypted<Vec<Self>>,
        bounds: Bounds,
        release: Release<'_>,
    ) -> Result<(Numbers, f64), OwnerError> {
        let values = values.within_magnitude(bounds.magnitude)?;
        if let Release::Flooded { budget, slots } = release {
            let mut numbers = vec![0.0; values.len()];
            let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
            let flooded = values.keep(slots)?.publish_flooded(budget, &mut rng)?;
            slots.iter().zip(flooded.values).for_each(|(slot, value)| numbers[*slot] = value);
            return Ok((Numbers::Real(numbers), flooded.error_bound));
        }
        let bits = values.publishable_bits();
        let error = values.published_error(bits);
        // Rounded to as many bits as the bound allows. Further bits would be noise that depends on the key.
        Ok(match values.publish(bits) {
            Ok(numbers) => (Numbers::Real(numbers), error),
            Err(_) => (Numbers::Real(Vec::new()), f64::INFINITY),
        })
    }
}

/// Reads an answer's ciphertext from its frame, and gives it the plan's shape. Ignores every claim in the bytes.
///
/// # Errors
/// [`OwnerError::WrongAnswer`] if the bytes are not an answer's frame, or have another key, form, level, scaling or a
/// larger noise bound than the plan.
pub fn read<S: Managed>(
    frame: &[u8],
    key: &SecretKey<S>,
    planned: &Planned<S>,
) -> Result<Ciphertext<S>, OwnerError> {
    let wrong = |error: WireError| OwnerError::WrongAnswer(error.to_string());
    let unexpected = |error: Unexpected| OwnerError::WrongAnswer(error.to_string());
    let expected = planned.expected(key.params(), key.id());
    if planned.reduction.is_some() {
        let arrived = sotto_wire::read_reduced(frame, key.params()).map_err(wrong)?;
        return arrived.expect(&expected).map_err(unexpected);
    }
    AnyCiphertext::read(frame, key.params()).map_err(wrong)?.expect(&expected).map_err(unexpected)
}

/// The positions of an answer's results.
///
/// Example: [`Readable`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The first slots, of this number; all others are zero.
    Slots(usize),
    /// Results of compact windows side by side, which are decoded one after another.
    Parts {
        /// Number of values in a window.
        values: usize,
        /// Number of results.
        results: usize,
    },
}

/// Decrypts the slots of an answer returned by [`read`]. Returns the numbers and a bound on the error of each;
/// `bounds.magnitude` bounds whole numbers. Calls `spent` with the times of `decrypt` and `decode`.
///
/// Checks every decoded slot against the plan's magnitude, and whole numbers outside the results against zero. The
/// result of these checks depends on the secret key, so it must not be told to anyone.
///
/// # Errors
/// [`OwnerError::WrongAnswer`] if the plan's noise is too large to decrypt, or a value cannot result from readings in
/// the declared ranges.
pub fn slots<S: Managed<Value: Readable>>(
    key: &SecretKey<S>,
    answer: &Ciphertext<S>,
    planned: &Planned<S>,
    bounds: Bounds,
    release: Release<'_>,
    mut spent: impl FnMut(&'static str, Duration),
) -> Result<(Numbers, f64), OwnerError> {
    let wrong = |error: sotto_decrypt::DecryptError| OwnerError::WrongAnswer(error.to_string());
    let decryptor = Decryptor::new(key);
    let begin = Instant::now();
    let selection = planned.reduction.map_or(Selection::ALL, |reduction| reduction.selection);
    let plaintext = decryptor.decrypt_selected(answer, selection).map_err(wrong)?;
    spent("decrypt", begin.elapsed());
    let begin = Instant::now();
    let decoded = match bounds.contents {
        Contents::Parts { values, results } => {
            decryptor.decode_parts(&plaintext, &planned.shape, values, results)
        }
        Contents::Slots(_) => decryptor.decode_slots(&plaintext, &planned.shape),
    };
    let decoded = decoded.map_err(wrong)?;
    let bounds = Bounds { magnitude: S::Value::magnitude(planned.magnitude, bounds.magnitude), ..bounds };
    let numbers = S::Value::numbers(decoded.within(planned.slot_error), bounds, release)?;
    spent("decode", begin.elapsed());
    Ok(numbers)
}

#[cfg(test)]
mod tests;
