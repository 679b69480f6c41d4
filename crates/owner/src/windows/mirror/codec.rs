//! Numbers of variable length in a mirror's file, and its end.

use sotto_wire::Digest;

use super::piece::Form;

/// Appends a number: seven bits a byte, the lowest first.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the difference of two numbers, modulo 2^64.
pub(super) fn put_difference(out: &mut Vec<u8>, number: u64, expected: u64) {
    let difference = number.wrapping_sub(expected).cast_signed();
    put(out, ((difference << 1) ^ (difference >> 63)).cast_unsigned());
}

/// Bytes of a file that are read in order. Every reader returns None at their end.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn digest(&mut self) -> Option<Digest> {
        self.array()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a number by its difference to another one.
    pub(super) fn difference(&mut self, expected: u64) -> Option<u64> {
        let number = self.number()?;
        Some(expected.wrapping_add_signed((number >> 1).cast_signed() ^ -((number & 1).cast_signed())))
    }

    /// Reads a length, and as many bytes.
    pub(super) fn part(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}

/// The end of a file, behind which further records are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coder {
    /// Number of headers of streams in the file.
    pub(super) streams: usize,
    /// Number of whole blocks in the file.
    pub(super) blocks: usize,
    /// Number of windows in the file.
    pub(crate) windows: u64,
    /// The number behind the last window's.
    pub(super) next: u64,
    pub(super) run: Option<Form>,
    pub(super) next_start: i64,
    /// The digest of the file.
    pub(crate) digest: blake3::Hasher,
    /// Bytes of the file.
    pub(crate) bytes: u64,
}
