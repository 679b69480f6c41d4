//! Secrets and errors.

/// The ternary secret, two bits a coefficient, four coefficients a byte, lowest bits first. The bits 0, 1 and
/// 3 encode 0, 1 and −1.
///
/// ```
/// use sotto_device::SecretBits;
///
/// // Four coefficients a byte.
/// let mut bytes = [0; 2];
/// SecretBits::write([0, 1, -1, 0, -1, -1, 1, 0], &mut bytes);
/// assert_eq!(bytes, [0b00_11_01_00, 0b00_01_11_11]);
/// assert_eq!(SecretBits::new(&bytes).degree(), 8);
/// ```
#[derive(Clone, Copy)]
pub struct SecretBits<'a>(&'a [u8]);

impl<'a> SecretBits<'a> {
    /// Reads a secret of n/4 bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the number of coefficients.
    pub fn degree(&self) -> usize {
        4 * self.0.len()
    }

    /// Adds a·coefficient to each sum, with the coefficients at `first`, `first + spacing` and so on.
    pub(crate) fn multiply(&self, a: i64, first: usize, spacing: usize, sums: &mut [i64]) {
        let mut index = first;
        for sum in sums {
            let bits = i32::from(self.0[index / 4]) >> (2 * (index % 4));
            let (there, negative) = (-(bits & 1), -(bits >> 1 & 1));
            *sum += ((a & i64::from(there)) ^ i64::from(negative)) - i64::from(negative);
            index += spacing;
        }
    }

    /// Writes coefficients −1, 0 and 1. Of other integers only the lowest bit and the sign are written.
    pub fn write(coefficients: impl IntoIterator<Item = i64>, out: &mut [u8]) {
        out.fill(0);
        for (index, coefficient) in coefficients.into_iter().enumerate() {
            let bits = (coefficient & 1) as u8 | (coefficient >> 63 & 2) as u8;
            if let Some(byte) = out.get_mut(index / 4) {
                *byte |= bits << (2 * (index % 4));
            }
        }
    }
}

/// A cryptographic random generator of the device, which gives the words that errors are made of. Its owner
/// wipes it.
///
/// ```
/// use sotto_device::{ErrorSource, draw_error};
///
/// /// Stands for the hardware's random generator.
/// struct Generator(u64);
/// impl ErrorSource for Generator {
///     fn next_word(&mut self) -> u64 {
///         self.0
///     }
/// }
/// // Three ones in the low 21 bits, one in the next 21.
/// assert_eq!(draw_error(&mut Generator(0b111 | 1 << 21)), 2);
/// ```
pub trait ErrorSource {
    /// Returns the next uniform word.
    fn next_word(&mut self) -> u64;
}

impl<F: FnMut() -> u64> ErrorSource for F {
    fn next_word(&mut self) -> u64 {
        self()
    }
}

/// Draws an error: centred binomial with 21 + 21 bits of a word, like the ordinary encryptor's.
pub fn draw_error(source: &mut impl ErrorSource) -> i64 {
    const BITS: u64 = (1 << 21) - 1;
    let word = source.next_word();
    i64::from(ones(word & BITS)) - i64::from(ones(word >> 21 & BITS))
}

/// Counts the ones of a word of 21 bits by adding halves, in constant time; `count_ones` may use a table.
fn ones(word: u64) -> u32 {
    let x = word as u32;
    let x = x - (x >> 1 & 0x5555_5555);
    let x = (x & 0x3333_3333) + (x >> 2 & 0x3333_3333);
    (((x + (x >> 4)) & 0x0f0f_0f0f).wrapping_mul(0x0101_0101)) >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_read_as_they_are_written() {
        let secret = [0, 1, -1, 0, -1, -1, 1, 0];
        let mut bytes = [0; 2];
        SecretBits::write(secret, &mut bytes);
        let bits = SecretBits::new(&bytes);
        assert_eq!(bits.degree(), 8);
        let mut sums = [1; 4];
        bits.multiply(5, 1, 2, &mut sums);
        assert_eq!(sums, [6, 1, -4, 1]);
    }

    #[test]
    fn errors_are_centred_binomial() {
        for word in [0, 1, u64::MAX, 1 << 20, 1 << 21, (1 << 21) - 1, 0x0123_4567_89ab_cdef] {
            let expected =
                i64::from((word & 0x1f_ffff).count_ones()) - i64::from((word >> 21 & 0x1f_ffff).count_ones());
            assert_eq!(draw_error(&mut || word), expected, "{word:x}");
        }
    }
}
