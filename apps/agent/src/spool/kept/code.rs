//! Numbers in the files of kept readings: in seven bits a byte, the lowest first.

use zeroize::Zeroizing;

/// The bytes do not end where they should, or a number in them is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// Writes numbers. Wiped when dropped.
#[derive(Default)]
pub(super) struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    pub(super) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.0
    }

    pub(super) fn byte(&mut self, byte: u8) {
        // A vector that grows by itself leaves a copy behind.
        if self.0.len() == self.0.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * self.0.len() + 256));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.push(byte);
    }

    pub(super) fn unsigned(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    pub(super) fn signed(&mut self, number: i64) {
        self.unsigned(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    pub(super) fn length(&mut self, length: usize) {
        self.unsigned(length as u64);
    }
}

/// Reads numbers.
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl Reader<'_> {
    pub(super) fn byte(&mut self) -> Result<u8, Damaged> {
        let (byte, rest) = self.0.split_first().ok_or(Damaged)?;
        self.0 = rest;
        Ok(*byte)
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    pub(super) fn signed(&mut self) -> Result<i64, Damaged> {
        let number = self.unsigned()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads the length of a list whose members have at least one byte each.
    pub(super) fn length(&mut self) -> Result<usize, Damaged> {
        let length = usize::try_from(self.unsigned()?).map_err(|_| Damaged)?;
        if length > self.0.len() { Err(Damaged) } else { Ok(length) }
    }

    pub(super) fn finish(self) -> Result<(), Damaged> {
        if self.0.is_empty() { Ok(()) } else { Err(Damaged) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN, 1 << 40];
        let mut writer = Writer::default();
        numbers.iter().for_each(|number| writer.signed(*number));
        writer.unsigned(u64::MAX);
        let bytes = writer.into_bytes();
        let mut reader = Reader(&bytes);
        assert!(numbers.iter().all(|number| reader.signed() == Ok(*number)));
        assert_eq!(reader.unsigned(), Ok(u64::MAX));
        assert_eq!((reader.byte(), reader.finish()), (Err(Damaged), Ok(())));
        assert_eq!(Reader(&[0x80; 11]).unsigned(), Err(Damaged));
        assert_eq!(Reader(&[9, 1, 1]).length(), Err(Damaged), "a list that is longer than its bytes");
    }
}
