//! Opening sums of compact ciphertexts.

use sotto_compact::{CompactError, Mask, MaskSum, Profile, Sum, Weights};
use sotto_device::fraction;
use sotto_keys::SecretKey;
use sotto_ring::{Coeff, Poly};
use sotto_rlwe::Bfv;
use zeroize::Zeroizing;

use crate::decrypted::Decrypted;
use crate::decryptor::DecryptError;

/// The values of a sum of compact ciphertexts under one key, one a place: integers modulo t nearest to zero. `masks` is the sum of the masks of the same
/// windows with the same weights.
///
/// # Errors
/// [`DecryptError::Parameters`] for a key of other parameters, [`DecryptError::Compact`] where weights differ or the bound on the error leaves the
/// values uncertain.
pub fn open_compact(
    key: &SecretKey<Bfv>,
    profile: &Profile,
    sum: &Sum,
    masks: &MaskSum,
) -> Result<Decrypted<Vec<i64>>, DecryptError> {
    let (params, form) = (profile.params(), profile.form());
    if key.params() != params || sum.form() != form {
        return Err(DecryptError::Parameters);
    }
    if sum.weights() != masks.weights() {
        return Err(CompactError::Weights.into());
    }
    let room = profile.room(sum.weights());
    if room.is_nan() || room < 0.0 {
        return Err(CompactError::Noise { over: -room }.into());
    }
    let product = product(key, masks);
    let masked = product.limb(params.limbs(0).start);
    let left = u64::BITS - form.width();
    let values = sum.columns().enumerate().map(|(index, column)| {
        let place = sum.first() + index;
        let whole = fraction(masked[place * form.spacing()], form.prime()).wrapping_add(column << left);
        centred(whole, form.plain())
    });
    Ok(Decrypted::new(values.collect(), 0.0, form.plain(), key.id()))
}

/// A window's mask times the secret at every place, as parts of the modulus: what sums with a weight for each place are opened with. Wiped when it
/// is dropped.
pub struct MaskProduct(Zeroizing<Vec<u64>>);

impl MaskProduct {
    /// Of a mask under a key of the form's parameters.
    ///
    /// # Errors
    /// [`DecryptError::Parameters`] for a key of other parameters.
    pub fn new(key: &SecretKey<Bfv>, profile: &Profile, mask: &Mask) -> Result<Self, DecryptError> {
        let (params, form) = (profile.params(), profile.form());
        if key.params() != params {
            return Err(DecryptError::Parameters);
        }
        let mut masks = MaskSum::new(form);
        masks.add(mask, 1);
        let product = product(key, &masks);
        let masked = product.limb(params.limbs(0).start);
        let at = |place: usize| fraction(masked[place * form.spacing()], form.prime());
        Ok(Self(Zeroizing::new((0..form.places()).map(at).collect())))
    }
}

/// The values of a sum of compact ciphertexts under one key, to which each window was added with weights of its own for each place of the
/// sum.
///
/// # Errors
/// As [`open_compact`].
pub fn open_compact_places(
    key: &SecretKey<Bfv>,
    profile: &Profile,
    sum: &Sum,
    windows: &[(&MaskProduct, &[i64])],
) -> Result<Decrypted<Vec<i64>>, DecryptError> {
    let form = profile.form();
    if key.params() != profile.params() || sum.form() != form {
        return Err(DecryptError::Parameters);
    }
    let weights =
        windows.iter().fold(Weights::default(), |all, (_, weights)| all.and(sotto_compact::largest(weights)));
    if sum.weights() != weights {
        return Err(CompactError::Weights.into());
    }
    // Of half of 1/t: each product was cut to 64 bits on its own.
    let cut = weights.total() * 2f64.powi(-63) * form.plain() as f64;
    let room = -((-profile.room(weights)).exp2() + cut).log2();
    if room.is_nan() || room < 0.0 {
        return Err(CompactError::Noise { over: -room }.into());
    }
    let left = u64::BITS - form.width();
    let values = sum.columns().enumerate().map(|(index, column)| {
        let place = sum.first() + index;
        let masked = windows.iter().fold(0u64, |total, (product, weights)| {
            let weight = weights.get(index).copied().unwrap_or_default();
            let part = product.0.get(place).copied().unwrap_or_default();
            total.wrapping_add(part.wrapping_mul(weight as u64))
        });
        centred(masked.wrapping_add(column << left), form.plain())
    });
    Ok(Decrypted::new(values.collect(), 0.0, form.plain(), key.id()))
}

/// A sum of masks times the secret. Each form takes the buffer of the one before: the product is in one place, which is wiped.
fn product(key: &SecretKey<Bfv>, masks: &MaskSum) -> Zeroizing<Poly<Coeff>> {
    let mut product = masks.polynomial(key.params()).into_eval();
    product.multiply_assign(key.expose_secret_eval());
    Zeroizing::new(product.into_coeff())
}

/// round(t·x/2^64) modulo t, nearest to zero.
fn centred(x: u64, t: u64) -> i64 {
    let scaled = ((u128::from(x) * u128::from(t) + (1 << 63)) >> 64) as i64;
    let t = t as i64;
    // At most t; above (t − 1)/2 it is negative.
    let above = ((t - 1) / 2 - scaled) >> 63;
    scaled - (t & above)
}
