//! Places as bits without gaps, least significant bit first.

/// Writes integers of up to 64 bits one after the other, by words of 32 bits, which suits small cores.
pub(crate) struct BitWriter<'o> {
    out: &'o mut [u8],
    /// Fewer than 32 bits that are not written, the first lowest.
    held: u32,
    bits: u32,
}

impl<'o> BitWriter<'o> {
    pub(crate) fn new(out: &'o mut [u8]) -> Self {
        Self { out, held: 0, bits: 0 }
    }

    /// Writes the low `width` bits of `value`, whose other bits are zero.
    #[inline]
    pub(crate) fn put(&mut self, value: u64, width: u32) {
        self.put_half(value as u32, width.min(32));
        if width > 32 {
            self.put_half((value >> 32) as u32, width - 32);
        }
    }

    #[inline]
    fn put_half(&mut self, value: u32, width: u32) {
        self.held |= value << self.bits;
        let bits = self.bits + width;
        if bits >= 32 {
            self.write(4);
            self.held = value.checked_shr(32 - self.bits).unwrap_or_default();
        }
        self.bits = bits % 32;
    }

    #[inline]
    fn write(&mut self, count: usize) {
        let out = core::mem::take(&mut self.out);
        let (now, rest) = out.split_at_mut(count.min(out.len()));
        now.copy_from_slice(&self.held.to_le_bytes()[..now.len()]);
        self.out = rest;
    }

    /// Fills the last byte with zero bits.
    pub(crate) fn finish(mut self) {
        self.write(self.bits.div_ceil(8) as usize);
    }
}

/// Reads `width` bits from bit `at` on, by one load of 64 bits if that many bytes remain. Bits behind the bytes are zero.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn bits_at(bytes: &[u8], at: usize, width: u32) -> u64 {
    let (byte, bit) = (at / 8, (at % 8) as u32);
    let word = match bytes.get(byte..byte + 8).and_then(<[u8]>::first_chunk) {
        Some(word) => u64::from_le_bytes(*word),
        // The last 8 bytes, of which those before `byte` are shifted out.
        None => match bytes.last_chunk() {
            Some(word) => {
                let before = 8 * (byte + 8 - bytes.len()) as u32;
                u64::from_le_bytes(*word).checked_shr(before).unwrap_or_default()
            }
            None => bytes.iter().skip(byte).rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        },
    };
    let (low, have) = (word >> bit, u64::BITS - bit);
    let rest =
        if width > have { u64::from(bytes.get(byte + 8).copied().unwrap_or_default()) << have } else { 0 };
    (low | rest) & (u64::MAX >> (u64::BITS - width))
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_they_were_written() {
        for width in 1..=60 {
            let values: [u64; 9] = core::array::from_fn(|index| {
                let word = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                word.rotate_left(7 * width) & (u64::MAX >> (64 - width))
            });
            let mut bytes = [0xff; 80];
            let used = (9 * width as usize).div_ceil(8);
            let mut writer = BitWriter::new(&mut bytes[..used]);
            values.iter().for_each(|value| writer.put(*value, width));
            writer.finish();
            for (index, value) in values.iter().enumerate() {
                assert_eq!(bits_at(&bytes[..used], index * width as usize, width), *value, "{width} bits");
                // The definition: bit i of the bytes is bit i mod 8 of byte i / 8.
                for bit in 0..width {
                    let at = index * width as usize + bit as usize;
                    assert_eq!(u64::from(bytes[at / 8] >> (at % 8) & 1), value >> bit & 1);
                }
            }
        }
    }
}
