//! Secrets and errors.

/// The ternary secret, two bits a coefficient, four coefficients a byte, the lowest bits first: 0 is 0, 1 is 1, 3 is −1.
#[derive(Clone, Copy)]
pub struct SecretBits<'a>(&'a [u8]);

impl<'a> SecretBits<'a> {
    /// From n/4 bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Coefficients.
    pub fn degree(&self) -> usize {
        4 * self.0.len()
    }

    /// Adds a times a coefficient to each sum: the coefficients of every `spacing`-th index from the first.
    pub(crate) fn multiply(&self, a: i64, first: usize, spacing: usize, sums: &mut [i64]) {
        let mut index = first;
        for sum in sums {
            let bits = i32::from(self.0[index / 4]) >> (2 * (index % 4));
            let (there, negative) = (-(bits & 1), -(bits >> 1 & 1));
            *sum += ((a & i64::from(there)) ^ i64::from(negative)) - i64::from(negative);
            index += spacing;
        }
    }

    /// Writes coefficients −1, 0 and 1; others count as their lowest bit and their sign.
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

/// Where the words of errors come from: a cryptographic generator of the device's. Wiped by whoever owns it.
pub trait ErrorSource {
    /// The next uniform word.
    fn next_word(&mut self) -> u64;
}

impl<F: FnMut() -> u64> ErrorSource for F {
    fn next_word(&mut self) -> u64 {
        self()
    }
}

/// An error: centred binomial with 21 + 21 bits of a word, as the ordinary encryptor's.
pub fn draw_error(source: &mut impl ErrorSource) -> i64 {
    const BITS: u64 = (1 << 21) - 1;
    let word = source.next_word();
    i64::from(ones(word & BITS)) - i64::from(ones(word >> 21 & BITS))
}

/// Ones of a word of 21 bits, by halves: the same steps for every word, where `count_ones` may be a table.
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
