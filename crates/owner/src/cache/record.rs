//! The bytes of a sum in a file.

use super::name::Name;

/// Bytes of a record beside its values.
const HEAD: usize = 1 + 1 + 4 + 4 + 8 + 32 + 1 + 4;

/// Flag of a sum with the newest window of its question.
const NEWEST: u8 = 1;

/// An opened sum of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) part: u8,
    /// True if the newest window of the question was in it: it may grow.
    pub(super) is_newest: bool,
    /// The number of windows.
    pub(super) count: u32,
    /// The number of windows of an earlier sum that this one takes the place of; 0 for none.
    pub(super) replaces: u32,
    /// Digits of the name of its first window.
    pub(super) first: [u8; 8],
    pub(super) name: Name,
    /// Bytes of a value: those of the part's widest place, so that no size tells of a value.
    pub(super) width: u8,
    pub(super) values: Vec<i64>,
}

impl Record {
    /// Returns the bytes that it takes.
    pub(super) fn size(&self) -> usize {
        HEAD + self.values.len() * usize::from(self.width)
    }

    /// Returns the bytes of a value of a place of so many bits, with a sign.
    pub(super) fn width_of(bits: u8) -> u8 {
        (bits / 8 + 1).clamp(1, 8)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend([self.part, if self.is_newest { NEWEST } else { 0 }]);
        out.extend(self.count.to_le_bytes());
        out.extend(self.replaces.to_le_bytes());
        out.extend(self.first);
        out.extend(self.name);
        out.push(self.width);
        out.extend((self.values.len() as u32).to_le_bytes());
        for value in &self.values {
            out.extend(&value.to_le_bytes()[..self.width.into()]);
        }
    }

    /// Reads a record, and returns it with the bytes behind it. Returns None if these bytes are none.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let ([part, flags], rest) = bytes.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (replaces, rest) = rest.split_first_chunk()?;
        let (first, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_first_chunk()?;
        let ([width], rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let number = u32::from_le_bytes(*number) as usize;
        let size = usize::from(*width);
        if !(1..=8).contains(&size) || *flags > NEWEST {
            return None;
        }
        let (values, rest) = rest.split_at_checked(number.checked_mul(size)?)?;
        let record = Self {
            part: *part,
            is_newest: *flags == NEWEST,
            count: u32::from_le_bytes(*count),
            replaces: u32::from_le_bytes(*replaces),
            first: *first,
            name: *name,
            width: *width,
            values: values.chunks_exact(size).map(signed).collect(),
        };
        Some((record, rest))
    }
}

/// Returns the number of up to 8 bytes in two's complement.
fn signed(bytes: &[u8]) -> i64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let unused = 64 - 8 * bytes.len();
    (i64::from_le_bytes(wide) << unused) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_width_come_back() {
        for bits in 1..=60u8 {
            let end = 1i64 << bits;
            let values = vec![0, 1, -1, end - 1, 1 - end, end / 2, -end / 2];
            let (first, name, width) = ([1; 8], [2; 32], Record::width_of(bits));
            let record = Record {
                part: 3,
                is_newest: bits % 2 == 0,
                count: 7,
                replaces: 6,
                first,
                name,
                width,
                values,
            };
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            assert_eq!(bytes.len(), record.size());
            bytes.push(9);
            assert_eq!(Record::read(&bytes), Some((record, &[9][..])), "{bits} bits");
            for cut in 0..bytes.len() - 1 {
                assert_eq!(Record::read(&bytes[..cut]), None, "{bits} bits, {cut} bytes");
            }
        }
    }
}
