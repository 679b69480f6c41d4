//! The operations that a processor's vectors must offer, so that the kernels of this module are written once.

use crate::words::{words, words_mut};

/// Vectors of 64-bit lanes. A value of the type proves that the processor has them: an entry of the table makes it,
/// after a check of the processor. Methods are inlined into kernels that are compiled for these instructions.
pub(crate) trait Lanes: Copy {
    /// One vector in memory.
    type Line: Copy + 'static;
    /// One vector in memory, as bytes.
    type Bytes: Copy + 'static;
    /// Unsigned words, or signed ones in two's complement.
    type Words: Copy;
    /// Floating-point numbers.
    type Floats: Copy;
    /// One index into a slice for each lane.
    type Shuffle: Copy;
    /// Lanes: 2, 4 or 8.
    const COUNT: usize;
    /// True if vectors make products of 64-bit words faster.
    const WHOLE: bool;
    /// True if sums, permutations and products by a constant gain over the compiler's version of the scalar loop, or over
    /// `mul` and `umulh`.
    const ADDS: bool = true;

    /// Returns the whole vectors of a slice, and the rest.
    fn lines(values: &[u64]) -> (&[Self::Line], &[u64]);
    /// Like [`Lanes::lines`], mutable.
    fn lines_mut(values: &mut [u64]) -> (&mut [Self::Line], &mut [u64]);
    /// Like [`Lanes::lines`], for signed words.
    fn signed_lines(values: &[i64]) -> (&[Self::Line], &[i64]) {
        let whole = values.len() / Self::COUNT * Self::COUNT;
        (Self::lines(words(&values[..whole])).0, &values[whole..])
    }
    /// Like [`Lanes::signed_lines`], mutable.
    fn signed_lines_mut(values: &mut [i64]) -> (&mut [Self::Line], &mut [i64]) {
        let whole = values.len() / Self::COUNT * Self::COUNT;
        let (head, rest) = values.split_at_mut(whole);
        (Self::lines_mut(words_mut(head)).0, rest)
    }
    /// Like [`Lanes::lines`], for little-endian words in bytes.
    fn byte_lines(bytes: &[u8]) -> (&[Self::Bytes], &[u8]);
    /// Prepares indices, for [`Lanes::moved`] to read from several slices.
    fn places(self, places: &[u32]) -> Self::Shuffle;
    /// Returns the words at these indices. All indices must be in whole lines of the values, not in the rest of
    /// [`Lanes::lines`].
    fn moved(self, values: &[u64], places: Self::Shuffle) -> Self::Words;

    fn load(self, line: &Self::Line) -> Self::Words;
    fn load_bytes(self, bytes: &Self::Bytes) -> Self::Words;
    fn store(self, line: &mut Self::Line, words: Self::Words);
    fn all(self, word: u64) -> Self::Words;

    fn add(self, x: Self::Words, y: Self::Words) -> Self::Words;
    fn subtract(self, x: Self::Words, y: Self::Words) -> Self::Words;
    fn and(self, x: Self::Words, y: Self::Words) -> Self::Words;
    fn or(self, x: Self::Words, y: Self::Words) -> Self::Words;
    /// Shifts zeros in. Range: count < 64.
    fn shift_right(self, x: Self::Words, count: u32) -> Self::Words;
    fn shift_left(self, x: Self::Words, count: u32) -> Self::Words;
    /// Returns the product of the low 32 bits of both.
    fn multiply_halves(self, x: Self::Words, y: Self::Words) -> Self::Words;
    /// Returns the product modulo 2^64.
    fn multiply_low(self, x: Self::Words, y: Self::Words) -> Self::Words;
    /// Returns `yes` where the sign bit is set, else `no`.
    fn where_negative(self, sign: Self::Words, yes: Self::Words, no: Self::Words) -> Self::Words;

    /// Returns x − limit if that is not negative, else x. Range: x < limit + 2^63, limit ≤ 2^63.
    #[inline(always)]
    fn below(self, x: Self::Words, limit: Self::Words) -> Self::Words {
        let difference = self.subtract(x, limit);
        self.where_negative(difference, x, difference)
    }

    /// Returns x, or x + q where x is negative. Range: −q ≤ x < 2^63, q ≤ 2^62.
    #[inline(always)]
    fn wrapped(self, x: Self::Words, q: Self::Words) -> Self::Words {
        self.where_negative(x, self.add(x, q), x)
    }

    /// Returns the halves of the words in an order: the index of a 32-bit half for each.
    fn ordered(self, x: Self::Words, halves: Self::Words) -> Self::Words;
    /// Transposes rows and columns in each group of COUNT registers.
    fn transpose(self, v: [Self::Words; 8]) -> [Self::Words; 8];

    /// Reinterprets the bits; so does `floats_of`.
    fn words_of(self, x: Self::Floats) -> Self::Words;
    fn floats_of(self, x: Self::Words) -> Self::Floats;
    fn all_floats(self, x: f64) -> Self::Floats;
    /// Converts exactly. Range: x < 2^52.
    fn to_floats(self, x: Self::Words) -> Self::Floats;
    /// Converts integers to signed words. Range: |x| < 2^51.
    fn to_integers(self, x: Self::Floats) -> Self::Words;
    fn plus(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn minus(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn times(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    /// Returns x·y + z, rounded once.
    fn times_plus(self, x: Self::Floats, y: Self::Floats, z: Self::Floats) -> Self::Floats;
    /// Returns z − x·y, rounded once.
    fn minus_times(self, z: Self::Floats, x: Self::Floats, y: Self::Floats) -> Self::Floats;
}
