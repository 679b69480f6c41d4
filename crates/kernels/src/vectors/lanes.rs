//! What a processor's vectors have to offer for the kernels of this module to be written once.

/// Vectors of 64-bit lanes. A value of the type is the proof that the processor has them: it is made where a table is entered,
/// after a check of the processor. Methods are inlined into kernels that are compiled for these instructions.
pub(crate) trait Lanes: Copy {
    /// One vector in memory.
    type Line: Copy + 'static;
    /// The same as bytes.
    type Bytes: Copy + 'static;
    /// Unsigned words, or signed ones in two's complement.
    type Words: Copy;
    /// Floating-point numbers.
    type Floats: Copy;
    /// As many places in a slice as there are lanes.
    type Places: Copy;
    /// Lanes: 2, 4 or 8.
    const COUNT: usize;
    /// Whether products of 64-bit words gain by vectors.
    const WHOLE: bool;

    /// The whole vectors of a slice, and the rest.
    fn lines(values: &[u64]) -> (&[Self::Line], &[u64]);
    /// The same, to be written.
    fn lines_mut(values: &mut [u64]) -> (&mut [Self::Line], &mut [u64]);
    /// Of signed words.
    fn signed_lines(values: &[i64]) -> (&[Self::Line], &[i64]) {
        let whole = values.len() / Self::COUNT * Self::COUNT;
        (Self::lines(words(&values[..whole])).0, &values[whole..])
    }
    /// The same, to be written.
    fn signed_lines_mut(values: &mut [i64]) -> (&mut [Self::Line], &mut [i64]) {
        let whole = values.len() / Self::COUNT * Self::COUNT;
        let (head, rest) = values.split_at_mut(whole);
        (Self::lines_mut(words_mut(head)).0, rest)
    }
    /// Of little-endian words in bytes.
    fn byte_lines(bytes: &[u8]) -> (&[Self::Bytes], &[u8]);
    /// Where words are, to be read by [`Lanes::moved`] from several slices.
    fn places(self, places: &[u32]) -> Self::Places;
    /// The words at these places, which lie in whole lines of the values: none is in the rest that [`Lanes::lines`] leaves.
    fn moved(self, values: &[u64], places: Self::Places) -> Self::Words;

    fn load(self, line: &Self::Line) -> Self::Words;
    fn load_bytes(self, bytes: &Self::Bytes) -> Self::Words;
    fn store(self, line: &mut Self::Line, words: Self::Words);
    fn all(self, word: u64) -> Self::Words;

    fn add(self, x: Self::Words, y: Self::Words) -> Self::Words;
    fn subtract(self, x: Self::Words, y: Self::Words) -> Self::Words;
    fn and(self, x: Self::Words, y: Self::Words) -> Self::Words;
    fn or(self, x: Self::Words, y: Self::Words) -> Self::Words;
    /// Zeros come in. Range: count < 64.
    fn shift_right(self, x: Self::Words, count: u32) -> Self::Words;
    fn shift_left(self, x: Self::Words, count: u32) -> Self::Words;
    /// The product of the low 32 bits of both.
    fn multiply_halves(self, x: Self::Words, y: Self::Words) -> Self::Words;
    /// The product modulo 2^64.
    fn multiply_low(self, x: Self::Words, y: Self::Words) -> Self::Words;
    /// `yes` where the sign bit is set, else `no`.
    fn where_negative(self, sign: Self::Words, yes: Self::Words, no: Self::Words) -> Self::Words;

    /// x − limit if that is not negative. Range: x < limit + 2^63, limit ≤ 2^63.
    #[inline(always)]
    fn below(self, x: Self::Words, limit: Self::Words) -> Self::Words {
        let difference = self.subtract(x, limit);
        self.where_negative(difference, x, difference)
    }

    /// x, or x + q where x is negative. Range: −q ≤ x < 2^63, q ≤ 2^62.
    #[inline(always)]
    fn wrapped(self, x: Self::Words, q: Self::Words) -> Self::Words {
        self.where_negative(x, self.add(x, q), x)
    }

    /// Rows to columns, in each group of as many registers as there are lanes.
    fn transpose(self, v: [Self::Words; 8]) -> [Self::Words; 8];

    /// The same bits.
    fn words_of(self, x: Self::Floats) -> Self::Words;
    fn floats_of(self, x: Self::Words) -> Self::Floats;
    fn all_floats(self, x: f64) -> Self::Floats;
    /// Range: x < 2^52; exact.
    fn to_floats(self, x: Self::Words) -> Self::Floats;
    /// Integers to signed words. Range: |x| < 2^51.
    fn to_integers(self, x: Self::Floats) -> Self::Words;
    fn plus(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn minus(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    fn times(self, x: Self::Floats, y: Self::Floats) -> Self::Floats;
    /// x·y + z, rounded once.
    fn times_plus(self, x: Self::Floats, y: Self::Floats, z: Self::Floats) -> Self::Floats;
    /// z − x·y, rounded once.
    fn minus_times(self, z: Self::Floats, x: Self::Floats, y: Self::Floats) -> Self::Floats;
}

/// Signed words in two's complement as words.
#[inline(always)]
fn words(values: &[i64]) -> &[u64] {
    // SAFETY: both are eight bytes at the same alignment, and any bits are a value of either.
    unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

#[inline(always)]
fn words_mut(values: &mut [i64]) -> &mut [u64] {
    // SAFETY: as above; the borrow is as exclusive as it was.
    unsafe { core::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
}
