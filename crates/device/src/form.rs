//! The format of a compact ciphertext.

use core::fmt;

use crate::arithmetic::fraction;

/// Maximum places of a form.
pub const MOST_PLACES: usize = 4096;
/// Maximum bits of n·q: an `i64` holds sums of n residues.
const SUM_BITS: u32 = 62;
/// Maximum bits of the plain modulus: a `u64` holds products of two residues.
const PLAIN_BITS: u32 = 32;

/// The form of a stream's compact ciphertexts: BFV modulo one prime q, r places, w bits a place.
///
/// Reading j is the coefficient of X^(j·n/k), where k is the least power of two that is at least r. Of the
/// ciphertext's body only these coefficients are kept, each as round(c·2^w/q) modulo 2^w.
///
/// ```
/// use sotto_device::{Form, FormError};
///
/// // 14 readings of 36 bits each at n = 4096.
/// let form = Form::new(4096, (1 << 40) - 87, 1 << 24, 14, 36)?;
/// assert_eq!((form.spacing(), form.body_bytes()), (256, 63));
/// assert_eq!(Form::new(4095, (1 << 40) - 87, 1 << 24, 14, 36), Err(FormError::Degree));
/// # Ok::<(), FormError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    degree: usize,
    prime: u64,
    plain: u64,
    places: usize,
    width: u32,
}

/// The reason why a form is not valid.
///
/// Example: [`Form`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormError {
    /// The degree is not a power of two from 32 to 32768.
    Degree,
    /// The prime is even, or n·q has more than 62 bits.
    Prime,
    /// The plain modulus is not from 2 to 2^32, or not below the prime.
    Plain,
    /// The number of places is not from 1 to 4096, or above the degree.
    Places,
    /// The bits of a place are not from those of t to 64.
    Width,
}

impl Form {
    /// Makes the form for a degree n, a prime q, a plain modulus t, r places and w bits a place.
    ///
    /// # Errors
    /// [`FormError`] if one of them is out of its range. Not checked: the security of n and q, and that w is
    /// enough for a sum.
    pub const fn new(
        degree: usize,
        prime: u64,
        plain: u64,
        places: usize,
        width: u32,
    ) -> Result<Self, FormError> {
        if !degree.is_power_of_two() || degree < 32 || degree > 32768 {
            return Err(FormError::Degree);
        }
        let bits = u64::BITS - prime.leading_zeros();
        if prime < 3 || prime.is_multiple_of(2) || bits + degree.trailing_zeros() > SUM_BITS {
            return Err(FormError::Prime);
        }
        if plain < 2 || plain > 1 << PLAIN_BITS || plain >= prime {
            return Err(FormError::Plain);
        }
        if places == 0 || places > degree || places > MOST_PLACES {
            return Err(FormError::Places);
        }
        if width > u64::BITS || width < u64::BITS - plain.leading_zeros() {
            return Err(FormError::Width);
        }
        Ok(Self { degree, prime, plain, places, width })
    }

    /// Returns n.
    pub const fn degree(&self) -> usize {
        self.degree
    }

    /// Returns q.
    pub const fn prime(&self) -> u64 {
        self.prime
    }

    /// Returns t.
    pub const fn plain(&self) -> u64 {
        self.plain
    }

    /// Returns r: the places, which hold one reading each.
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Returns w: the bits of a place.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns n/k: the distance from one place to the next, in coefficients.
    pub const fn spacing(&self) -> usize {
        self.degree / self.places.next_power_of_two()
    }

    /// Returns the bytes of a body: r·w bits, padded to whole bytes.
    pub const fn body_bytes(&self) -> usize {
        (self.places * self.width as usize).div_ceil(8)
    }

    /// Returns a mask of the low w bits.
    pub const fn low_bits(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.width)
    }

    /// Returns round(c·2^w/q) modulo 2^w for a residue c, computed from floor(c·2^64/q).
    pub fn round(&self, residue: u64) -> u64 {
        let fraction = fraction(residue, self.prime);
        let left = u64::BITS - self.width;
        if left == 0 { fraction } else { fraction.wrapping_add(1 << (left - 1)) >> left }
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Degree => "the degree is not a power of two from 32 to 32768",
            Self::Prime => "the prime is even, or prime times degree has more than 62 bits",
            Self::Plain => "the plain modulus is not from 2 to 2^32 and below the prime",
            Self::Places => "the number of places is not from 1 to 4096, or is above the degree",
            Self::Width => "the bits of a place are not from those of the plain modulus to 64",
        })
    }
}

