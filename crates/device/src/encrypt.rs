//! Encryption, coefficient by coefficient.

use core::fmt;

use crate::arithmetic::{divide, reduce};
use crate::form::{Form, pack};
use crate::mask::Mask;
use crate::secret::{ErrorSource, SecretBits, draw_error};

/// The reason why a window is not encrypted.
///
/// ```
/// use sotto_device::{EncryptError, Form, MaskKey, SecretBits, encrypt};
///
/// let form = Form::new(64, 1_099_511_627_689, 257, 2, 40)?;
/// let (bits, mask) = ([0; 16], MaskKey([7; 32]).mask(&[9; 12], 3));
/// // One reading for two places.
/// let refused = encrypt(&form, SecretBits::new(&bits), &mask, &[215], &mut || 0, &mut [0; 2], &mut [0; 10]);
/// assert_eq!(refused, Err(EncryptError::Values));
/// # Ok::<(), sotto_device::FormError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncryptError {
    /// The secret does not have n coefficients.
    Secret,
    /// The number of values or of sums is not the number of places.
    Values,
    /// The output does not have the length of a body.
    Output,
}

/// Encrypts one value modulo t for each place. The body is −a·s + e + floor((q·m + floor(t/2))/t) at the
/// places, each coefficient rounded ([`Form`]).
///
/// `sums` is working memory, one a place: it holds products with the secret and is wiped at the end. `mask`
/// must never have been used under this secret.
///
/// # Errors
/// [`EncryptError`] if lengths do not fit; then no error has been drawn.
pub fn encrypt(
    form: &Form,
    secret: SecretBits<'_>,
    mask: &Mask,
    values: &[u64],
    errors: &mut impl ErrorSource,
    sums: &mut [i64],
    body: &mut [u8],
) -> Result<(), EncryptError> {
    if secret.degree() != form.degree() {
        return Err(EncryptError::Secret);
    }
    if values.len() != form.places() || sums.len() != form.places() {
        return Err(EncryptError::Values);
    }
    if body.len() != form.body_bytes() {
        return Err(EncryptError::Output);
    }
    multiply(form, secret, mask, sums);
    finish(form, sums, values, errors, body);
    wipe(sums);
    Ok(())
}

/// Like [`encrypt`], for devices with a transform: `products` are the coefficients of a·s at the places, each
/// congruent modulo q and of magnitude below n·q.
///
/// # Errors
/// [`EncryptError`] if lengths do not fit; then no error has been drawn.
pub fn encrypt_products(
    form: &Form,
    products: &[i64],
    values: &[u64],
    errors: &mut impl ErrorSource,
    body: &mut [u8],
) -> Result<(), EncryptError> {
    if values.len() != form.places() || products.len() != form.places() {
        return Err(EncryptError::Values);
    }
    if body.len() != form.body_bytes() {
        return Err(EncryptError::Output);
    }
    finish(form, products, values, errors, body);
    Ok(())
}

fn finish(form: &Form, products: &[i64], values: &[u64], errors: &mut impl ErrorSource, body: &mut [u8]) {
    let rounded = values.iter().zip(products).map(|(value, product)| {
        let noisy = draw_error(errors) - product;
        form.round(residue(form, noisy, *value))
    });
    pack(rounded, form.width(), body);
}

/// Computes the coefficients of a·s at the places as integers: sums of n residues, each below q in magnitude.
fn multiply(form: &Form, secret: SecretBits<'_>, mask: &Mask, sums: &mut [i64]) {
    sums.fill(0);
    let spacing = form.spacing();
    for (i, a) in mask.residues(0, form.prime()).take(form.degree()).enumerate() {
        // X^i·X^index = ±X^(j·spacing), negative where it wraps around: at the places below i.
        let (around, straight) = sums.split_at_mut(i.div_ceil(spacing).min(form.places()));
        secret.multiply(-(a as i64), form.degree() - i, spacing, around);
        secret.multiply(a as i64, i.next_multiple_of(spacing) - i, spacing, straight);
    }
}

