//! Decrypting answers: only a ciphertext of the planned shape is decrypted.

use std::time::{Duration, Instant};

use sotto_decrypt::{Decrypted, Decryptor, MayWrap};
use sotto_keys::SecretKey;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Params, Selection, Shape};
use sotto_runtime::{Managed, Planned};
use sotto_wire::{AnyCiphertext, WireError};

use crate::error::OwnerError;

/// A scheme whose answers an owner reads.
pub trait Readable: Managed {
    /// So many slots that hold zero.
    fn zeros(slots: usize) -> Numbers;

    /// The numbers in the slots, and a bound on the error of each.
    ///
    /// # Errors
    /// [`MayWrap`] when whole numbers of this magnitude are not told apart.
    fn numbers(values: Decrypted<Vec<Self::Value>>, magnitude: f64) -> Result<(Numbers, f64), MayWrap>;
}

/// Decrypted slots. Whole numbers are exact.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Of BFV and BGV.
    Whole(Vec<i64>),
    /// Of CKKS.
    Real(Vec<f64>),
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Readable for $scheme {
            fn zeros(slots: usize) -> Numbers {
                Numbers::Whole(vec![0; slots])
            }

            fn numbers(values: Decrypted<Vec<i64>>, magnitude: f64) -> Result<(Numbers, f64), MayWrap> {
                Ok((Numbers::Whole(values.into_exact(magnitude)?), 0.0))
            }
        }
    )*};
}
exact!(Bfv, Bgv);

impl Readable for Ckks {
    fn zeros(slots: usize) -> Numbers {
        Numbers::Real(vec![0.0; slots])
    }

    fn numbers(values: Decrypted<Vec<f64>>, _magnitude: f64) -> Result<(Numbers, f64), MayWrap> {
        let bits = values.publishable_bits();
        let error = values.published_error(bits);
        // Rounded to as many bits as the bound allows: what an answer shows beyond them is noise that depends on the key.
        Ok(match values.publish(bits) {
            Ok(numbers) => (Numbers::Real(numbers), error),
            Err(_) => (Numbers::Real(Vec::new()), f64::INFINITY),
        })
    }
}

/// An answer's ciphertext from its frame, which must have the form that the plan gives.
///
/// # Errors
/// [`OwnerError::WrongAnswer`] for bytes that are no such frame.
pub fn read<S: Managed>(
    frame: &[u8],
    params: &Params<S>,
    planned: &Planned<S>,
) -> Result<Ciphertext<S>, OwnerError> {
    let wrong = |error: WireError| OwnerError::WrongAnswer(error.to_string());
    let Some(reduction) = planned.reduction else {
        return Ok(AnyCiphertext::read(frame, params).map_err(wrong)?.expand());
    };
    let reduced = sotto_wire::read_reduced(frame, params).map_err(wrong)?;
    if reduced.reduction() != reduction {
        return Err(OwnerError::WrongAnswer("its form is not what the plan gives".to_owned()));
    }
    reduced.lift().map_err(|error| OwnerError::WrongAnswer(error.to_string()))
}

/// The ciphertext with the shape that the plan gives. Its own bytes are not believed: level, components and scaling must be the plan's,
/// and so is the noise bound afterwards.
///
/// # Errors
/// [`OwnerError::WrongAnswer`] when the ciphertext has another shape than the plan gives.
pub fn expected<S: Managed>(
    ciphertext: &Ciphertext<S>,
    planned: &Shape<S>,
) -> Result<Ciphertext<S>, OwnerError> {
    let found = ciphertext.shape();
    let same = (found.level, found.components) == (planned.level, planned.components)
        && found.scaling == planned.scaling;
    if !same {
        let reason = "its level, components or scale are not what the plan gives";
        return Err(OwnerError::WrongAnswer(reason.to_owned()));
    }
    // The plan's bound includes what encoding constants rounded off, so it is never below the evaluator's.
    let bounded = found.noise.error.0 <= planned.noise.error.0 + 1e-6;
    if !bounded {
        let reason = "its noise bound is larger than the plan's: it may be made from other inputs";
        return Err(OwnerError::WrongAnswer(reason.to_owned()));
    }
    let components = ciphertext.components().to_vec();
    Ok(Ciphertext::from_parts(ciphertext.params(), ciphertext.key(), *planned, components))
}

/// Decrypts the slots of an answer and gives a bound on the error of each; whole numbers have at most this magnitude. With `parts`, the answer
/// holds results of compact windows side by side: `parts` has the values of a window and the number of results, whose slots come back one
/// result after another. `spent` is told how long `decrypt` and `decode` took.
///
/// # Errors
/// [`OwnerError::WrongAnswer`] when the ciphertext has another shape than the plan gives, or another key.
pub fn slots<S: Readable>(
    key: &SecretKey<S>,
    answer: &Ciphertext<S>,
    (planned, magnitude): (&Planned<S>, f64),
    parts: Option<(usize, usize)>,
    mut spent: impl FnMut(&'static str, Duration),
) -> Result<(Numbers, f64), OwnerError> {
    let wrong = |error: sotto_decrypt::DecryptError| OwnerError::WrongAnswer(error.to_string());
    let answer = expected(answer, &planned.shape)?;
    let decryptor = Decryptor::new(key);
    let begin = Instant::now();
    let selection = planned.reduction.map_or(Selection::ALL, |reduction| reduction.selection);
    let plaintext = decryptor.decrypt_selected(&answer, selection).map_err(wrong)?;
    spent("decrypt", begin.elapsed());
    let begin = Instant::now();
    let decoded = match parts {
        Some(parts) => decryptor.decode_parts(&plaintext, &planned.shape, parts),
        None => decryptor.decode_slots(&plaintext, &planned.shape),
    };
    let decoded = decoded.map_err(wrong)?;
    let numbers = S::numbers(decoded.within(planned.slot_error), magnitude)
        .map_err(|error| OwnerError::WrongAnswer(error.to_string()))?;
    spent("decode", begin.elapsed());
    Ok(numbers)
}
