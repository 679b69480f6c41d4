//! The head of a window without gaps, for devices without an allocator. `sotto-wire` reads it.

use crate::key::SALT_BYTES;

/// Maximum bytes of a [`WholeHead`].
pub const WHOLE_HEAD_BYTES: usize = 1 + 8 + SALT_BYTES + 10 + 10 + 1 + 5;
const VERSION: u8 = 5;
/// No flag: nothing made up, missing, left out or numbered anew.
const FLAGS: u8 = 0;

/// The head of a window in which no reading is missing or left out: the bytes before its parts.
/// [docs/concepts/wire.md](../../../docs/concepts/wire.md#streams-of-sums) defines them.
///
/// ```
/// use sotto_sums::{WHOLE_HEAD_BYTES, WholeHead};
///
/// // Sixteen ticks from the start of 2026.
/// let head = WholeHead { stream: [1; 8], salt: [9; 12], number: 300, start: 1_767_225_600_000, ticks: 16 };
/// let mut bytes = [0; WHOLE_HEAD_BYTES];
/// let length = head.write(&mut bytes);
/// assert_eq!((length, &bytes[21..23]), (31, &[0xac, 2][..]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeHead {
    /// The first bytes of the id of the stream's header, which the owner writes into the device.
    pub stream: [u8; 8],
    /// The salt of the device's start.
    pub salt: [u8; SALT_BYTES],
    /// The number of the window and of its pads.
    pub number: u64,
    /// The start of the first tick, in milliseconds since 1970.
    pub start: i64,
    /// The ticks of the window, at least 1.
    pub ticks: u32,
}

impl WholeHead {
    /// Writes the head at the beginning of `out`; returns its length.
    pub fn write(&self, out: &mut [u8; WHOLE_HEAD_BYTES]) -> usize {
        let start = ((self.start << 1) ^ (self.start >> 63)) as u64;
        out[0] = VERSION;
        out[1..9].copy_from_slice(&self.stream);
        out[9..21].copy_from_slice(&self.salt);
        let used = number(out, 21, self.number);
        let used = number(out, used, start);
        out[used] = FLAGS;
        number(out, used + 1, self.ticks.into())
    }
}

/// Writes seven bits a byte, the lowest first, from byte `at` on. Returns the first byte behind them.
fn number(out: &mut [u8; WHOLE_HEAD_BYTES], mut at: usize, mut number: u64) -> usize {
    while number >= 0x80 {
        out[at] = number as u8 | 0x80;
        (number, at) = (number >> 7, at + 1);
    }
    out[at] = number as u8;
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_numbers_fill_the_head() {
        let largest =
            WholeHead { stream: [1; 8], salt: [2; 12], number: u64::MAX, start: i64::MIN, ticks: u32::MAX };
        let mut bytes = [0; WHOLE_HEAD_BYTES];
        assert_eq!(largest.write(&mut bytes), WHOLE_HEAD_BYTES);
        let varint = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!((&bytes[21..31], &bytes[31..41]), (&varint[..], &varint[..]));
        assert_eq!(bytes[41..], [0, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    }
}