impl core::error::Error for FormError {}

/// Packs values of w bits without gaps, least significant bit first. The unused bits of the last byte are
/// zero.
pub fn pack(values: impl IntoIterator<Item = u64>, width: u32, out: &mut [u8]) {
    out.fill(0);
    let mut at = 0;
    for value in values {
        let mut left = width;
        let mut value = value;
        while left > 0 {
            let (byte, bit) = (at / 8, (at % 8) as u32);
            let now = left.min(8 - bit);
            if let Some(out) = out.get_mut(byte) {
                *out |= ((value & ((1 << now) - 1)) << bit) as u8;
            }
            value >>= now;
            left -= now;
            at += now as usize;
        }
    }
}

/// Returns the packed value of w bits at `index`. Bits beyond the bytes are zero.
pub fn unpack(bytes: &[u8], width: u32, index: usize) -> u64 {
    let mut value = 0;
    let mut got = 0;
    let mut at = index * width as usize;
    while got < width {
        let bit = (at % 8) as u32;
        let now = (width - got).min(8 - bit);
        let byte = u64::from(bytes.get(at / 8).copied().unwrap_or_default());
        value |= (byte >> bit & ((1 << now) - 1)) << got;
        got += now;
        at += now as usize;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_within_their_ranges() {
        let form = Form::new(4096, (1 << 40) - 87, 1 << 24, 14, 36);
        let form = form.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((form.spacing(), form.body_bytes(), form.low_bits()), (256, 63, (1 << 36) - 1));
        let refused =
            |degree, prime, plain, places, width| Form::new(degree, prime, plain, places, width).err();
        let prime = (1 << 40) - 87;
        assert_eq!(refused(4095, prime, 17, 1, 36), Some(FormError::Degree));
        assert_eq!(refused(16, prime, 17, 1, 36), Some(FormError::Degree));
        assert_eq!(refused(4096, 1 << 40, 17, 1, 36), Some(FormError::Prime));
        assert_eq!(refused(4096, (1 << 50) + 1, 17, 1, 36), Some(FormError::Prime));
        assert_eq!(refused(4096, prime, 1, 1, 36), Some(FormError::Plain));
        assert_eq!(refused(4096, prime, (1 << 32) + 1, 1, 36), Some(FormError::Plain));
        assert_eq!(refused(4096, prime, 17, 0, 36), Some(FormError::Places));
        assert_eq!(refused(32, prime, 17, 33, 36), Some(FormError::Places));
        assert_eq!(refused(4096, prime, 17, 1, 4), Some(FormError::Width));
        assert_eq!(refused(4096, prime, 17, 1, 65), Some(FormError::Width));
    }

    #[test]
    fn rounding_is_to_the_nearest_and_wraps() {
        let form = Form::new(32, 97, 3, 4, 8).unwrap_or_else(|error| panic!("{error}"));
        for residue in 0..97 {
            let nearest = (f64::from(residue as u32) * 256.0 / 97.0).round() as u64 % 256;
            assert_eq!(form.round(residue), nearest, "{residue}");
        }
        let whole = Form::new(32, 97, 3, 4, 64).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(whole.round(96), ((96u128 << 64) / 97) as u64);
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for width in [1, 7, 8, 9, 36, 63, 64] {
            let values: [u64; 5] = [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 1 << (width - 1)]
                .map(|value| value & (u64::MAX >> (64 - width)));
            let mut bytes = [0xff; 40];
            let used = (5 * width as usize).div_ceil(8);
            pack(values, width, &mut bytes[..used]);
            for (index, value) in values.iter().enumerate() {
                assert_eq!(unpack(&bytes[..used], width, index), *value, "{width}");
            }
            let free = (8 * used - 5 * width as usize) as u32;
            assert_eq!(u32::from(bytes[used - 1]) >> (8 - free), 0, "padded with zeros: {width}");
        }
    }
}