/// Returns the residue modulo q of an encoded message plus an integer of magnitude below n·q.
fn residue(form: &Form, noisy: i64, value: u64) -> u64 {
    let (q, t) = (form.prime(), form.plain());
    let bits = form.degree().trailing_zeros() + 1;
    // `noisy` is now in [0, 2·n·q).
    let noisy = noisy.wrapping_add((q << (bits - 1)) as i64) as u64;
    let reduced = reduce(noisy, q, bits);
    let (_, value) = divide(value, t);
    // floor((q·m + h)/t) = m·floor(q/t) + floor((m·(q mod t) + h)/t).
    let (rest, _) = divide(value * (q % t) + t / 2, t);
    reduce(reduced + value * (q / t) + rest, q, 2)
}

/// Overwrites sums; `black_box` keeps the compiler from removing it.
fn wipe(sums: &mut [i64]) {
    sums.fill(0);
    core::hint::black_box(sums);
}

impl fmt::Display for EncryptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret => "the secret has another degree than the form",
            Self::Values => "there must be a value and a sum for each place",
            Self::Output => "the output must be as long as a body",
        })
    }
}

impl core::error::Error for EncryptError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::unpack;
    use crate::mask::MaskKey;

    const FORM: Form = match Form::new(64, 1_099_511_627_689, 257, 5, 40) {
        Ok(form) => form,
        Err(_) => panic!("no form"),
    };

    fn secret() -> [i64; 64] {
        core::array::from_fn(|i| (i * i + i / 3) as i64 % 3 - 1)
    }

    fn mask() -> Mask {
        MaskKey([7; 32]).mask(&[9; 12], 3)
    }

    /// Computes the coefficient (a·s)_at by definition, modulo q.
    fn product(at: usize) -> i128 {
        let (secret, q) = (secret(), i128::from(FORM.prime()));
        let sum: i128 = mask()
            .residues(0, FORM.prime())
            .take(64)
            .enumerate()
            .map(|(i, a)| {
                let s = i128::from(secret[(at + 64 - i) % 64]);
                if at < i { -s * i128::from(a) } else { s * i128::from(a) }
            })
            .sum();
        sum.rem_euclid(q)
    }

    #[test]
    fn a_body_is_the_ordinary_encryption_at_its_places_rounded() {
        let mut bits = [0; 16];
        SecretBits::write(secret(), &mut bits);
        let (mut sums, mut body) = ([0; 5], [0; 25]);
        let values = [0, 1, 128, 129, 256];
        let mut word = 0x0123_4567_89ab_cdef_u64;
        let next = |word: &mut u64| {
            *word = word.rotate_left(13).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *word
        };
        let mut drawn = word;
        let source = &mut || next(&mut drawn);
        encrypt(&FORM, SecretBits::new(&bits), &mask(), &values, source, &mut sums, &mut body)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(sums, [0; 5], "wiped");
        for (index, value) in values.iter().enumerate() {
            let error = i128::from(draw_error(&mut || next(&mut word)));
            let (q, t) = (i128::from(FORM.prime()), i128::from(FORM.plain()));
            let message = (q * i128::from(*value) + t / 2) / t;
            let whole = (error + message - product(index * FORM.spacing())).rem_euclid(q);
            let rounded = ((whole << 41) + q) / (2 * q) % (1 << 40);
            assert_eq!(i128::from(unpack(&body, 40, index)), rounded, "{index}");
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let bits = [0; 16];
        let encrypt = |secret: &[u8], values: &[u64], body: &mut [u8]| {
            encrypt(&FORM, SecretBits::new(secret), &mask(), values, &mut || 0, &mut [0; 5], body)
        };
        assert_eq!(encrypt(&bits[1..], &[0; 5], &mut [0; 25]), Err(EncryptError::Secret));
        assert_eq!(encrypt(&bits, &[0; 4], &mut [0; 25]), Err(EncryptError::Values));
        assert_eq!(encrypt(&bits, &[0; 5], &mut [0; 24]), Err(EncryptError::Output));
    }
}
