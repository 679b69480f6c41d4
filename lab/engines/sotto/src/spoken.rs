//! The schemes' values in the line protocol.

use chacha20::ChaCha20Rng;
use rand_core::Rng as _;
use sotto_decrypt::{DecryptError, Decryptor};
use sotto_harness::protocol::{Prepare, Values};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Plaintext};
use sotto_runtime::Managed;

use crate::error::EngineError;

/// A scheme in the line protocol.
pub trait Spoken: Managed {
    /// Returns the number that defines the plaintext space in parameters: t, or log2 of the scale.
    fn plain(request: &Prepare) -> Option<u64>;
    /// Parses slot values. None if the scheme needs integers and a value is not one.
    fn read(values: &Values) -> Option<Vec<Self::Value>>;
    /// Draws random slots: integers in 0 … t − 1, reals in −1 … 1.
    fn random(count: usize, t: u64, rng: &mut ChaCha20Rng) -> Vec<Self::Value>;
    /// Converts slots to the protocol's values: integers in 0 … t − 1.
    fn written(values: &[Self::Value], t: u64) -> Values;
    /// Declares the largest value, which the noise bounds of reals need.
    fn declare(plaintext: Plaintext<Self>, _magnitude: f64) -> Plaintext<Self> {
        plaintext
    }
    /// Decrypts a ciphertext to the protocol's values: integers in 0 … t − 1.
    fn decrypt(
        decryptor: &Decryptor<'_, Self>,
        ciphertext: &Ciphertext<Self>,
        t: u64,
    ) -> Result<Values, DecryptError>;
}

macro_rules! integers {
    ($($scheme:ty),*) => {$(
        impl Spoken for $scheme {
            fn plain(request: &Prepare) -> Option<u64> {
                request.plain_modulus
            }
            fn read(values: &Values) -> Option<Vec<i64>> {
                values.integers().map(<[i64]>::to_vec)
            }
            fn random(count: usize, t: u64, rng: &mut ChaCha20Rng) -> Vec<i64> {
                (0..count).map(|_| (rng.next_u64() % t) as i64).collect()
            }
            fn written(values: &[i64], t: u64) -> Values {
                Values::Integers(values.iter().map(|value| value.rem_euclid(t as i64)).collect())
            }
            fn decrypt(
                decryptor: &Decryptor<'_, Self>,
                ciphertext: &Ciphertext<Self>,
                t: u64,
            ) -> Result<Values, DecryptError> {
                Ok(Self::written(&decryptor.slots(ciphertext)?.into_residues(), t))
            }
        }
    )*};
}
integers!(Bfv, Bgv);

impl Spoken for Ckks {
    fn plain(request: &Prepare) -> Option<u64> {
        request.scale_bits.map(u64::from)
    }
    fn read(values: &Values) -> Option<Vec<f64>> {
        Some(values.reals())
    }
    fn random(count: usize, _: u64, rng: &mut ChaCha20Rng) -> Vec<f64> {
        (0..count).map(|_| rng.next_u64() as f64 / u64::MAX as f64 * 2.0 - 1.0).collect()
    }
    fn written(values: &[f64], _: u64) -> Values {
        Values::Reals(values.to_vec())
    }
    fn declare(plaintext: Plaintext<Self>, magnitude: f64) -> Plaintext<Self> {
        plaintext.declare_magnitude(magnitude)
    }
    fn decrypt(
        decryptor: &Decryptor<'_, Self>,
        ciphertext: &Ciphertext<Self>,
        _: u64,
    ) -> Result<Values, DecryptError> {
        Ok(Values::Reals(decryptor.slots(ciphertext)?.raw_values_for_owner_only().to_vec()))
    }
}

/// Parses slot values; an error if the scheme cannot hold them.
pub(crate) fn read<S: Spoken>(values: &Values) -> Result<Vec<S::Value>, EngineError> {
    S::read(values).ok_or_else(|| EngineError::Request(format!("{} takes whole numbers", S::ID)))
}
