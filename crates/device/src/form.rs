//! What a compact ciphertext is made of.

use core::fmt;

use crate::arithmetic::fraction;

/// Most places of a form.
pub const MOST_PLACES: usize = 4096;
/// Bits that n·q may have: sums of n residues are held in an `i64`.
const SUM_BITS: u32 = 62;
/// Bits of the largest plain modulus: products of two residues are held in a `u64`.
const PLAIN_BITS: u32 = 32;

/// The form of a stream's compact ciphertexts: BFV modulo one prime q, r places, w bits a place.
///
/// Reading j is the coefficient of X^(j·n/k), k the next power of two above r. Of the ciphertext's body the coefficients there are kept,
/// each as round(c·2^w/q) modulo 2^w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    degree: usize,
    prime: u64,
    plain: u64,
    places: usize,
    width: u32,
}

/// Why there is no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormError {
    /// The degree is no power of two from 32 to 32768.
    Degree,
    /// The prime is even, or n·q passes 62 bits.
    Prime,
    /// The plain modulus is not from 2 to 2^32, or not below the prime.
    Plain,
    /// There are no places, or more than the degree or 4096.
    Places,
    /// The width is not from the bits of t to 64.
    Width,
}

impl Form {
    /// The form for a degree n, a prime q, a plain modulus t, r places and w bits.
    ///
    /// # Errors
    /// [`FormError`] where one of them is out of its range. Whether n and q are secure, and w enough for a sum, is not looked at here.
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

    /// n.
    pub const fn degree(&self) -> usize {
        self.degree
    }

    /// q.
    pub const fn prime(&self) -> u64 {
        self.prime
    }

    /// t.
    pub const fn plain(&self) -> u64 {
        self.plain
    }

    /// r: places that hold a reading.
    pub const fn places(&self) -> usize {
        self.places
    }

    /// w: bits of a place.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// n/k: coefficients from one place to the next.
    pub const fn spacing(&self) -> usize {
        self.degree / self.places.next_power_of_two()
    }

    /// Bytes of a body: r·w bits, padded to a byte.
    pub const fn body_bytes(&self) -> usize {
        (self.places * self.width as usize).div_ceil(8)
    }

    /// The low w bits.
    pub const fn low_bits(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.width)
    }

    /// round(c·2^w/q) modulo 2^w of a residue c, from floor(c·2^64/q).
    pub fn round(&self, residue: u64) -> u64 {
        let fraction = fraction(residue, self.prime);
        let left = u64::BITS - self.width;
        if left == 0 { fraction } else { fraction.wrapping_add(1 << (left - 1)) >> left }
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Degree => "the degree is no power of two from 32 to 32768",
            Self::Prime => "the prime is even, or it has with the degree more than 62 bits",
            Self::Plain => "the plain modulus is not from 2 to 2^32 and below the prime",
            Self::Places => "the places are none, or more than the degree or 4096",
            Self::Width => "a place has not from the bits of the plain modulus to 64",
        })
    }
}

impl core::error::Error for FormError {}

/// Writes values of w bits one after the other, least significant bit first; the unused bits of the last byte are zero.
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

/// The value of w bits at an index of packed bytes; bits beyond the bytes are zero.
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
