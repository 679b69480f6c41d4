//! Decryption of sums of compact ciphertexts.

use sotto_compact::{CompactError, Mask, MaskSum, Profile, Sum, Weights};
use sotto_device::fraction;
use sotto_keys::{SecretKey, SecretSum, mask_product};
use sotto_ring::{Coeff, Poly};
use sotto_rlwe::{Bfv, KeyId, Params};
use zeroize::Zeroizing;

use crate::decrypted::Decrypted;
use crate::decryptor::DecryptError;

/// Decrypts a sum of compact ciphertexts under one key. Returns one integer a place, modulo t and nearest to
/// zero.
///
/// `masks` is the sum of the masks of the same windows with the same weights.
///
/// # Errors
/// [`DecryptError::Parameters`] for a key of other parameters, [`DecryptError::Compact`] if weights differ or
/// the error bound leaves the values uncertain.
pub fn open_compact(
    key: &SecretKey<Bfv>,
    profile: &Profile,
    sum: &Sum,
    masks: &MaskSum,
) -> Result<Decrypted<Vec<i64>>, DecryptError> {
    check_form(key.params(), profile, sum)?;
    if sum.weights() != masks.weights() {
        return Err(CompactError::Weights.into());
    }
    let product = mask_product(key, masks);
    let masked = residues(&product, profile);
    let form = profile.form();
    let part = |_, place: usize| fraction(masked[place * form.spacing()], form.prime());
    opened(key.id(), sum, profile.room(sum.weights()), part)
}

/// Decrypts a sum of windows that share a mask. Returns one integer a place, modulo t and nearest to zero.
///
/// `secrets` is the sum of the secrets of exactly the keys whose windows were added, each once; with another
/// sum of secrets the values are random. Costs one polynomial product, for any number of windows.
///
/// # Errors
/// Those of [`open_compact`]; [`CompactError::Weights`] if the number of windows is not the number of
/// secrets.
pub fn open_fleet(
    secrets: &SecretSum,
    profile: &Profile,
    sum: &Sum,
    mask: &Mask,
) -> Result<Decrypted<Vec<i64>>, DecryptError> {
    check_form(secrets.params(), profile, sum)?;
    if sum.weights() != Weights::of_ones(secrets.keys()) {
        return Err(CompactError::Weights.into());
    }
    let mut masks = MaskSum::new(profile.form());
    masks.add(mask, 1);
    let product = secrets.mask_product(&masks);
    let masked = residues(&product, profile);
    let form = profile.form();
    let part = |_, place: usize| fraction(masked[place * form.spacing()], form.prime());
    opened(secrets.id(), sum, profile.room(sum.weights()), part)
}

/// A window's mask times the secret at every place, as fractions of the modulus. Needed to decrypt sums that
/// have a weight for each place. Wiped when dropped.
///
/// ```
/// use sotto_compact::{Profile, Sum, mask_key};
/// use sotto_decrypt::{MaskProduct, open_compact_places};
/// use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey};
/// use sotto_rlwe::Params;
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let params = Params::default_chain(2048, 4096)?;
/// let profile = Profile::new(&params, 3, 20)?;
/// let secret = DeviceSecret::generate(&mut rng);
/// let (boiler, key) = (CompactEncryptor::derive(&secret, &params), SecretKey::derive(&secret, &params));
/// let mask = mask_key(boiler.key(), "boiler").mask(&[7; 12], 0);
/// let (readings, weights) = ([71, 72, 70], [1, 10, -1]);
/// let mut sum = Sum::new(profile.form());
/// sum.add_each(&boiler.encrypt(&profile, &readings, &mask, &mut rng)?, &weights)?;
/// let product = MaskProduct::new(&key, &profile, &mask)?;
/// let opened = open_compact_places(&key, &profile, &sum, &[(&product, &weights)])?;
/// assert_eq!(opened.into_exact(1000.0)?, [71, 720, -70]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct MaskProduct(Zeroizing<Vec<u64>>);

impl MaskProduct {
    /// Multiplies a mask by a key of the form's parameters.
    ///
    /// # Errors
    /// [`DecryptError::Parameters`] for a key of other parameters.
    pub fn new(key: &SecretKey<Bfv>, profile: &Profile, mask: &Mask) -> Result<Self, DecryptError> {
        if key.params() != profile.params() {
            return Err(DecryptError::Parameters);
        }
        let form = profile.form();
        let mut masks = MaskSum::new(form);
        masks.add(mask, 1);
        let product = mask_product(key, &masks);
        let masked = residues(&product, profile);
        let at = |place: usize| fraction(masked[place * form.spacing()], form.prime());
        Ok(Self(Zeroizing::new((0..form.places()).map(at).collect())))
    }
}

/// Decrypts a sum of compact ciphertexts under one key, in which each window has a weight for each place of
/// the sum.
///
/// # Errors
/// Those of [`open_compact`].
pub fn open_compact_places(
    key: &SecretKey<Bfv>,
    profile: &Profile,
    sum: &Sum,
    windows: &[(&MaskProduct, &[i64])],
) -> Result<Decrypted<Vec<i64>>, DecryptError> {
    check_form(key.params(), profile, sum)?;
    let weights =
        windows.iter().fold(Weights::default(), |all, (_, weights)| all.and(sotto_compact::largest(weights)));
    if sum.weights() != weights {
        return Err(CompactError::Weights.into());
    }
    // As a part of half of 1/t. Each product was truncated to 64 bits on its own.
    let cut = weights.total() * 2f64.powi(-63) * profile.form().plain() as f64;
    let room = -((-profile.room(weights)).exp2() + cut).log2();
    opened(key.id(), sum, room, |index, place| {
        windows.iter().fold(0u64, |total, (product, weights)| {
            let weight = weights.get(index).copied().unwrap_or_default();
            let part = product.0.get(place).copied().unwrap_or_default();
            total.wrapping_add(part.wrapping_mul(weight as u64))
        })
    })
}

/// Returns the coefficients of a polynomial modulo the form's one prime.
fn residues<'p>(polynomial: &'p Poly<Coeff>, profile: &Profile) -> &'p [u64] {
    polynomial.limb(profile.params().limbs(0).start)
}

/// Refuses a key or sum of another form.
fn check_form(params: &Params<Bfv>, profile: &Profile, sum: &Sum) -> Result<(), DecryptError> {
    let same = params == profile.params() && sum.form() == profile.form();
    if same { Ok(()) } else { Err(DecryptError::Parameters) }
}

/// Returns the values at the places of a sum. `masked` gives the masks' fraction of the modulus at each
/// place; `room` is the number of bits between the error bound and the limit.
fn opened(
    key: KeyId,
    sum: &Sum,
    room: f64,
    masked: impl Fn(usize, usize) -> u64,
) -> Result<Decrypted<Vec<i64>>, DecryptError> {
    if room.is_nan() || room < 0.0 {
        return Err(CompactError::Noise { over: -room }.into());
    }
    let form = sum.form();
    let left = u64::BITS - form.width();
    let values = sum.columns().enumerate().map(|(index, column)| {
        centred(masked(index, sum.first() + index).wrapping_add(column << left), form.plain())
    });
    Ok(Decrypted::new(values.collect(), 0.0, form.plain(), key))
}

/// Computes round(t·x/2^64) modulo t, nearest to zero.
fn centred(x: u64, t: u64) -> i64 {
    let scaled = ((u128::from(x) * u128::from(t) + (1 << 63)) >> 64) as i64;
    let t = t as i64;
    // `scaled` is at most t. Residues above (t − 1)/2 become negative.
    let above = ((t - 1) / 2 - scaled) >> 63;
    scaled - (t & above)
}
