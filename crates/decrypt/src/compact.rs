//! Opening sums of compact ciphertexts.

use sotto_compact::{CompactError, MaskSum, Profile, Sum};
use sotto_device::fraction;
use sotto_keys::SecretKey;
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
    // Each form takes the buffer of the one before: the product is in one place, which is wiped.
    let mut product = masks.polynomial(params).into_eval();
    product.multiply_assign(key.expose_secret_eval());
    let product = Zeroizing::new(product.into_coeff());
    let masked = product.limb(params.limbs(0).start);
    let left = u64::BITS - form.width();
    let values = sum.columns().enumerate().map(|(index, column)| {
        let whole = fraction(masked[index * form.spacing()], form.prime()).wrapping_add(column << left);
        centred(whole, form.plain())
    });
    Ok(Decrypted::new(values.collect(), 0.0, form.plain(), key.id()))
}

/// round(t·x/2^64) modulo t, nearest to zero.
fn centred(x: u64, t: u64) -> i64 {
    let scaled = ((u128::from(x) * u128::from(t) + (1 << 63)) >> 64) as i64;
    let t = t as i64;
    // At most t; above (t − 1)/2 it is negative.
    let above = ((t - 1) / 2 - scaled) >> 63;
    scaled - (t & above)
}
